#include "local_connection.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "errors.h"
#include "messages.h"
#include "socket_file.h"

namespace roambus {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kChunkBytes = 1 << 16;

std::string length_of(std::string_view message) {
    std::string bytes;
    for (std::size_t k = 0; k < kLengthBytes; ++k)
        bytes.push_back(static_cast<char>(message.size() >> 8 * k));
    return bytes;
}

std::size_t length_in(const std::string& bytes) {
    std::size_t length = 0;
    for (std::size_t k = 0; k < kLengthBytes; ++k)
        length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[k])) << 8 * k;
    return length;
}

// No call waits longer.
void set_deadline(int socket, milliseconds deadline) {
    const timeval time{deadline.count() / 1000, deadline.count() % 1000 * 1000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

bool connect_to(int socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return false;
    std::memcpy(address.sun_path, path.data(), path.size());
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

LocalConnection::LocalConnection(const Session& session)
    : endpoint_(session.endpoint),
      deadline_(session.deadline),
      socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    set_deadline(socket_, deadline_);
    if (connect_to(socket_, path_of(endpoint_)))
        return;
    close(socket_);
    lose_host("no host listens at " + endpoint_ + ": it is gone, or this session is an old one's");
}

LocalConnection::~LocalConnection() {
    close(socket_);
}

void LocalConnection::send(std::string_view message) {
    if (message.size() > kMaxMessageBytes)
        throw BridgeError("a Step of " + std::to_string(message.size()) +
                          " bytes is more than a message may have; take a shorter processing delay");
    const std::string bytes = length_of(message) + std::string(message);
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count >= 0)
            sent += static_cast<std::size_t>(count);
        else if (errno != EINTR)
            lose_host("cannot send to the host at " + endpoint_ + ": " + std::strerror(errno));
    }
}

std::string LocalConnection::receive() {
    const Clock::time_point end = Clock::now() + deadline_;
    while (unread_.size() < kLengthBytes)
        read_some(end);
    const std::size_t length = length_in(unread_);
    if (length > kMaxMessageBytes)
        throw ProtocolError("the host sent a message of " + std::to_string(length) + " bytes");
    while (unread_.size() < kLengthBytes + length)
        read_some(end);
    std::string message = unread_.substr(kLengthBytes, length);
    unread_.erase(0, kLengthBytes + length);
    return message;
}

void LocalConnection::read_some(Clock::time_point end) {
    char chunk[kChunkBytes];
    const ssize_t count = recv(socket_, chunk, sizeof chunk, 0);
    if (count > 0)
        unread_.append(chunk, static_cast<std::size_t>(count));
    else if (count == 0 || (errno != EINTR && errno != EAGAIN))
        lose_host("the host at " + endpoint_ + " is gone: it ended, or speaks with another simulator already");
    if (count <= 0 && Clock::now() >= end)
        miss_deadline();
}

void LocalConnection::miss_deadline() {
    remove_socket_file(endpoint_);
    throw DeadlineMissed("the host at " + endpoint_ + " is frozen, or at work for longer than the " +
                         std::to_string(deadline_.count()) + " ms of the deadline");
}

void LocalConnection::lose_host(const std::string& why) {
    remove_socket_file(endpoint_);
    throw ConnectionLost(why);
}

}  // namespace roambus
