#include "socket_file.h"

#include <filesystem>
#include <system_error>

namespace roambus {

void remove_socket_file(const std::string& endpoint) {
    const std::string scheme = "ipc://";
    if (endpoint.compare(0, scheme.size(), scheme) != 0)
        return;
    const std::filesystem::path path = endpoint.substr(scheme.size());
    std::error_code ignored;
    if (!std::filesystem::is_socket(path, ignored))
        return;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path.parent_path(), ignored);  // only an empty folder can be removed
}

}  // namespace roambus
