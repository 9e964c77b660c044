#pragma once

#include "client/messages.h"
#include "node/application/ApplicationPacket_m.h"

namespace roambus {

// A packet that carries real bytes, and is as long as they are. Its copies share them.
class BytesPacket : public ApplicationPacket {
public:
    BytesPacket(NodeId sender, Payload payload);

    BytesPacket* dup() const override { return new BytesPacket(*this); }

    // The index of the node that sent it.
    NodeId sender() const { return sender_; }
    const Payload& payload() const { return payload_; }

private:
    NodeId sender_;
    Payload payload_;
};

}  // namespace roambus
