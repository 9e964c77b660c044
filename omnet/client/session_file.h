// The file in which the host leaves what a simulator needs to reach it.
#pragma once

#include <chrono>
#include <istream>
#include <optional>
#include <string>

namespace roambus {

// Keys of CURVE, each Z85 of 40 characters.
struct CurveKeys {
    std::string server_key;
    std::string public_key;
    std::string secret_key;
};

struct Session {
    std::string endpoint;
    std::string token;
    std::chrono::milliseconds deadline{0};
    std::optional<CurveKeys> keys;
};

// Where the session file is: $ROAMBUS_SESSION, or .roambus/session in `folder`.
std::string session_path(const std::string& folder = ".");

// What to tell whoever started a simulation for which no host has left this file.
std::string no_host(const std::string& file);

// Throws SessionError, which names the file, the line and what to do.
Session read_session(const std::string& path);

// The same from a stream; `path` is for the errors.
Session parse_session(std::istream& lines, const std::string& path);

}  // namespace roambus
