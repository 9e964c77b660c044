#include "random_waypoint_mobility_manager.h"

#include <cmath>

namespace roambus {

Define_Module(RandomWaypointMobilityManager);

RandomWaypointMobilityManager::~RandomWaypointMobilityManager() {
    cancelAndDelete(update_);
}

void RandomWaypointMobilityManager::initialize() {
    VirtualMobilityManager::initialize();
    update_interval_ = par("updateInterval").doubleValue() / 1000;
    speed_ = par("speed");
    pause_ = par("pause");
    if (update_interval_ <= 0 || speed_ < 0 || pause_ < 0)
        throw omnetpp::cRuntimeError("updateInterval must be positive, speed and pause not negative");
    trajectory_.add({omnetpp::simTime().dbl(), nodeLocation.x, nodeLocation.y});
    update_ = new omnetpp::cMessage("position update");
    if (speed_ > 0)
        scheduleAt(omnetpp::simTime() + update_interval_, update_);
}

void RandomWaypointMobilityManager::handleMessage(omnetpp::cMessage*) {
    double now = omnetpp::simTime().dbl();
    while (trajectory_.last().time <= now)
        go_on();
    WayPoint here = trajectory_.at(now);
    setLocation(here.x, here.y, nodeLocation.z, nodeLocation.phi, nodeLocation.theta);
    trace() << "moved to " << here.x << ":" << here.y;
    scheduleAt(omnetpp::simTime() + update_interval_, update_);
}

void RandomWaypointMobilityManager::go_on() {
    WayPoint from = trajectory_.last();
    if (arrives_ && pause_ > 0) {
        trajectory_.add({from.time + pause_, from.x, from.y});
        arrives_ = false;
        return;
    }
    double x = uniform(0, network->par("field_x"));
    double y = uniform(0, network->par("field_y"));
    trajectory_.add({from.time + std::hypot(x - from.x, y - from.y) / speed_, x, y});
    arrives_ = true;
}

}  // namespace roambus
