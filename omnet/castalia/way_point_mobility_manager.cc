#include "way_point_mobility_manager.h"

namespace roambus {

WayPointMobilityManager::~WayPointMobilityManager() {
    cancelAndDelete(update_);
}

void WayPointMobilityManager::initialize() {
    VirtualMobilityManager::initialize();
    update_interval_ = par("updateInterval").doubleValue() / 1000;
    if (update_interval_ <= 0)
        throw omnetpp::cRuntimeError("updateInterval must be positive");
    trajectory_.add(begin({0, nodeLocation.x, nodeLocation.y}));
    // The channel asks for the place after all nodes are initialised: it need not be told.
    nodeLocation.x = trajectory_.last().x;
    nodeLocation.y = trajectory_.last().y;
    update_ = new omnetpp::cMessage("position update");
    scheduleAt(omnetpp::simTime() + update_interval_, update_);
}

void WayPointMobilityManager::handleMessage(omnetpp::cMessage*) {
    double now = omnetpp::simTime().dbl();
    bool moves = go_on(now);
    show(trajectory_.at(now));
    if (moves)
        scheduleAt(omnetpp::simTime() + update_interval_, update_);
}

bool WayPointMobilityManager::go_on(double now) {
    while (trajectory_.last().time <= now) {
        std::optional<WayPoint> point = next(trajectory_.last());
        if (!point)
            return false;
        trajectory_.add(*point);
    }
    return true;
}

std::optional<WayPoint> WayPointMobilityManager::next(const WayPoint&) {
    return std::nullopt;
}

void WayPointMobilityManager::show(const WayPoint& here) {
    setLocation(here.x, here.y, nodeLocation.z, nodeLocation.phi, nodeLocation.theta);
    trace() << "moved to " << here.x << ":" << here.y;
}

}  // namespace roambus
