#include "stand_in/network.h"

#include <algorithm>
#include <utility>

namespace roambus::stand_in {

Network::Network(std::size_t nodes, SimTime delay, std::vector<LinkChange> changes, double reach, Ways ways)
    : delay_(delay), changes_(std::move(changes)), neighbours_(nodes), reach_(reach), ways_(std::move(ways)) {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const LinkChange& left, const LinkChange& right) { return left.time < right.time; });
}

void Network::transmit(SimTime now, const Send& send) {
    change_links(now);
    for (NodeId receiver = 0; receiver < neighbours_.size(); ++receiver) {
        const bool linked = neighbours_[send.node].count(receiver) > 0;
        if (send.destination != kBroadcast && send.destination != receiver)
            continue;
        if (linked || are_in_reach(send.node, receiver, now))
            under_way_.emplace(now + delay_, Delivery{receiver, send.node, send.payload, !linked});
    }
}

std::optional<SimTime> Network::next() const {
    return under_way_.empty() ? std::nullopt : std::optional<SimTime>(under_way_.begin()->first);
}

std::vector<Delivery> Network::deliver(SimTime now) {
    change_links(now);
    std::vector<Delivery> arrived;
    const auto end = under_way_.upper_bound(now);
    for (auto packet = under_way_.begin(); packet != end; ++packet)
        if (Delivery& delivery = packet->second;
            !delivery.within_reach || are_in_reach(delivery.sender, delivery.receiver, now))
            arrived.push_back(std::move(delivery));
    under_way_.erase(under_way_.begin(), end);
    return arrived;
}

bool Network::are_in_reach(NodeId a, NodeId b, SimTime now) const {
    return reach_ > 0 && a != b && ways_.are_within(reach_, a, b, now);
}

// Links change before anything else happens at that time.
void Network::change_links(SimTime now) {
    for (; changed_ < changes_.size() && changes_[changed_].time <= now; ++changed_) {
        const LinkChange& change = changes_[changed_];
        set_link(change.a, change.b, change.up);
        set_link(change.b, change.a, change.up);
    }
}

void Network::set_link(NodeId from, NodeId to, bool up) {
    if (up) {
        neighbours_[from].insert(to);
        return;
    }
    neighbours_[from].erase(to);
    for (auto packet = under_way_.begin(); packet != under_way_.end();) {
        const bool is_lost = packet->second.sender == from && packet->second.receiver == to;
        packet = is_lost ? under_way_.erase(packet) : std::next(packet);
    }
}

}  // namespace roambus::stand_in
