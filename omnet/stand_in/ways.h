// Where the nodes of a script are: as it says, or as the host does.
#pragma once

#include <vector>

#include "client/messages.h"

namespace roambus::stand_in {

class Ways {
public:
    // A node goes straight from move to move, which are in order of time, and stays at its last; without one it is at (0, 0).
    Ways(std::size_t nodes, const std::vector<Move>& moves);

    // From the course's time on the node goes where that leads.
    void steer(const Course& course);

    bool are_within(double metres, NodeId a, NodeId b, SimTime now) const;

private:
    struct Place {
        double x = 0;
        double y = 0;
    };

    Place at(NodeId node, SimTime now) const;

    std::vector<std::vector<Move>> moves_;  // by node
};

}  // namespace roambus::stand_in
