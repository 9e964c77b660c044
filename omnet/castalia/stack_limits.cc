#include "stack_limits.h"

#include <algorithm>

#include "client/messages.h"

namespace roambus {
namespace {

long bytes_of(omnetpp::cModule& communication, const char* layer, const char* parameter) {
    return communication.getSubmodule(layer)->par(parameter).intValue();
}

}  // namespace

StackLimits::StackLimits(omnetpp::cModule& communication)
    : routing_overhead_(bytes_of(communication, "Routing", "netDataFrameOverhead")),
      routing_max_(bytes_of(communication, "Routing", "maxNetFrameSize")),
      mac_overhead_(bytes_of(communication, "MAC", "macPacketOverhead")),
      mac_max_(bytes_of(communication, "MAC", "macMaxPacketSize")),
      radio_overhead_(bytes_of(communication, "Radio", "phyFrameOverhead")),
      radio_max_(bytes_of(communication, "Radio", "maxPhyFrameSize")) {}

std::uint32_t StackLimits::most_bytes() const {
    long most = kMaxPayloadBytes;
    if (0 < routing_max_)
        most = std::min(most, routing_max_ - routing_overhead_);
    if (0 < mac_max_)
        most = std::min(most, mac_max_ - mac_overhead_ - routing_overhead_);
    if (0 < radio_max_)
        most = std::min(most, radio_max_ - overhead());
    return static_cast<std::uint32_t>(std::max(0L, most));
}

std::optional<std::string> StackLimits::refusal(std::size_t bytes) const {
    long packet = static_cast<long>(bytes) + routing_overhead_;
    if (0 < routing_max_ && routing_max_ < packet)
        return "packet longer than Routing.maxNetFrameSize";
    packet += mac_overhead_;
    if (0 < mac_max_ && mac_max_ < packet)
        return "packet longer than MAC.macMaxPacketSize";
    if (0 < radio_max_ && radio_max_ < packet + radio_overhead_)
        return "frame longer than Radio.maxPhyFrameSize";
    return std::nullopt;
}

}  // namespace roambus
