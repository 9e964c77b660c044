#pragma once

#include <deque>

#include "client/messages.h"

#include "way_point_mobility_manager.h"

namespace roambus {

// The way on which the node's agent sends it: the host tells its courses, and in the way file where the node starts.
class AgentMobilityManager : public WayPointMobilityManager {
public:
    // Takes a course, which begins now or later; it replaces the one before from its beginning on.
    void steer(const Course& course);

    bool go_on(double now) override;

protected:
    WayPoint begin(WayPoint deployed) override;

private:
    std::deque<Course> courses_;  // that have not begun, in order of time
};

}  // namespace roambus
