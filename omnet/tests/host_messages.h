// A host made of prepared answers, for the tests of the client.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/channel.h"
#include "client/messages.h"
#include "wire.pb.h"

namespace roambus::test {

// Answers in order; keeps what it was told.
class PreparedHost : public Channel {
public:
    void answer(const wire::ToSimulator& message) { answers_.push_back(message.SerializeAsString()); }
    void answer_bytes(std::string bytes) { answers_.push_back(std::move(bytes)); }

    void send(std::string_view message) override {
        wire::FromSimulator& parsed = told.emplace_back();
        parsed.ParseFromArray(message.data(), static_cast<int>(message.size()));
    }

    std::string receive() override {
        std::string next = answers_.at(0);
        answers_.pop_front();
        return next;
    }

    std::vector<wire::FromSimulator> told;

private:
    std::deque<std::string> answers_;
};

inline wire::ToSimulator welcome(bool batching = true) {
    wire::ToSimulator message;
    message.mutable_welcome()->set_batching(batching);
    return message;
}

inline wire::ToSimulator empty_reply() {
    wire::ToSimulator message;
    message.mutable_reply();
    return message;
}

inline wire::ToSimulator reply_with_send(SimTime time, NodeId node, NodeId destination, std::string payload) {
    wire::ToSimulator message;
    wire::Send& send = *message.mutable_reply()->add_sends();
    send.set_time(time);
    send.set_node(node);
    send.set_destination(destination);
    send.set_payload(std::move(payload));
    return message;
}

inline wire::ToSimulator goodbye() {
    wire::ToSimulator message;
    message.mutable_goodbye();
    return message;
}

inline Run run_of(std::size_t nodes, SimTime time_limit, SimTime processing_delay = 0) {
    return {"test", 1, time_limit, processing_delay, std::vector<Node>(nodes), false};
}

}  // namespace roambus::test
