#pragma once

#include <vector>

#include "client/messages.h"

namespace roambus {

class BridgeApplication;

// When each application's node boots. Castalia draws it when the application is initialised, and tells nobody: it is
// the time of a message that waits among the future events. Throws cRuntimeError for a node that will not boot.
std::vector<SimTime> boot_times(const std::vector<BridgeApplication*>& applications);

}  // namespace roambus
