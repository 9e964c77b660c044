#pragma once

#include <cstdint>
#include <string>

#include "client/messages.h"

namespace roambus {

// What the run's ini says to OMNeT++ itself. All throw cRuntimeError for what the bridge cannot work with.

// seed-set.
std::int64_t ini_seed();

// sim-time-limit, which must be set.
SimTime ini_time_limit();

// Where the ini is.
std::string ini_folder();

// Demands whole nanoseconds: only then is the raw value of a time of OMNeT++ a SimTime of ours.
void check_time_resolution();

}  // namespace roambus
