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
    area_x_ = par("areaX");
    area_y_ = par("areaY");
    width_ = par("areaWidth");
    height_ = par("areaHeight");
    if (width_ == 0 || height_ == 0) {
        area_x_ = area_y_ = 0;
        width_ = network->par("field_x");
        height_ = network->par("field_y");
    }
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
    double x = uniform(area_x_, area_x_ + width_);
    double y = uniform(area_y_, area_y_ + height_);
    return {0, x, y};
}

}  // namespace roambus
