#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/messages.h"
#include "node/application/VirtualApplication.h"

#include "stack_limits.h"

namespace roambus {

class Bridge;

// A node that an agent in Python stands behind.
class BridgeApplication : public VirtualApplication {
public:
    // The node's index.
    NodeId node() const { return static_cast<NodeId>(self); }

    // How many ns of simulator time a ns of the node's timers lasts.
    double clock_rate() const { return cpuClockDrift; }

    // From an input of the agent to its outputs.
    SimTime processing_delay() const;

    // Whether the agent's notes are wanted.
    bool wants_notes() const;

    // Adds a line to Castalia's trace.
    void note(const std::string& text);

    // Hands a packet to the network stack; returns why, if it will not be sent.
    std::optional<Failure> transmit(const Send& send);

    // The packets of this instant that the MAC had no room for, once everything else of the instant has happened.
    std::vector<Failure> take_refused();

    // When the battery was empty, in ns; 0 if it is not.
    std::int64_t died_ns() const { return died_ns_; }

    // mJ used up so far.
    double spent_energy_mj();

    // mJ that are left.
    double left_energy_mj();

    VirtualMobilityManager& mobility() const { return *mobilityModule; }

    // Packets handed to the network stack, those of them that the MAC had no room for, and packets received.
    std::int64_t offered() const { return offered_; }
    std::int64_t overflown() const { return overflown_; }
    std::int64_t received() const { return received_; }

    // Frames that the radio had no room for, which a MAC without a queue finds out too late.
    std::int64_t spilt() const { return spilt_; }

protected:
    void initialize() override;
    void handleMessage(omnetpp::cMessage* message) override;
    void startup() override;
    void fromNetworkLayer(ApplicationPacket* packet, const char* source, double rssi, double lqi) override;
    void handleMacControlMessage(omnetpp::cMessage* message) override;
    void handleRadioControlMessage(RadioControlMessage* message) override;

private:
    std::optional<std::string> refusal(std::size_t bytes) const;

    Bridge* bridge_ = nullptr;
    std::optional<StackLimits> limits_;
    bool booted_ = false;
    std::vector<Send> sent_;   // at this instant
    std::size_t refused_ = 0;  // of `sent_`, the last ones
    std::int64_t died_ns_ = 0;
    std::int64_t offered_ = 0;
    std::int64_t overflown_ = 0;
    std::int64_t received_ = 0;
    std::int64_t spilt_ = 0;
};

}  // namespace roambus
