// What a dead host leaves in the file system.
#pragma once

#include <string>

namespace roambus {

// The path in ipc://PATH; empty for other endpoints.
std::string path_of(const std::string& endpoint);

// Removes the socket of an ipc:// endpoint whose host is gone, and its folder if nothing else is in it. Removes no file
// that is not a socket; does nothing for other endpoints, nor if the host was here first.
void remove_socket_file(const std::string& endpoint);

}  // namespace roambus
