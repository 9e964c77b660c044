#include "socket_file.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace roambus {

namespace {

constexpr std::string_view kScheme = "ipc://";

}  // namespace

std::string path_of(const std::string& endpoint) {
    return endpoint.compare(0, kScheme.size(), kScheme) == 0 ? endpoint.substr(kScheme.size()) : "";
}

void remove_socket_file(const std::string& endpoint) {
    const std::filesystem::path path = path_of(endpoint);
    std::error_code ignored;
    if (!std::filesystem::is_socket(path, ignored))
        return;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path.parent_path(), ignored);  // only an empty folder can be removed
}

}  // namespace roambus
