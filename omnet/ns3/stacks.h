// The radios and MACs of ns-3 that carry the agents' messages.
//
// `lr-wpan` is IEEE 802.15.4 at 2.4 GHz, 250 kbit/s, without beacons: CSMA/CA, acknowledgements of unicast frames and
// up to three retries, frames of 127 bytes. `wifi` is 802.11b at 1 Mbit/s, ad hoc. An agent's message is the payload of
// one frame, and the MAC's address is the node: no header of a network layer comes between.
//
// A MAC that takes a packet and later gives it up (no acknowledgement, no free channel) tells the agent if the ini
// chooses IEEE 802.15.4. Otherwise it does not, as Castalia's does not: `SendFailed` is then for what was never taken.
// What was given up is counted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ns3/node-container.h>

#include "client/messages.h"
#include "loss.h"

namespace roambus::ns3_side {

class Stack {
public:
    // `receiver` got a message of `sender`.
    using Arrived = std::function<void(NodeId sender, const Payload& payload, const Reception& reception)>;
    // The MAC has given up what it had taken.
    using Failed = std::function<void(const Send& send, const std::string& reason)>;

    virtual ~Stack() = default;

    // Hands a message to the MAC of its node; says why, if the MAC does not take it.
    virtual std::optional<std::string> transmit(const Send& send) = 0;

    // How soon a packet can arrive or be refused, and the longest message that is taken.
    virtual Transit transit() const = 0;

    // What it makes of a message.
    virtual Framing framing() const = 0;

    // The packets that the fullest MAC still has room for.
    virtual std::uint32_t room() const = 0;

    // What is to be told of each node at the end.
    virtual std::vector<Count> counts() const = 0;

protected:
    Stack(const Settings& settings, const ns3::NodeContainer& nodes, Arrived arrived);

    ns3::Ptr<ns3::MobilityModel> mobility(NodeId node) const;

    // Tells that `receiver` got a packet of `sender`. Its level is that of the channel's law: what ns-3 itself says of a
    // frame is a share of 255 over lr-wpan, and nothing over wifi.
    void hear(NodeId receiver, NodeId sender, const ns3::Ptr<const ns3::Packet>& packet) const;

    const Settings& settings_;
    const ns3::NodeContainer nodes_;
    const ns3::Ptr<ShadowedLoss> loss_;

private:
    const Arrived arrived_;
};

// Installs the stack that the settings name on all nodes, which have their places; throws std::runtime_error.
std::unique_ptr<Stack> install_stack(const Settings& settings, const ns3::NodeContainer& nodes, Stack::Arrived arrived,
                                     Stack::Failed failed);

}  // namespace roambus::ns3_side
