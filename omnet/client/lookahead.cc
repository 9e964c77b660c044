#include "lookahead.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace roambus {

SimTime earliest_arrival(const Send& send, const Transit& transit) {
    return send.time + transit.least_delay + transit.delay_per_byte * static_cast<SimTime>(send.payload->size());
}

// Without processing delay a refusal is told after everything else of its instant, with one before the timers of it.
Lookahead::Lookahead(const Run& run, Outlook outlook)
    : transit_(run.transit),
      time_limit_(run.time_limit),
      refusal_(run.processing_delay > 0 ? 0 : 1),
      outlook_(std::move(outlook)) {}

std::optional<Quiet> Lookahead::quiet(const std::deque<Send>& waiting) const {
    const std::optional<Quiet> known = outlook_ ? outlook_() : std::nullopt;
    return known ? std::optional<Quiet>(limited(*known, waiting)) : std::nullopt;
}

Quiet Lookahead::limited(Quiet known, const std::deque<Send>& waiting) const {
    known.until = std::min(known.until, time_limit_);
    for (const Send& send : waiting)
        known.until = std::min(known.until, earliest_arrival(send, transit_));
    const std::uint32_t most = most_of_a_node(waiting, known.room);
    if (most > known.room)
        known.until = std::min(known.until, waiting.front().time + refusal_);
    known.room -= std::min(most, known.room);
    return known;
}

// How much room the waiting packets of one node take; more than there is, if one may be refused all the same.
std::uint32_t Lookahead::most_of_a_node(const std::deque<Send>& waiting, std::uint32_t room) const {
    std::unordered_map<NodeId, std::uint32_t> packets;
    std::uint32_t most = 0;
    for (const Send& send : waiting)
        most = std::max(most, send.payload->size() > transit_.most_bytes ? room + 1 : ++packets[send.node]);
    return most;
}

}  // namespace roambus
