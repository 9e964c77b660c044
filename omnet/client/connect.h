// Chooses what carries the messages, by the endpoint of the session.
#pragma once

#include <memory>

#include "channel.h"
#include "session_file.h"

namespace roambus {

// A plain Unix socket for unix://PATH, ZeroMQ for everything else. Throws ConnectionLost.
std::unique_ptr<Channel> connect(const Session& session);

}  // namespace roambus
