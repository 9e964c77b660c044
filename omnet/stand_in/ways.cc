#include "stand_in/ways.h"

#include <algorithm>
#include <cmath>

namespace roambus::stand_in {

Ways::Ways(std::size_t nodes, const std::vector<Move>& moves) : moves_(nodes) {
    for (const Move& move : moves)
        moves_[move.node].push_back(move);
}

// A course begins on the way so far, so that what was before it need not be cut.
void Ways::steer(const Course& course) {
    std::vector<Move>& moves = moves_[course.node];
    while (!moves.empty() && moves.back().time >= course.time)
        moves.pop_back();
    moves.push_back({course.time, course.node, course.x, course.y});
    if (course.until > course.time)
        moves.push_back({course.until, course.node, course.to_x, course.to_y});
}

bool Ways::are_within(double metres, NodeId a, NodeId b, SimTime now) const {
    const Place here = at(a, now), there = at(b, now);
    return std::hypot(there.x - here.x, there.y - here.y) <= metres;
}

Ways::Place Ways::at(NodeId node, SimTime now) const {
    const std::vector<Move>& moves = moves_[node];
    if (moves.empty())
        return {};
    const auto after = std::find_if(moves.begin(), moves.end(), [now](const Move& move) { return move.time > now; });
    const Move& from = after == moves.begin() ? *after : *(after - 1);
    if (after == moves.end() || after == moves.begin())
        return {from.x, from.y};
    const double share = static_cast<double>(now - from.time) / static_cast<double>(after->time - from.time);
    return {from.x + share * (after->x - from.x), from.y + share * (after->y - from.y)};
}

}  // namespace roambus::stand_in
