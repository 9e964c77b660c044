#include "steered.h"

#include <ns3/boolean.h>
#include <ns3/simulator.h>

namespace roambus::ns3_side {

NS_OBJECT_ENSURE_REGISTERED(SteeredMobility);

ns3::TypeId SteeredMobility::GetTypeId() {
    static ns3::TypeId type =
        ns3::TypeId("roambus::SteeredMobility").SetParent<MobilityModel>().AddConstructor<SteeredMobility>();
    return type;
}

SteeredMobility::SteeredMobility() : way_(ns3::CreateObject<ns3::WaypointMobilityModel>()) {
    way_->SetAttribute("LazyNotify", ns3::BooleanValue(true));  // nobody asks to be told of turns
}

void SteeredMobility::add(const WayPoint& point) {
    way_->AddWaypoint({ns3::Seconds(point.time_s), {point.x, point.y, 0}});
}

void SteeredMobility::steer(const Course& course) {
    courses_.push_back(course);
}

const ns3::WaypointMobilityModel& SteeredMobility::up_to_date() const {
    const SimTime now = ns3::Simulator::Now().GetNanoSeconds();
    for (; !courses_.empty() && courses_.front().time <= now; courses_.pop_front()) {
        const Course& course = courses_.front();
        way_->EndMobility();
        way_->AddWaypoint({ns3::NanoSeconds(course.time), {course.x, course.y, 0}});
        if (course.until > course.time)
            way_->AddWaypoint({ns3::NanoSeconds(course.until), {course.to_x, course.to_y, 0}});
    }
    return *way_;
}

ns3::Vector SteeredMobility::DoGetPosition() const {
    return up_to_date().GetPosition();
}

void SteeredMobility::DoSetPosition(const ns3::Vector& position) {
    way_->SetPosition(position);
}

ns3::Vector SteeredMobility::DoGetVelocity() const {
    return up_to_date().GetVelocity();
}

}  // namespace roambus::ns3_side
