#include "random_waypoint_mobility_manager.h"

#include <cmath>
#include <utility>

namespace roambus {

Define_Module(RandomWaypointMobilityManager);

WayPoint RandomWaypointMobilityManager::begin(WayPoint deployed) {
    speed_ = par("speed");
    pause_ = par("pause");
    first_pause_ = par("firstPause");
    if (speed_ < 0 || pause_ < 0 || first_pause_ < 0)
        throw omnetpp::cRuntimeError("speed and pauses must not be negative");
    double x = par("firstX"), y = par("firstY");
    if (x >= 0 && y >= 0)
        first_ = WayPoint{0, x, y};
    return deployed;
}

std::optional<WayPoint> RandomWaypointMobilityManager::next(const WayPoint& from) {
    if (speed_ == 0)
        return std::nullopt;
    double pause = arrives_ ? pause_ : std::exchange(first_pause_, 0);
    arrives_ = !(pause > 0);
    if (pause > 0)
        return WayPoint{from.time + pause, from.x, from.y};
    WayPoint to = destination();
    return WayPoint{from.time + std::hypot(to.x - from.x, to.y - from.y) / speed_, to.x, to.y};
}

WayPoint RandomWaypointMobilityManager::destination() {
    if (first_)
        return *std::exchange(first_, std::nullopt);
    double x = uniform(0, network->par("field_x"));
    double y = uniform(0, network->par("field_y"));
    return {0, x, y};
}

}  // namespace roambus
