#pragma once

#include "way_point_mobility_manager.h"

namespace roambus {

// Random waypoint: uniform destinations in the field or an area of it, constant speed, a pause at each. The first can be given.
class RandomWaypointMobilityManager : public WayPointMobilityManager {
protected:
    WayPoint begin(WayPoint deployed) override;
    std::optional<WayPoint> next(const WayPoint& from) override;

private:
    // Where the next way leads, at no time: the first destination that is given, or one that is drawn.
    WayPoint destination();

    double area_x_ = 0, area_y_ = 0;  // the corner of the area in which destinations lie
    double width_ = 0, height_ = 0;
    double speed_ = 0;
    double pause_ = 0;
    double first_pause_ = 0;         // at the start; 0 once it is over
    std::optional<WayPoint> first_;  // the first destination, until it is taken
    bool arrives_ = false;  // at the last way-point
};

}  // namespace roambus
