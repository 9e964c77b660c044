#include "random_waypoint_mobility_manager.h"

#include <cmath>

namespace roambus {

Define_Module(RandomWaypointMobilityManager);

WayPoint RandomWaypointMobilityManager::begin(WayPoint deployed) {
    speed_ = par("speed");
    pause_ = par("pause");
    if (speed_ < 0 || pause_ < 0)
        throw omnetpp::cRuntimeError("speed and pause must not be negative");
    return deployed;
}

std::optional<WayPoint> RandomWaypointMobilityManager::next(const WayPoint& from) {
    if (speed_ == 0)
        return std::nullopt;
    if (arrives_ && pause_ > 0) {
        arrives_ = false;
        return WayPoint{from.time + pause_, from.x, from.y};
    }
    double x = uniform(0, network->par("field_x"));
    double y = uniform(0, network->par("field_y"));
    arrives_ = true;
    return WayPoint{from.time + std::hypot(x - from.x, y - from.y) / speed_, x, y};
}

}  // namespace roambus
