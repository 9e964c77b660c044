#pragma once

#include <vector>

#include "client/messages.h"
#include "node/mobilityManager/VirtualMobilityManager.h"

#include "trajectory.h"

namespace roambus {

// Where all nodes were: told by their mobility managers, if they are ours; looked up now and then, if they are
// Castalia's.
class Places {
public:
    // Adds the next node.
    void add(VirtualMobilityManager& mobility);

    // Looks up where the nodes are at `time`, in seconds.
    void look(double time);

    // The moves of all nodes up to `end`, in order of time.
    std::vector<Move> moves(double end) const;

private:
    struct Node {
        VirtualMobilityManager* mobility;
        Trajectory looked_up;
        double looked_at;  // last, s
    };

    static void look(Node& node, double time);

    std::vector<Node> nodes_;
};

}  // namespace roambus
