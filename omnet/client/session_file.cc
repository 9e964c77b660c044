#include "session_file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "errors.h"
#include "socket_file.h"

namespace roambus {
namespace {

constexpr long kMaxDeadlineMs = 24L * 60 * 60 * 1000;

using Fields = std::map<std::string, std::string>;

const char* const kNames[] = {"endpoint", "token", "deadline_ms", "server_key", "public_key", "secret_key"};

[[noreturn]] void reject(const std::string& path, const std::string& fault) {
    throw SessionError(path + ": " + fault + "; let the host write this file anew");
}

bool starts_with(const std::string& text, const std::string& start) {
    return text.compare(0, start.size(), start) == 0;
}

Fields read_fields(std::istream& lines, const std::string& path) {
    Fields fields;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const std::string place = "line " + std::to_string(number) + ": ";
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos)
            reject(path, place + "no name=value");
        const std::string name = line.substr(0, equals);
        if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames))
            reject(path, place + "the name \"" + name + "\" is not known");
        if (!fields.emplace(name, line.substr(equals + 1)).second)
            reject(path, place + name + " is there twice");
    }
    return fields;
}

const std::string& field(const Fields& fields, const std::string& name, const std::string& path) {
    const auto found = fields.find(name);
    if (found == fields.end())
        reject(path, name + " is missing");
    return found->second;
}

std::string read_token(const Fields& fields, const std::string& path) {
    const std::string& token = field(fields, "token", path);
    if (token.size() != 32 || token.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        reject(path, "token is not 32 hexadecimal digits");
    return token;
}

std::chrono::milliseconds read_deadline(const Fields& fields, const std::string& path) {
    const std::string& text = field(fields, "deadline_ms", path);
    const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    const long value = digits ? std::stol(text) : 0;
    if (value < 1 || value > kMaxDeadlineMs)
        reject(path, "deadline_ms=" + text + " is not between 1 and " + std::to_string(kMaxDeadlineMs));
    return std::chrono::milliseconds(value);
}

std::string read_key(const Fields& fields, const std::string& name, const std::string& path) {
    const std::string& key = field(fields, name, path);
    if (key.size() != 40)
        reject(path, name + " is not a key of 40 characters");
    return key;
}

std::optional<CurveKeys> read_keys(const Fields& fields, const std::string& path) {
    if (!fields.count("server_key") && !fields.count("public_key") && !fields.count("secret_key"))
        return std::nullopt;
    return CurveKeys{read_key(fields, "server_key", path), read_key(fields, "public_key", path),
                     read_key(fields, "secret_key", path)};
}

bool is_loopback(const std::string& endpoint) {
    const char* const starts[] = {"tcp://127.", "tcp://localhost:", "tcp://[::1]:"};
    return std::any_of(std::begin(starts), std::end(starts),
                       [&](const char* start) { return starts_with(endpoint, start); });
}

void check_endpoint(const Session& session, const std::string& path) {
    const bool tcp = starts_with(session.endpoint, "tcp://");
    if (!tcp && path_of(session.endpoint).empty())
        reject(path, "endpoint=" + session.endpoint + " is neither ipc://PATH nor tcp://HOST:PORT");
    if (tcp && !is_loopback(session.endpoint) && !session.keys)
        reject(path, "endpoint=" + session.endpoint + " is another machine's, which needs keys");
}

}  // namespace

std::string session_path(const std::string& folder) {
    const char* const named = std::getenv("ROAMBUS_SESSION");
    return named != nullptr && *named != '\0' ? named : folder + "/.roambus/session";
}

std::string no_host(const std::string& file) {
    return "no host waits for this simulation: cannot read " + file +
           "; start `roambus run --endpoint local` first, or use `roambus run --backend castalia`";
}

Session parse_session(std::istream& lines, const std::string& path) {
    const Fields fields = read_fields(lines, path);
    Session session{field(fields, "endpoint", path), read_token(fields, path), read_deadline(fields, path),
                    read_keys(fields, path)};
    check_endpoint(session, path);
    return session;
}

Session read_session(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw SessionError(no_host(path));
    return parse_session(file, path);
}

}  // namespace roambus
