#include "places.h"

#include <algorithm>
#include <cmath>

#include "way_point_mobility_manager.h"

namespace roambus {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

void Places::add(VirtualMobilityManager& mobility) {
    nodes_.push_back({&mobility, {}, 0});
}

void Places::look(double time) {
    for (Node& node : nodes_)
        look(node, time);
}

void Places::look(Node& node, double time) {
    NodeLocation_type here = node.mobility->getLocation();
    Trajectory& places = node.looked_up;
    bool first = places.empty();
    if (first || places.last().x != here.x || places.last().y != here.y) {
        if (!first && places.last().time < node.looked_at)
            places.add({node.looked_at, places.last().x, places.last().y});  // it rested until then
        places.add({time, here.x, here.y});
    }
    node.looked_at = time;
}

std::vector<Move> Places::moves(double end) const {
    std::vector<Move> moves;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        auto* ours = dynamic_cast<WayPointMobilityManager*>(nodes_[node].mobility);
        for (const WayPoint& p : (ours ? ours->trajectory() : nodes_[node].looked_up).until(end))
            moves.push_back({std::llround(p.time * kNanosecondsPerSecond), static_cast<NodeId>(node), p.x, p.y});
    }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.time < b.time; });
    return moves;
}

}  // namespace roambus
