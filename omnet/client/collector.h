// Instants and windows (docs/reference/bridge.md): collects what happens in the simulator into Steps, and keeps the sends of the
// replies until they take effect.
//
// The simulator's event loop reports what happens, and calls `act` at the moment that `next` names:
//
//     collector.arrived(...);                          // may bring `next` forward
//     Moment moment = *collector.next();               // schedule one event there, before or after everything else
//     for (const Send& send : collector.act()) ...     // in that event: hand the packets to their nodes, in this order
//     collector.finish();                              // at the time limit
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lookahead.h"
#include "messages.h"

namespace roambus {

// Before or after everything else that happens at the same time.
enum class Turn { kFirst, kLast };

struct Moment {
    SimTime time = 0;
    Turn turn = Turn::kFirst;
};

bool operator==(const Moment& left, const Moment& right);
bool operator<(const Moment& left, const Moment& right);

class Collector {
public:
    // Gives a Step to the host and returns its Reply: `Client::step`, or a test.
    using Exchange = std::function<Reply(Step&)>;

    // `outlook` is asked before each Step, if the host wants to know.
    Collector(const Run& run, const Welcome& welcome, Exchange exchange, Outlook outlook = {});

    // `receiver` got a packet of `sender` at `time`, which is the simulator's now. What happens at the time limit, or
    // after it, is left out.
    void arrived(SimTime time, NodeId sender, const Payload& payload, const Reception& reception);

    // The MAC of the failure's node did not take a packet.
    void failed(Failure failure);

    // When `act` must be called; nothing: not before something is reported. Look again after each other call.
    std::optional<Moment> next() const;

    // Makes the Steps that are due, and returns the sends that take effect at once, in their order. Call it at `next`.
    // After it `next` can be the same moment: packets that fail at once are told in a further Step.
    std::vector<Send> act();

    // At the time limit: tells the host of a window that is still open.
    void finish();

    // Sends that have taken effect, and receptions reported in Steps: for Finished.
    std::uint64_t sends() const { return sends_; }
    std::uint64_t deliveries() const { return deliveries_; }

private:
    std::optional<Moment> next_step() const;
    std::optional<Moment> next_send() const;
    bool has_windows() const;
    void make_step(const Moment& moment);
    void exchange_singly(Step& step);
    void exchange(Step& step);
    void keep(Send send);
    std::vector<Send> take_sends(const Moment& moment);

    SimTime time_limit_;
    SimTime processing_delay_;
    bool batching_;
    Exchange exchange_;
    Lookahead lookahead_;
    std::optional<SimTime> wake_up_;
    std::vector<Arrival> arrivals_;
    std::vector<Failure> failures_;
    std::deque<Send> waiting_;
    std::uint64_t sends_ = 0;
    std::uint64_t deliveries_ = 0;
};

}  // namespace roambus
