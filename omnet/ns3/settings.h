// What the host says of a run over ns-3, in the file `ns3` beside the session file.
//
// Lines `name=value`; numbers are in the units that their names tell. The host has drawn what differs from seed to seed
// and belongs to the network: ways, boot times and clocks, which are those of the embedded radio with the same seed. A
// way stands in the file `ways/NODE`: time (s), x and y (m) in each line.
#pragma once

#include <string>
#include <vector>

#include "client/messages.h"

namespace roambus::ns3_side {

struct WayPoint {
    double time_s = 0;
    double x = 0;
    double y = 0;
};

struct NodeSettings {
    Node clock;
    double tx_power_dbm = 0;
    bool steered = false;  // the host says where it goes from its first way-point on
    std::vector<WayPoint> way;
};

struct Settings {
    std::string stack;
    std::int64_t seed = 0;
    SimTime time_limit = 0;
    SimTime processing_delay = 0;
    double path_loss_exponent = 0;
    double reference_m = 0;
    double reference_loss_db = 0;
    double shadowing_db = 0;
    double asymmetry_db = 0;
    double cell_x_m = 0;  // 0: the shadowing is that of a pair of nodes, and not of cells
    double cell_y_m = 0;
    double noise_floor_dbm = 0;
    double sensitivity_dbm = 0;
    std::uint32_t queue = 0;
    // Of IEEE 802.15.4, if the ini chooses it; otherwise ns-3's own defaults count, and failures are not told.
    struct {
        bool chosen = false;
        std::uint32_t min_be = 0, max_be = 0, backoffs = 0, retries = 0;
        double cca_threshold_dbm = 0;
        std::uint32_t padding = 0;  // bytes that the ini's headers are longer than ns-3's
    } csma;
    std::vector<NodeSettings> nodes;
};

// Reads the files in `folder`; throws std::runtime_error, which names file and line.
Settings read_settings(const std::string& folder);

}  // namespace roambus::ns3_side
