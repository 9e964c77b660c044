#include "movement_file_mobility_manager.h"

#include <string>

#include "ini_settings.h"
#include "way_file.h"

namespace roambus {

Define_Module(MovementFileMobilityManager);

WayPoint MovementFileMobilityManager::begin(WayPoint) {
    way_ = read_way(way_path(ini_folder(), index));
    return way_.front();
}

std::optional<WayPoint> MovementFileMobilityManager::next(const WayPoint&) {
    if (reached_ + 1 == way_.size())
        return std::nullopt;
    return way_[++reached_];
}

}  // namespace roambus
