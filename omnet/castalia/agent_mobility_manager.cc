#include "agent_mobility_manager.h"

#include "ini_settings.h"
#include "way_file.h"

namespace roambus {

Define_Module(AgentMobilityManager);

namespace {

double seconds(SimTime time) {
    return omnetpp::SimTime::fromRaw(time).dbl();
}

}  // namespace

WayPoint AgentMobilityManager::begin(WayPoint) {
    return read_way(way_path(ini_folder(), index)).front();
}

void AgentMobilityManager::steer(const Course& course) {
    courses_.push_back(course);
}

// The channel looks at multiples of the update interval alone, as at a node that a file moves. So a course can wait here
// until then, and a node at rest goes on looking for one.
bool AgentMobilityManager::go_on(double now) {
    for (; !courses_.empty() && seconds(courses_.front().time) <= now; courses_.pop_front()) {
        const Course& course = courses_.front();
        turn({seconds(course.time), course.x, course.y}, {seconds(course.until), course.to_x, course.to_y});
    }
    return true;
}

}  // namespace roambus
