// What a dead host leaves in the file system.
#pragma once

#include <string>

namespace roambus {

// Whether the endpoint is unix://PATH, a plain Unix socket.
bool is_local(const std::string& endpoint);

// The path in ipc://PATH and unix://PATH; empty for other endpoints.
std::string path_of(const std::string& endpoint);

// Removes the socket of an ipc:// or unix:// endpoint whose host is gone, and its folder if nothing else is in it. Removes no file
// that is not a socket; does nothing for other endpoints, nor if the host was here first.
void remove_socket_file(const std::string& endpoint);

}  // namespace roambus
