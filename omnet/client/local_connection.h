// The connection to a host on the same machine: a plain Unix socket, on which each message follows its length, four
// bytes with the lowest first.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "channel.h"
#include "session_file.h"

namespace roambus {

// Connects once, and does not reconnect. A host that ends is noticed at once, a frozen one at the deadline. When the
// host is lost its socket file and folder are removed.
class LocalConnection : public Channel {
public:
    // Throws ConnectionLost if nobody listens.
    explicit LocalConnection(const Session& session);

    LocalConnection(const LocalConnection&) = delete;
    LocalConnection& operator=(const LocalConnection&) = delete;
    ~LocalConnection() override;

    void send(std::string_view message) override;
    std::string receive() override;

private:
    void read_some(std::chrono::steady_clock::time_point end);
    [[noreturn]] void miss_deadline();
    [[noreturn]] void lose_host(const std::string& why);

    std::string endpoint_;
    std::chrono::milliseconds deadline_;
    int socket_;
    std::string unread_;
};

}  // namespace roambus
