#include "stand_in/misbehaviour.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "client/errors.h"
#include "wire.pb.h"

namespace roambus::stand_in {
namespace {

using Edit = void (*)(wire::FromSimulator& message, SimTime last_now);

void add_stranger(wire::FromSimulator& message, SimTime) {
    wire::Arrival& arrival = *message.mutable_step()->add_arrivals();
    arrival.set_time(message.step().now());
    arrival.set_payload("?");
    arrival.add_receivers(kBroadcast - 1);
    arrival.add_rssi_dbm(-50);
    arrival.add_lqi_db(50);
}

struct Wrong {
    wire::FromSimulator::BodyCase in;
    Edit edit;
};

const std::map<std::string, Wrong>& edits() {
    using Body = wire::FromSimulator;
    static const std::map<std::string, Wrong> all = {
        {"wrong-version", {Body::kHello, [](auto& m, SimTime) { m.mutable_hello()->set_protocol_version(kProtocolVersion + 1); }}},
        {"wrong-hash", {Body::kHello, [](auto& m, SimTime) { m.mutable_hello()->set_schema_hash("another"); }}},
        {"wrong-token", {Body::kHello, [](auto& m, SimTime) { m.mutable_hello()->set_token("another"); }}},
        {"node-out-of-range", {Body::kStep, add_stranger}},
        {"time-backwards", {Body::kStep, [](auto& m, SimTime last) { m.mutable_step()->set_now(last - 1); }}},
        {"wrong-counts",
         {Body::kFinished, [](auto& m, SimTime) { m.mutable_finished()->set_sends(m.finished().sends() + 1); }}},
    };
    return all;
}

wire::FromSimulator parse(std::string_view bytes) {
    wire::FromSimulator message;
    message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    return message;
}

}  // namespace

bool is_misbehaviour(const std::string& kind) {
    static const char* const others[] = {"garbage-after", "hello-after", "silent-after", "close-after", "exit-after"};
    return edits().count(kind) > 0 || std::find(std::begin(others), std::end(others), kind) != std::end(others);
}

UnrulyConnection::UnrulyConnection(const Session& session, const Misbehaviour& misbehaviour)
    : connection_(std::make_unique<Connection>(session)), misbehaviour_(misbehaviour) {}

void UnrulyConnection::send(std::string_view message) {
    const bool is_due = steps_ >= misbehaviour_.after;
    if (is_due && !hello_.empty())
        leave();
    connection_->send(is_due ? corrupted(message) : std::string(message));
    remember(message);
}

std::string UnrulyConnection::receive() {
    return connection_->receive();
}

std::string UnrulyConnection::corrupted(std::string_view message) const {
    if (const auto wrong = edits().find(misbehaviour_.kind); wrong != edits().end()) {
        wire::FromSimulator edited = parse(message);
        if (edited.body_case() == wrong->second.in)
            wrong->second.edit(edited, last_now_);
        return edited.SerializeAsString();
    }
    if (hello_.empty())
        return std::string(message);
    return misbehaviour_.kind == "hello-after" ? hello_ : "\xff\xff\xff\xff";
}

void UnrulyConnection::remember(std::string_view message) {
    const wire::FromSimulator sent = parse(message);
    if (sent.has_hello())
        hello_ = message;
    if (!sent.has_step())
        return;
    last_now_ = sent.step().now();
    ++steps_;
}

void UnrulyConnection::leave() {
    if (misbehaviour_.kind == "exit-after")
        std::_Exit(misbehaviour_.status);
    if (misbehaviour_.kind == "close-after") {
        connection_.reset();
        std::this_thread::sleep_for(std::chrono::minutes(1));
        std::_Exit(misbehaviour_.status);
    }
    while (misbehaviour_.kind == "silent-after") {
        try {
            connection_->receive();
        } catch (const DeadlineMissed&) {
            // The host lives and waits: go on saying nothing until ConnectionLost ends this.
        }
    }
}

}  // namespace roambus::stand_in
