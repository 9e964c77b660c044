#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <omnetpp.h>

namespace roambus {

// What a node's stack carries at most. Castalia drops longer packets without a word.
class StackLimits {
public:
    // `communication` is the node's submodule that holds routing, MAC and radio.
    explicit StackLimits(omnetpp::cModule& communication);

    // Why a packet of so many bytes gets no farther; nothing if it does.
    std::optional<std::string> refusal(std::size_t bytes) const;

    // The longest packet that gets farther.
    std::uint32_t most_bytes() const;

    // Bytes that the whole stack adds to a packet.
    long overhead() const { return routing_overhead_ + mac_overhead_ + radio_overhead_; }

private:
    long routing_overhead_;
    long routing_max_;  // bytes, as all of these; 0: no limit
    long mac_overhead_;
    long mac_max_;
    long radio_overhead_;
    long radio_max_;
};

}  // namespace roambus
