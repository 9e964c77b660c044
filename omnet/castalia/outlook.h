#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "client/messages.h"
#include "node/communication/mac/VirtualMac.h"

namespace roambus {

class BridgeApplication;

// What Castalia knows of the time after now: the frames on the air end then, another frame has to start first, and a
// queue with room refuses nothing. Only known of the stack of which it was looked up: TunableMAC under BypassRouting.
class CastaliaOutlook {
public:
    explicit CastaliaOutlook(const std::vector<BridgeApplication*>& applications);

    // Of another stack no more than how long a packet may be.
    Transit transit() const { return transit_; }

    Framing framing() const { return framing_; }

    // Nothing with another stack.
    std::optional<Quiet> now() const;

    // Looks whether a node's energy may run out before this is called again, a second later.
    void look();

private:
    void add(const BridgeApplication& application);
    SimTime nothing_arrives_before() const;
    SimTime earliest_arrival_by(const omnetpp::cEvent& event) const;
    std::uint32_t room() const;

    const std::vector<BridgeApplication*>& applications_;
    std::vector<VirtualMac*> macs_;  // empty with another stack
    std::unordered_set<const omnetpp::cObject*> silent_;  // modules at which nothing starts a frame
    Transit transit_;
    Framing framing_;
    bool energy_is_low_ = false;
};

}  // namespace roambus
