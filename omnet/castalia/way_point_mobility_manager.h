#pragma once

#include <optional>

#include "node/mobilityManager/VirtualMobilityManager.h"

#include "trajectory.h"

namespace roambus {

// A node that goes straight from way-point to way-point; what the next one is, its kind says.
//
// The node turns at its way-points exactly when it reaches them; the channel sees where it is every update interval
// only.
class WayPointMobilityManager : public VirtualMobilityManager {
public:
    ~WayPointMobilityManager() override;

    // The way-points up to now, and the next.
    const Trajectory& trajectory() const { return trajectory_; }

    // Goes on from way-points that are reached by `now`; returns whether the node can still move.
    virtual bool go_on(double now);

protected:
    void initialize() final;
    void handleMessage(omnetpp::cMessage* message) final;

    // Reads the parameters of its kind; returns where the node is at time 0, as it was deployed or not.
    virtual WayPoint begin(WayPoint deployed) = 0;

    // The way-point after `from`, later than that; none if the node rests there.
    virtual std::optional<WayPoint> next(const WayPoint& from);

    // Goes on from `from` to `to` instead, whatever was to come.
    void turn(const WayPoint& from, const WayPoint& to) { trajectory_.turn(from, to); }

private:
    void show(const WayPoint& here);

    Trajectory trajectory_;
    omnetpp::simtime_t update_interval_;
    omnetpp::cMessage* update_ = nullptr;
};

}  // namespace roambus
