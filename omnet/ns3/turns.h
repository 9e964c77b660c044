// Turns within one time of ns-3: which event comes first, and which last.
//
// ns-3 handles the events of one time in the order in which they were scheduled. The bridge needs to come before
// everything else of a time, or after everything, also after what is scheduled meanwhile (docs/reference/bridge.md, "Instants and
// windows"). So the simulator gets a scheduler that orders by time, turn, and then by age, as ns-3's own do.
#pragma once

#include <map>
#include <optional>

#include <ns3/event-id.h>
#include <ns3/nstime.h>
#include <ns3/scheduler.h>
#include <ns3/simulator.h>

#include "client/collector.h"

namespace roambus::ns3_side {

class TurnScheduler : public ns3::Scheduler {
public:
    static ns3::TypeId GetTypeId();

    TurnScheduler();
    ~TurnScheduler() override;

    // The scheduler that the simulator uses since `install`.
    static TurnScheduler& install();

    // Schedules `call` at `time` before or after all other events there.
    template <typename Call>
    ns3::EventId at(SimTime time, Turn turn, Call call);

    // The time of the next event, if there is one.
    std::optional<SimTime> next() const;

    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& event) override;

private:
    struct Place {
        std::uint64_t time;
        int turn;  // -1 before, 1 after, 0 for everything of ns-3's own
        std::uint32_t age;
        bool operator<(const Place& other) const;
    };

    std::map<Place, Event> events_;
    std::map<std::uint32_t, int> turns_;  // of the events of the bridge that are still to come
    int turn_ = 0;                        // of the event that is being scheduled
};

template <typename Call>
ns3::EventId TurnScheduler::at(SimTime time, Turn turn, Call call) {
    turn_ = turn == Turn::kFirst ? -1 : 1;
    const ns3::EventId event = ns3::Simulator::Schedule(ns3::NanoSeconds(time) - ns3::Simulator::Now(), call);
    turn_ = 0;
    return event;
}

}  // namespace roambus::ns3_side
