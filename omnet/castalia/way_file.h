// The file in which the host leaves the way of a node that a movement file moves.
#pragma once

#include <string>
#include <vector>

#include "trajectory.h"

namespace roambus {

// Where the way of a node is: .roambus/ways/NODE in `folder`.
std::string way_path(const std::string& folder, int node);

// The way-points: the first at time 0, each later than the one before it. The file has one a line: time (s), x and y
// (m). Throws cRuntimeError, which names the file and what to do.
std::vector<WayPoint> read_way(const std::string& path);

}  // namespace roambus
