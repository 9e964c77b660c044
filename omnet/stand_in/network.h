// Ideal links: nothing is lost on a link that stands, nothing overtakes, and a packet takes the same time everywhere.
// The same model as bridge/backends/ideal.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "client/messages.h"
#include "stand_in/script.h"
#include "stand_in/ways.h"

namespace roambus::stand_in {

struct Delivery {
    NodeId receiver = 0;
    NodeId sender = 0;
    Payload payload;
    bool within_reach = false;  // it arrives if they still are
};

class Network {
public:
    // Nodes within `reach` metres of each other are neighbours, too; 0: none are.
    Network(std::size_t nodes, SimTime delay, std::vector<LinkChange> changes, double reach = 0, Ways ways = {0, {}});

    // A node goes where the host sends it.
    void steer(const Course& course) { ways_.steer(course); }

    // A broadcast goes to all neighbours, another packet to its destination if that is one.
    void transmit(SimTime now, const Send& send);

    // When the next packet that is under way arrives.
    std::optional<SimTime> next() const;

    // What arrives at `now`, in the order in which it was sent.
    std::vector<Delivery> deliver(SimTime now);

private:
    void change_links(SimTime now);
    void set_link(NodeId from, NodeId to, bool up);
    bool are_in_reach(NodeId a, NodeId b, SimTime now) const;

    SimTime delay_;
    std::vector<LinkChange> changes_;  // in order of time; those before `changed_` are made
    std::size_t changed_ = 0;
    std::vector<std::set<NodeId>> neighbours_;
    double reach_;
    Ways ways_;
    std::multimap<SimTime, Delivery> under_way_;  // at one time in the order sent
};

}  // namespace roambus::stand_in
