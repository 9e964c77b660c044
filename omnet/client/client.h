// The simulator's side of the protocol: its phases, and the checks of what the host says.
#pragma once

#include <string>

#include "channel.h"
#include "messages.h"

namespace roambus {

// One run with one host: `hello`, then `step` any number of times, then `finish`. Called out of this order, they throw
// std::logic_error. When the host misbehaves it is told so with a Failed before the error is thrown; after any error
// the client is at its end.
class Client {
public:
    // `channel` must outlive the client; `token` is the session's.
    Client(Channel& channel, std::string token);

    // Throws HostRejected, or as `step`.
    Welcome hello(const Run& run);

    // Throws HostFailed, ProtocolError, ConnectionLost or DeadlineMissed.
    Reply step(const Step& step);

    // Returns when the host has said goodbye; throws as `step`.
    void finish(const Finished& finished);

    // Tells the host that the simulation cannot go on, unless the run is over already.
    void fail(const std::string& reason) noexcept;

private:
    enum class Phase { kHandshake, kRunning, kEnd };

    void require(Phase phase, const char* call) const;
    template <typename Action>
    auto guarded(Action action);
    template <typename Expected, typename Message>
    Expected ask(const Message& message, const char* question);

    Channel& channel_;
    std::string token_;
    Run run_;
    Phase phase_ = Phase::kHandshake;
};

}  // namespace roambus
