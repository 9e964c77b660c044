#include "stand_in/simulation.h"

#include <algorithm>
#include <utility>

namespace roambus::stand_in {
namespace {

constexpr double kRssiDbm = -50;
constexpr double kLqiDb = 50;
constexpr std::uint32_t kEndlessRoom = 1u << 30;

Ways ways_of(const Script& script) {
    std::vector<Move> moves = script.starts;
    moves.insert(moves.end(), script.moves.begin(), script.moves.end());
    return {script.run.nodes.size(), moves};
}

}  // namespace

Simulation::Simulation(const Script& script, Client& client)
    : script_(script),
      client_(client),
      network_(script.run.nodes.size(), script.delay, script.changes, script.reach, ways_of(script)) {}

void Simulation::run() {
    script_.run.transit = {script_.delay, 0, kMaxPayloadBytes};
    script_.run.steers = true;
    const Welcome welcome = client_.hello(script_.run);
    if (!welcome.moves)
        script_.moves.clear();
    Collector collector(
        script_.run, welcome, [this](Step& step) { return this->step(step); }, [this] { return outlook(); });
    run_events(collector);
    collector.finish();
    client_.finish({collector.sends(), collector.deliveries(), {}, {}, {}});
}

// All moves are known from the start, and so told in the first Step.
Reply Simulation::step(Step& step) {
    step.moves = std::move(script_.moves);
    script_.moves.clear();
    Reply reply = client_.step(step);
    for (const Course& course : reply.courses)
        network_.steer(course);
    return reply;
}

void Simulation::run_events(Collector& collector) {
    const SimTime limit = script_.run.time_limit;
    const Moment never{limit, Turn::kFirst};
    for (;;) {
        const SimTime arrival = network_.next().value_or(limit);
        const Moment moment = collector.next().value_or(never);
        const bool collector_first = moment.time < arrival || (moment.time == arrival && moment.turn == Turn::kFirst);
        const SimTime now = collector_first ? moment.time : arrival;
        if (now >= limit)
            return;
        if (collector_first)
            act(now, collector);
        else
            deliver(now, collector);
    }
}

void Simulation::act(SimTime now, Collector& collector) {
    for (const Send& send : collector.act()) {
        if (refuses(send.node, now))
            collector.failed({now, send.node, send.destination, send.payload, "MAC queue full"});
        else
            network_.transmit(now, send);
    }
}

void Simulation::deliver(SimTime now, Collector& collector) {
    for (const Delivery& delivery : network_.deliver(now))
        collector.arrived(now, delivery.sender, delivery.payload, {delivery.receiver, kRssiDbm, kLqiDb});
}

// The MACs of the stand-in have room without end, but for the refusals of the script.
Quiet Simulation::outlook() const {
    return {network_.next().value_or(script_.run.time_limit), script_.refusals.empty() ? kEndlessRoom : 0};
}

// Whether a refusal of the script is due; it is used up by this.
bool Simulation::refuses(NodeId node, SimTime now) {
    std::vector<Refusal>& refusals = script_.refusals;
    const auto due = std::find_if(refusals.begin(), refusals.end(), [&](const Refusal& refusal) {
        return refusal.node == node && refusal.time <= now;
    });
    if (due == refusals.end())
        return false;
    refusals.erase(due);
    return true;
}

}  // namespace roambus::stand_in
