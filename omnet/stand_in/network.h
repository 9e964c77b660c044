// Ideal links: nothing is lost on a link that stands, nothing overtakes, and a packet takes the same time everywhere.
// The same model as bridge/backends/ideal.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/messages.h"
#include "stand_in/script.h"

namespace roambus::stand_in {

struct Delivery {
    NodeId receiver = 0;
    NodeId sender = 0;
    Payload payload;
};

class Network {
public:
    Network(std::size_t nodes, SimTime delay, std::vector<LinkChange> changes);

    // A broadcast goes to all neighbours, another packet to its destination if that is one.
    void transmit(SimTime now, const Send& send);

    // When the next packet that is under way arrives.
    std::optional<SimTime> next() const;

    // What arrives at `now`, in the order in which it was sent.
    std::vector<Delivery> deliver(SimTime now);

private:
    void change_links(SimTime now);
    void set_link(NodeId from, NodeId to, bool up);

    SimTime delay_;
    std::vector<LinkChange> changes_;  // in order of time; those before `changed_` are made
    std::size_t changed_ = 0;
    std::vector<std::set<NodeId>> neighbours_;
    std::multimap<SimTime, Delivery> under_way_;  // at one time in the order sent
};

}  // namespace roambus::stand_in
