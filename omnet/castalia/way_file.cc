#include "way_file.h"

#include <fstream>

#include <omnetpp.h>

#include "client/session_file.h"

namespace roambus {

std::string way_path(const std::string& folder, int node) {
    return folder + "/.roambus/ways/" + std::to_string(node);
}

std::vector<WayPoint> read_way(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw omnetpp::cRuntimeError("%s", no_host(path + ", a node's way").c_str());
    std::vector<WayPoint> way;
    for (WayPoint point; file >> point.time >> point.x >> point.y; way.push_back(point))
        if (way.empty() ? point.time != 0 : point.time <= way.back().time)
            throw omnetpp::cRuntimeError("%s: time %g s does not go on; let the host write it anew", path.c_str(),
                                         point.time);
    if (way.empty() || !file.eof())
        throw omnetpp::cRuntimeError("%s holds no lines of time, x and y only; let the host write it anew",
                                     path.c_str());
    return way;
}

}  // namespace roambus
