// The connection to the host: a DEALER of ZeroMQ that never waits longer than the deadline.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "channel.h"
#include "session_file.h"

namespace roambus {

// Connects once, and does not reconnect. A host that ends is noticed within a few ms, a frozen one at three quarters of
// the deadline. When the host is lost its socket file and folder are removed.
class Connection : public Channel {
public:
    // Starts connecting; whether that succeeds shows at the first `receive`. Throws ConnectionLost for an endpoint that
    // cannot be used.
    explicit Connection(const Session& session);

    // Waits for half a second at most until what was sent is on its way.
    ~Connection() override;

    void send(std::string_view message) override;
    std::string receive() override;

private:
    struct Sockets;

    std::optional<std::string> take_message();
    void read_events();
    void note_event(int event);
    [[noreturn]] void lose_host();

    std::string endpoint_;
    std::chrono::milliseconds deadline_;
    bool was_connected_ = false;
    std::string loss_;  // why the host is lost; empty while it is not
    std::unique_ptr<Sockets> sockets_;
};

}  // namespace roambus
