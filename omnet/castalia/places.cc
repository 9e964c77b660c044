#include "places.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "agent_mobility_manager.h"
#include "way_point_mobility_manager.h"

namespace roambus {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

SimTime nanoseconds(double time) {
    return std::llround(time * kNanosecondsPerSecond);
}

Move move_to(const WayPoint& point, NodeId node) {
    return {nanoseconds(point.time), node, point.x, point.y};
}

WayPointMobilityManager* ours(VirtualMobilityManager* mobility) {
    return dynamic_cast<WayPointMobilityManager*>(mobility);
}

// Castalia's own manager that moves goes to and fro between two places.
bool go_to_and_fro(VirtualMobilityManager& line, Trajectory& way, double now) {
    const double speed = line.hasPar("xCoorDestination") ? line.par("speed").doubleValue() : 0;
    const WayPoint start = way.points().front();
    const double x = speed > 0 ? line.par("xCoorDestination").doubleValue() : start.x;
    const double y = speed > 0 ? line.par("yCoorDestination").doubleValue() : start.y;
    if (x == start.x && y == start.y)
        return false;
    const double leg = std::hypot(x - start.x, y - start.y) / speed;
    while (way.last().time <= now) {
        const std::size_t legs = way.points().size();
        way.add({static_cast<double>(legs) * leg, legs % 2 ? x : start.x, legs % 2 ? y : start.y});
    }
    return true;
}

}  // namespace

void Places::add(NodeId node, VirtualMobilityManager& mobility) {
    if (dynamic_cast<AgentMobilityManager*>(&mobility))
        return;  // the host knows where it sends it
    NodeLocation_type here = mobility.getLocation();
    nodes_.push_back({node, &mobility, {}});
    nodes_.back().way.add({0, here.x, here.y});
}

const Trajectory& Places::way_of(const Node& node) {
    const WayPointMobilityManager* manager = ours(node.mobility);
    return manager ? manager->trajectory() : node.way;
}

bool Places::go_on(Node& node, double now) {
    WayPointMobilityManager* manager = ours(node.mobility);
    return manager ? manager->go_on(now) : go_to_and_fro(*node.mobility, node.way, now);
}

std::vector<Move> Places::news(SimTime now) {
    std::vector<Move> moves;
    for (Node& node : nodes_) {
        node.moves = go_on(node, static_cast<double>(now) / kNanosecondsPerSecond);
        const std::vector<WayPoint>& points = way_of(node).points();
        for (; node.told < points.size(); ++node.told)
            moves.push_back(move_to(points[node.told], node.id));
    }
    return moves;
}

SimTime Places::told_until() const {
    SimTime until = std::numeric_limits<SimTime>::max();
    for (const Node& node : nodes_)
        if (node.moves)
            until = std::min(until, nanoseconds(way_of(node).last().time));
    return until;
}

std::vector<Move> Places::moves(double end) {
    std::vector<Move> moves;
    for (Node& node : nodes_) {
        if (!ours(node.mobility))
            go_on(node, end);
        for (const WayPoint& point : way_of(node).until(end))
            moves.push_back(move_to(point, node.id));
    }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.time < b.time; });
    return moves;
}

}  // namespace roambus
