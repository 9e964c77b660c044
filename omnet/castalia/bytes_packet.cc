#include "bytes_packet.h"

#include <utility>

#include "CastaliaMessages.h"

namespace roambus {

BytesPacket::BytesPacket(NodeId sender, Payload payload)
    : ApplicationPacket("bytes", APPLICATION_PACKET), sender_(sender), payload_(std::move(payload)) {
    setByteLength(static_cast<std::int64_t>(payload_->size()));
}

}  // namespace roambus
