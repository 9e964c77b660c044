// A node on its way, which the host's courses change: what ns-3 has not.
#pragma once

#include <deque>

#include <ns3/waypoint-mobility-model.h>

#include "client/messages.h"
#include "settings.h"

namespace roambus::ns3_side {

// ns-3's WaypointMobilityModel forgets no way-point that is to come but all of them, and only at once. So this one asks
// a model of that kind, and gives it each course when that has begun. Thus places are the same to the last bit, whether a
// way is told beforehand or course by course.
class SteeredMobility : public ns3::MobilityModel {
public:
    static ns3::TypeId GetTypeId();

    SteeredMobility();

    // The next way-point from the beginning of the run on.
    void add(const WayPoint& point);

    // Takes a course, which begins now or later.
    void steer(const Course& course);

private:
    ns3::Vector DoGetPosition() const override;
    void DoSetPosition(const ns3::Vector& position) override;
    ns3::Vector DoGetVelocity() const override;

    const ns3::WaypointMobilityModel& up_to_date() const;

    const ns3::Ptr<ns3::WaypointMobilityModel> way_;
    mutable std::deque<Course> courses_;  // that had not begun at the last question, in order of time
};

}  // namespace roambus::ns3_side
