// What carries messages to the host and back: a socket, or a test.
#pragma once

#include <string>
#include <string_view>

namespace roambus {

class Channel {
public:
    virtual ~Channel() = default;

    // Returns at once; throws BridgeError if the message cannot be sent.
    virtual void send(std::string_view message) = 0;

    // The host's next message; throws ConnectionLost, DeadlineMissed or ProtocolError.
    virtual std::string receive() = 0;
};

}  // namespace roambus
