#include "collector.h"

#include <algorithm>
#include <utility>

namespace roambus {
namespace {

bool is_same_packet(const Arrival& arrival, SimTime time, NodeId sender, const Payload& payload) {
    return arrival.time == time && arrival.sender == sender && arrival.payload == payload;
}

template <typename Value>
std::optional<Value> earlier(const std::optional<Value>& left, const std::optional<Value>& right) {
    return !left || (right && *right < *left) ? right : left;
}

template <typename Happening>
std::optional<SimTime> first_time(const std::vector<Happening>& happenings) {
    return happenings.empty() ? std::nullopt : std::optional<SimTime>(happenings.front().time);
}

// An Arrival for each reception, in the order in which the host handles them at one instant.
std::vector<Arrival> split(const std::vector<Arrival>& arrivals) {
    std::vector<Arrival> singles;
    for (const Arrival& arrival : arrivals)
        for (const Reception& reception : arrival.receptions)
            singles.push_back({arrival.time, arrival.sender, arrival.payload, {reception}});
    std::stable_sort(singles.begin(), singles.end(), [](const Arrival& left, const Arrival& right) {
        return left.receptions.front().receiver < right.receptions.front().receiver;
    });
    return singles;
}

}  // namespace

bool operator==(const Moment& left, const Moment& right) {
    return left.time == right.time && left.turn == right.turn;
}

bool operator<(const Moment& left, const Moment& right) {
    return left.time != right.time ? left.time < right.time : left.turn < right.turn;
}

Collector::Collector(const Run& run, const Welcome& welcome, Exchange exchange, Outlook outlook)
    : time_limit_(run.time_limit),
      processing_delay_(run.processing_delay),
      batching_(welcome.batching),
      exchange_(std::move(exchange)),
      lookahead_(run, welcome.lookahead ? std::move(outlook) : Outlook{}),
      wake_up_(welcome.wake_up) {}

void Collector::arrived(SimTime time, NodeId sender, const Payload& payload, const Reception& reception) {
    if (time >= time_limit_)
        return;
    if (arrivals_.empty() || !is_same_packet(arrivals_.back(), time, sender, payload))
        arrivals_.push_back({time, sender, payload, {}});
    arrivals_.back().receptions.push_back(reception);
}

void Collector::failed(Failure failure) {
    if (failure.time < time_limit_)
        failures_.push_back(std::move(failure));
}

std::optional<Moment> Collector::next() const {
    return earlier(next_step(), next_send());
}

std::vector<Send> Collector::act() {
    const std::optional<Moment> moment = next();
    if (!moment)
        return {};
    if (next_step() == moment)
        make_step(*moment);
    return take_sends(*moment);
}

void Collector::finish() {
    if (const std::optional<Moment> moment = next_step())
        make_step(*moment);
}

std::optional<Moment> Collector::next_step() const {
    const std::optional<SimTime> start = earlier(wake_up_, earlier(first_time(arrivals_), first_time(failures_)));
    if (!start || *start >= time_limit_)
        return std::nullopt;
    if (has_windows())
        return Moment{*start + std::min(processing_delay_, time_limit_ - *start), Turn::kFirst};
    return Moment{*start, Turn::kLast};
}

std::optional<Moment> Collector::next_send() const {
    if (waiting_.empty())
        return std::nullopt;
    return Moment{waiting_.front().time, processing_delay_ > 0 ? Turn::kFirst : Turn::kLast};
}

bool Collector::has_windows() const {
    return batching_ && processing_delay_ > 0;
}

void Collector::make_step(const Moment& moment) {
    Step step{has_windows() ? moment.time - 1 : moment.time, false, std::move(arrivals_), std::move(failures_)};
    arrivals_.clear();
    failures_.clear();
    if (batching_)
        exchange(step);
    else
        exchange_singly(step);
}

void Collector::exchange_singly(Step& step) {
    std::vector<Step> steps;
    for (Arrival& arrival : split(step.arrivals))
        steps.push_back({step.now, true, {std::move(arrival)}, {}});
    for (Failure& failure : step.failures)
        steps.push_back({step.now, true, {}, {std::move(failure)}});
    if (steps.empty())
        steps.push_back({step.now, true, {}, {}});
    steps.back().more = false;
    for (Step& single : steps)
        exchange(single);
}

void Collector::exchange(Step& step) {
    if (!step.more)
        step.quiet = lookahead_.quiet(waiting_);
    for (const Arrival& arrival : step.arrivals)
        deliveries_ += arrival.receptions.size();
    Reply reply = exchange_(step);
    wake_up_ = reply.wake_up;
    for (Send& send : reply.sends)
        keep(std::move(send));
}

void Collector::keep(Send send) {
    if (send.time >= time_limit_)
        return;
    const auto is_earlier = [](SimTime time, const Send& other) { return time < other.time; };
    const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), send.time, is_earlier);
    waiting_.insert(place, std::move(send));
}

std::vector<Send> Collector::take_sends(const Moment& moment) {
    std::vector<Send> taken;
    while (next_send() == moment) {
        taken.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    sends_ += taken.size();
    return taken;
}

}  // namespace roambus
