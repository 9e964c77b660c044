#include "connection.h"

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "errors.h"
#include "messages.h"
#include "socket_file.h"

namespace roambus {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kLingerMs = 500;
constexpr int kTickMs = 20;  // how often a wait looks whether the host is lost
constexpr const char* kMonitorEndpoint = "inproc://monitor";

// A context of ZeroMQ; its sockets must be closed before it is.
class Context {
public:
    Context() : handle_(zmq_ctx_new()) {}
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() {
        while (zmq_ctx_term(handle_) != 0 && errno == EINTR) {
        }
    }
    void* handle() const { return handle_; }

private:
    void* handle_;
};

class Socket {
public:
    Socket(const Context& context, int type) : handle_(zmq_socket(context.handle(), type)) { set(ZMQ_LINGER, 0); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() { zmq_close(handle_); }

    void* handle() const { return handle_; }
    void set(int option, int value) { zmq_setsockopt(handle_, option, &value, sizeof value); }
    void set(int option, std::int64_t value) { zmq_setsockopt(handle_, option, &value, sizeof value); }
    void set(int option, const std::string& value) { zmq_setsockopt(handle_, option, value.c_str(), value.size()); }

private:
    void* handle_;
};

class Message {
public:
    Message() { zmq_msg_init(&message_); }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    ~Message() { zmq_msg_close(&message_); }

    // Whether there was one before the socket's time ran out, or, with `flags` ZMQ_DONTWAIT, at once.
    bool receive(const Socket& socket, int flags = 0) { return zmq_msg_recv(&message_, socket.handle(), flags) >= 0; }
    bool has_more() const { return zmq_msg_more(&message_) != 0; }
    std::string_view bytes() {
        return {static_cast<const char*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
    }

private:
    zmq_msg_t message_;
};

void set_options(Socket& dealer, const Session& session) {
    const int deadline = static_cast<int>(session.deadline.count());
    dealer.set(ZMQ_RCVTIMEO, std::min(kTickMs, deadline));
    dealer.set(ZMQ_RECONNECT_IVL, -1);
    dealer.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(kMaxMessageBytes));
    // A frozen host is noticed soon after three quarters of the deadline, before a live one would be late.
    dealer.set(ZMQ_HANDSHAKE_IVL, std::max(1, deadline * 3 / 4));
    dealer.set(ZMQ_HEARTBEAT_IVL, std::max(1, deadline / 8));
    dealer.set(ZMQ_HEARTBEAT_TIMEOUT, std::max(1, deadline * 3 / 4));
    dealer.set(ZMQ_HEARTBEAT_TTL, std::max(1, deadline * 3 / 4));
}

// Throws SessionError.
void set_keys(Socket& dealer, const CurveKeys& keys) {
    dealer.set(ZMQ_CURVE_SERVERKEY, keys.server_key);
    dealer.set(ZMQ_CURVE_PUBLICKEY, keys.public_key);
    dealer.set(ZMQ_CURVE_SECRETKEY, keys.secret_key);
    int mechanism = ZMQ_NULL;
    std::size_t size = sizeof mechanism;
    zmq_getsockopt(dealer.handle(), ZMQ_MECHANISM, &mechanism, &size);
    if (mechanism != ZMQ_CURVE)
        throw SessionError("the session's keys are no keys of CURVE, or this libzmq was built without it");
}

std::string seconds(milliseconds duration) {
    const std::string text = std::to_string(static_cast<double>(duration.count()) / 1000);
    return text.substr(0, text.find('.') + 4) + " s";
}

}  // namespace

struct Connection::Sockets {
    Context context;
    Socket dealer{context, ZMQ_DEALER};
    Socket monitor{context, ZMQ_PAIR};
};

Connection::Connection(const Session& session)
    : endpoint_(session.endpoint), deadline_(session.deadline), sockets_(std::make_unique<Sockets>()) {
    Socket& dealer = sockets_->dealer;
    set_options(dealer, session);
    if (session.keys)
        set_keys(dealer, *session.keys);
    constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                            ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                            ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    zmq_socket_monitor(dealer.handle(), kMonitorEndpoint, kEvents);
    zmq_connect(sockets_->monitor.handle(), kMonitorEndpoint);
    if (zmq_connect(dealer.handle(), endpoint_.c_str()) != 0)
        throw ConnectionLost("cannot connect to " + endpoint_ + ": " + zmq_strerror(errno));
}

Connection::~Connection() {
    // Not before: what was meant for a host that is lost would linger as well.
    if (loss_.empty())
        sockets_->dealer.set(ZMQ_LINGER, kLingerMs);
}

void Connection::send(std::string_view message) {
    if (message.size() > kMaxMessageBytes)
        throw BridgeError("a Step of " + std::to_string(message.size()) +
                          " bytes is more than a message may have; take a shorter processing delay");
    while (zmq_send(sockets_->dealer.handle(), message.data(), message.size(), ZMQ_DONTWAIT) < 0) {
        if (errno == EINTR)
            continue;
        const std::string error = zmq_strerror(errno);
        read_events();  // they say why nobody is there to send to, such as keys that are others
        if (loss_.empty())
            loss_ = "cannot send to the host at " + endpoint_ + ": " + error;
        lose_host();
    }
}

std::string Connection::receive() {
    const Clock::time_point end = Clock::now() + deadline_;
    for (;;) {
        if (std::optional<std::string> message = take_message())
            return std::move(*message);
        if (!loss_.empty())
            lose_host();
        read_events();
        if (loss_.empty() && Clock::now() >= end)
            throw DeadlineMissed("the host at " + endpoint_ + " is alive, but has not answered for " +
                                 seconds(deadline_));
    }
}

std::optional<std::string> Connection::take_message() {
    Message message;
    if (!message.receive(sockets_->dealer))
        return std::nullopt;
    if (message.has_more())
        throw ProtocolError("the host sent a message of several parts");
    return std::string(message.bytes());
}

void Connection::read_events() {
    Message event, address;
    while (event.receive(sockets_->monitor, ZMQ_DONTWAIT) && address.receive(sockets_->monitor, ZMQ_DONTWAIT)) {
        std::uint16_t number = 0;
        std::memcpy(&number, event.bytes().data(), sizeof number);
        note_event(number);
    }
}

void Connection::note_event(int event) {
    if (event == ZMQ_EVENT_CONNECTED)
        was_connected_ = true;
    else if (!loss_.empty())
        return;  // the first loss is the cause of what follows
    else if (!was_connected_)
        loss_ = "no host listens at " + endpoint_ + ": it is gone, or this session is an old one's";
    else if (event == ZMQ_EVENT_DISCONNECTED || event == ZMQ_EVENT_CLOSED)
        loss_ = "the host at " + endpoint_ +
                " is gone: it ended, froze, sent more than 64 MiB, or speaks with another simulator already";
    else
        loss_ = "what listens at " + endpoint_ + " is frozen, or no host of this session, or its keys are others";
}

void Connection::lose_host() {
    remove_socket_file(endpoint_);
    throw ConnectionLost(loss_);
}

}  // namespace roambus
