#include "settings.h"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace roambus::ns3_side {
namespace {

template <typename Value>
std::function<bool(std::istream&)> into(Value& value) {
    return [&value](std::istream& text) { return static_cast<bool>(text >> value); };
}

std::ifstream open(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    return file;
}

std::vector<WayPoint> read_way(const std::string& path) {
    std::ifstream file = open(path);
    std::vector<WayPoint> way;
    for (WayPoint point; file >> point.time_s >> point.x >> point.y;)
        way.push_back(point);
    if (way.empty() || !file.eof())
        throw std::runtime_error(path + ": a line is no time, x and y");
    return way;
}

}  // namespace

Settings read_settings(const std::string& folder) {
    Settings settings;
    const auto node = [&settings](std::istream& text) {
        NodeSettings one;
        text >> one.clock.start >> one.clock.clock_rate >> one.tx_power_dbm >> one.steered;
        settings.nodes.push_back(one);
        return static_cast<bool>(text);
    };
    const auto csma = [&csma = settings.csma](std::istream& text) {
        csma.chosen = true;
        return static_cast<bool>(text >> csma.min_be >> csma.max_be >> csma.backoffs >> csma.retries >>
                                 csma.cca_threshold_dbm >> csma.padding);
    };
    const std::map<std::string, std::function<bool(std::istream&)>> readers = {
        {"stack", into(settings.stack)},
        {"seed", into(settings.seed)},
        {"time_limit_ns", into(settings.time_limit)},
        {"processing_delay_ns", into(settings.processing_delay)},
        {"path_loss_exponent", into(settings.path_loss_exponent)},
        {"reference_m", into(settings.reference_m)},
        {"reference_loss_db", into(settings.reference_loss_db)},
        {"shadowing_db", into(settings.shadowing_db)},
        {"asymmetry_db", into(settings.asymmetry_db)},
        {"cell_x_m", into(settings.cell_x_m)},
        {"cell_y_m", into(settings.cell_y_m)},
        {"noise_floor_dbm", into(settings.noise_floor_dbm)},
        {"sensitivity_dbm", into(settings.sensitivity_dbm)},
        {"queue", into(settings.queue)},
        {"csma", csma},
        {"node", node},
    };
    const std::string path = folder + "/ns3";
    std::ifstream file = open(path);
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        const std::size_t equals = line.find('=');
        const auto reader = readers.find(line.substr(0, equals));
        std::istringstream value(equals == std::string::npos ? "" : line.substr(equals + 1));
        if (reader == readers.end() || !reader->second(value))
            throw std::runtime_error(path + ":" + std::to_string(number) + ": cannot read " + line);
    }
    for (std::size_t id = 0; id < settings.nodes.size(); ++id)
        settings.nodes[id].way = read_way(folder + "/ways/" + std::to_string(id));
    return settings;
}

}  // namespace roambus::ns3_side
