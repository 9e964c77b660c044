#include "outlook.h"

#include <algorithm>
#include <limits>

#include <omnetpp.h>

#include "CastaliaMessages.h"

#include "bridge_application.h"
#include "stack_limits.h"

namespace roambus {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kNanosecondsPerMillisecond = 1e6;
// Parts of a node that know nothing of the radio.
constexpr const char* kSilent[] = {"MobilityManager", "ResourceManager", "SensorManager"};

constexpr double kLowEnergyMj = 1000;  // two seconds of half a watt: the last look may be that old

// The queue of a MAC is for its own classes only.
struct QueueOf : VirtualMac {
    static std::size_t length(VirtualMac& mac) { return (mac.*(&QueueOf::TXBuffer)).size(); }
};

omnetpp::cModule& layer(const BridgeApplication& application, const char* name) {
    return *application.getParentModule()->getSubmodule("Communication")->getSubmodule(name);
}

bool is_known(const BridgeApplication& application) {
    const auto is = [&](const char* name, const std::string& type) {
        return layer(application, name).getModuleType()->getName() == type;
    };
    return is("MAC", "TunableMAC") && is("Routing", "BypassRouting");
}

// Of a frame: all its bytes are on the air one after another, and nothing is received before the last one.
Transit transit_of(const BridgeApplication& application) {
    const StackLimits limits(*application.getParentModule()->getSubmodule("Communication"));
    const double per_byte = kBitsPerByte / layer(application, "MAC").par("phyDataRate").doubleValue();
    const SimTime per_byte_ns = static_cast<SimTime>(per_byte * kNanosecondsPerMillisecond);
    return {per_byte_ns * limits.overhead(), per_byte_ns, limits.most_bytes()};
}

// A frame that ends, or one that the radio hands up: what arrives now is one of them.
bool is_under_way(const omnetpp::cEvent& event) {
    const short kind = static_cast<const omnetpp::cMessage&>(event).getKind();
    return kind == WC_SIGNAL_END || kind == MAC_LAYER_PACKET || kind == NETWORK_LAYER_PACKET ||
           kind == APPLICATION_PACKET;
}

}  // namespace

CastaliaOutlook::CastaliaOutlook(const std::vector<BridgeApplication*>& applications) : applications_(applications) {
    const StackLimits limits(*applications.front()->getParentModule()->getSubmodule("Communication"));
    const auto queue = layer(*applications.front(), "MAC").par("macBufferSize").intValue();
    framing_ = {static_cast<std::uint32_t>(limits.overhead()), static_cast<std::uint32_t>(queue), 0};
    transit_.most_bytes = limits.most_bytes();
    if (!std::all_of(applications.begin(), applications.end(), [](auto* application) { return is_known(*application); }))
        return;
    transit_ = transit_of(*applications.front());
    for (const BridgeApplication* application : applications)
        add(*application);
}

void CastaliaOutlook::add(const BridgeApplication& application) {
    macs_.push_back(omnetpp::check_and_cast<VirtualMac*>(&layer(application, "MAC")));
    for (const char* name : kSilent)
        if (const omnetpp::cModule* module = application.getParentModule()->getSubmodule(name))
            silent_.insert(module);
}

std::optional<Quiet> CastaliaOutlook::now() const {
    return macs_.empty() ? std::nullopt : std::optional<Quiet>({nothing_arrives_before(), room()});
}

void CastaliaOutlook::look() {
    energy_is_low_ = std::any_of(applications_.begin(), applications_.end(), [](auto* application) {
        return application->left_energy_mj() < kLowEnergyMj;
    });
}

SimTime CastaliaOutlook::nothing_arrives_before() const {
    SimTime earliest = std::numeric_limits<SimTime>::max();
    omnetpp::cFutureEventSet& events = *omnetpp::getSimulation()->getFES();
    for (int k = 0; k < events.getLength(); ++k)
        if (const omnetpp::cEvent& event = *events.get(k); event.getArrivalTime().raw() < earliest)  // true of few
            earliest = std::min(earliest, earliest_arrival_by(event));
    return earliest;
}

// Frames under way arrive when they do; anything else may start a frame at once, of one byte at least.
SimTime CastaliaOutlook::earliest_arrival_by(const omnetpp::cEvent& event) const {
    const SimTime time = event.getArrivalTime().raw();
    if (event.isMessage() && is_under_way(event))
        return time;
    if (silent_.count(event.getTargetObject()))
        return std::numeric_limits<SimTime>::max();
    return time + transit_.least_delay + transit_.delay_per_byte;
}

std::uint32_t CastaliaOutlook::room() const {
    std::size_t longest = energy_is_low_ ? framing_.queue : 0;
    for (VirtualMac* mac : macs_)
        longest = std::max(longest, QueueOf::length(*mac));
    return framing_.queue - static_cast<std::uint32_t>(std::min<std::size_t>(longest, framing_.queue));
}

}  // namespace roambus
