#pragma once

#include <vector>

#include "client/messages.h"
#include "node/mobilityManager/VirtualMobilityManager.h"

#include "trajectory.h"

namespace roambus {

// Where all nodes are and were that the host does not move: told by their mobility managers, if they are ours; computed, if they are Castalia's.
class Places {
public:
    // Adds a node, at time 0.
    void add(NodeId node, VirtualMobilityManager& mobility);

    // The moves that were not told before, until all nodes that move have one after `now`.
    std::vector<Move> news(SimTime now);

    // Until when the moves that were told lead.
    SimTime told_until() const;

    // The moves of all nodes up to `end`, in seconds, in order of time.
    std::vector<Move> moves(double end);

private:
    struct Node {
        NodeId id;
        VirtualMobilityManager* mobility;
        Trajectory way;  // of Castalia's managers
        std::size_t told = 0;
        bool moves = true;
    };

    static const Trajectory& way_of(const Node& node);
    static bool go_on(Node& node, double now);

    std::vector<Node> nodes_;
};

}  // namespace roambus
