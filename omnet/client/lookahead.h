// Lookahead, as conservative parallel simulation calls it: what is known of the time after a Step (docs/reference/bridge.md).
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "messages.h"

namespace roambus {

// What a simulator itself knows of the time after now, if it knows anything.
using Outlook = std::function<std::optional<Quiet>()>;

// When the packet of `send` can arrive at the earliest.
SimTime earliest_arrival(const Send& send, const Transit& transit);

// Joins what the simulator knows with what is known of the sends that wait for their time.
class Lookahead {
public:
    // Without an outlook nothing is known.
    Lookahead(const Run& run, Outlook outlook);

    // `waiting` are the sends to come, in order of time.
    std::optional<Quiet> quiet(const std::deque<Send>& waiting) const;

private:
    Quiet limited(Quiet known, const std::deque<Send>& waiting) const;
    std::uint32_t most_of_a_node(const std::deque<Send>& waiting, std::uint32_t room) const;

    Transit transit_;
    SimTime time_limit_;
    SimTime refusal_;  // from a send to the first time that nothing may be known of, if the send can be refused
    Outlook outlook_;
};

}  // namespace roambus
