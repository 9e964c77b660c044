#pragma once

#include "way_point_mobility_manager.h"

namespace roambus {

// Random waypoint: uniform destinations in the field, constant speed, a pause at each.
class RandomWaypointMobilityManager : public WayPointMobilityManager {
protected:
    WayPoint begin(WayPoint deployed) override;
    std::optional<WayPoint> next(const WayPoint& from) override;

private:
    double speed_ = 0;
    double pause_ = 0;
    bool arrives_ = false;  // at the last way-point
};

}  // namespace roambus
