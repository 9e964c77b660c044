#include "ini_settings.h"

#include <filesystem>

#include <omnetpp.h>

namespace roambus {
namespace {

omnetpp::cConfigurationEx& configuration() {
    return *omnetpp::getEnvir()->getConfigEx();
}

}  // namespace

std::int64_t ini_seed() {
    return std::stoll(configuration().getVariable(CFGVAR_SEEDSET));
}

SimTime ini_time_limit() {
    const char* limit = configuration().getConfigValue("sim-time-limit");
    if (!limit)
        throw omnetpp::cRuntimeError("the bridge needs to know when the run ends: set sim-time-limit in the ini");
    return omnetpp::SimTime(omnetpp::cConfiguration::parseDouble(limit, "s", nullptr)).raw();
}

std::string ini_folder() {
    std::filesystem::path folder = std::filesystem::path(configuration().getFileName()).parent_path();
    return folder.empty() ? "." : folder.string();
}

void check_time_resolution() {
    if (omnetpp::SimTime::getScaleExp() != kTimeResolution)
        throw omnetpp::cRuntimeError("the bridge counts whole nanoseconds: set simtime-resolution = ns in the ini");
}

}  // namespace roambus
