// What can go wrong between the simulator and its host. Every message is for the person who started the run.
#pragma once

#include <stdexcept>

namespace roambus {

// Anything that ends the run; catch this one.
class BridgeError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The session file is missing or wrong.
class SessionError : public BridgeError {
    using BridgeError::BridgeError;
};

// The host sent what docs/reference/bridge.md forbids.
class ProtocolError : public BridgeError {
    using BridgeError::BridgeError;
};

// The host did not want this simulator: its Reject.
class HostRejected : public BridgeError {
    using BridgeError::BridgeError;
};

// The host gave up: its Failed.
class HostFailed : public BridgeError {
    using BridgeError::BridgeError;
};

// The connection did not come about, or is gone: the host closed it, died, or froze.
class ConnectionLost : public BridgeError {
    using BridgeError::BridgeError;
};

// The host is there, but did not answer in time.
class DeadlineMissed : public BridgeError {
    using BridgeError::BridgeError;
};

}  // namespace roambus
