// The connection to the host: a DEALER of ZeroMQ that never waits longer than the deadline.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "channel.h"
#include "session_file.h"

namespace roambus {

// Connects once, and does not reconnect. Removes the host's socket file and its folder when the host is lost.
class Connection : public Channel {
public:
    // Starts connecting; whether that succeeds shows at the first `receive`. Throws ConnectionLost for an endpoint that
    // cannot be used.
    explicit Connection(const Session& session);

    // Waits for unsent messages for half a second at most.
    ~Connection() override;

    void send(std::string_view message) override;
    std::string receive() override;

private:
    struct Sockets;

    void set_options(const Session& session);
    void wait();
    bool host_is_lost();
    [[noreturn]] void lose_host();

    std::string endpoint_;
    std::chrono::milliseconds deadline_;
    bool was_connected_ = false;
    std::string loss_;
    std::unique_ptr<Sockets> sockets_;
};

}  // namespace roambus
