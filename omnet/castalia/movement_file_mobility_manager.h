#pragma once

#include <vector>

#include "way_point_mobility_manager.h"

namespace roambus {

// The way that a movement file gives; the node rests at its last way-point.
//
// The host reads the file, whose formats it knows, and leaves each node's way where the session file is.
class MovementFileMobilityManager : public WayPointMobilityManager {
protected:
    WayPoint begin(WayPoint deployed) override;
    std::optional<WayPoint> next(const WayPoint& from) override;

private:
    std::vector<WayPoint> way_;
    std::size_t reached_ = 0;  // of `way_`
};

}  // namespace roambus
