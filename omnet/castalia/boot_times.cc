#include "boot_times.h"

#include <optional>
#include <unordered_map>

#include <omnetpp.h>

#include "bridge_application.h"

namespace roambus {
namespace {

using Boots = std::unordered_map<const omnetpp::cModule*, SimTime>;

// The applications' messages to themselves that boot them.
Boots awaited_boots() {
    Boots boots;
    omnetpp::cFutureEventSet& events = *omnetpp::getSimulation()->getFES();
    for (int k = 0; k < events.getLength(); ++k) {
        auto* message = dynamic_cast<omnetpp::cMessage*>(events.get(k));
        if (message && message->getKind() == NODE_STARTUP && message->isSelfMessage())
            boots[message->getArrivalModule()] = message->getArrivalTime().raw();
    }
    return boots;
}

}  // namespace

std::vector<SimTime> boot_times(const std::vector<BridgeApplication*>& applications) {
    Boots boots = awaited_boots();
    std::vector<SimTime> times;
    for (const BridgeApplication* application : applications) {
        auto boot = boots.find(application);
        if (boot == boots.end())
            throw omnetpp::cRuntimeError("%s will not boot", application->getFullPath().c_str());
        times.push_back(boot->second);
    }
    return times;
}

}  // namespace roambus
