#include "turns.h"

#include <tuple>

namespace roambus::ns3_side {
namespace {

TurnScheduler* used = nullptr;

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(TurnScheduler);

ns3::TypeId TurnScheduler::GetTypeId() {
    static ns3::TypeId type =
        ns3::TypeId("roambus::TurnScheduler").SetParent<Scheduler>().AddConstructor<TurnScheduler>();
    return type;
}

TurnScheduler::TurnScheduler() {
    used = this;
}

TurnScheduler::~TurnScheduler() {
    used = nullptr;
}

TurnScheduler& TurnScheduler::install() {
    ns3::ObjectFactory factory;
    factory.SetTypeId(GetTypeId());
    ns3::Simulator::SetScheduler(factory);
    return *used;
}

std::optional<SimTime> TurnScheduler::next() const {
    if (events_.empty())
        return std::nullopt;
    return static_cast<SimTime>(events_.begin()->first.time);
}

bool TurnScheduler::Place::operator<(const Place& other) const {
    return std::tie(time, turn, age) < std::tie(other.time, other.turn, other.age);
}

void TurnScheduler::Insert(const Event& event) {
    events_.emplace(Place{event.key.m_ts, turn_, event.key.m_uid}, event);
    if (turn_ != 0)
        turns_.emplace(event.key.m_uid, turn_);
}

bool TurnScheduler::IsEmpty() const {
    return events_.empty();
}

ns3::Scheduler::Event TurnScheduler::PeekNext() const {
    return events_.begin()->second;
}

ns3::Scheduler::Event TurnScheduler::RemoveNext() {
    const Event event = events_.begin()->second;
    events_.erase(events_.begin());
    turns_.erase(event.key.m_uid);
    return event;
}

void TurnScheduler::Remove(const Event& event) {
    const auto turn = turns_.find(event.key.m_uid);
    events_.erase(Place{event.key.m_ts, turn == turns_.end() ? 0 : turn->second, event.key.m_uid});
    if (turn != turns_.end())
        turns_.erase(turn);
}

}  // namespace roambus::ns3_side
