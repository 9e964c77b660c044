#pragma once

#include "node/mobilityManager/VirtualMobilityManager.h"

#include "trajectory.h"

namespace roambus {

// Random waypoint: uniform destinations in the field, constant speed, a pause at each.
//
// The node turns at its destinations exactly when it reaches them; the channel sees where it is every update
// interval only.
class RandomWaypointMobilityManager : public VirtualMobilityManager {
public:
    ~RandomWaypointMobilityManager() override;

    // The way-points up to now, and the next.
    const Trajectory& trajectory() const { return trajectory_; }

protected:
    void initialize() override;
    void handleMessage(omnetpp::cMessage* message) override;

private:
    // Appends the end of the next pause, or of the next straight way.
    void go_on();

    Trajectory trajectory_;
    omnetpp::simtime_t update_interval_;
    double speed_ = 0;
    double pause_ = 0;
    bool arrives_ = false;  // at the last way-point
    omnetpp::cMessage* update_ = nullptr;
};

}  // namespace roambus
