#include "socket_file.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace roambus {

namespace {

constexpr std::string_view kZeroMq = "ipc://";
constexpr std::string_view kLocal = "unix://";

bool has(std::string_view scheme, const std::string& endpoint) {
    return endpoint.compare(0, scheme.size(), scheme) == 0;
}

}  // namespace

bool is_local(const std::string& endpoint) {
    return has(kLocal, endpoint);
}

std::string path_of(const std::string& endpoint) {
    for (const std::string_view scheme : {kZeroMq, kLocal})
        if (has(scheme, endpoint))
            return endpoint.substr(scheme.size());
    return "";
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
