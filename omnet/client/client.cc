#include "client.h"

#include <stdexcept>
#include <utility>

#include "checks.h"
#include "codec.h"
#include "errors.h"

namespace roambus {
namespace {

const char* name_of(const FromHost& message) {
    static const char* const names[] = {"Welcome", "Reject", "Reply", "Goodbye", "Failed"};
    return names[message.index()];
}

std::string describe(const Failed& failed) {
    std::string text = "the host failed: " + failed.reason;
    if (failed.node)
        text += "; node " + std::to_string(*failed.node);
    if (failed.time)
        text += "; at " + std::to_string(*failed.time) + " ns";
    if (!failed.event.empty())
        text += "; on " + failed.event;
    return failed.traceback.empty() ? text : text + "\n" + failed.traceback;
}

}  // namespace

template <typename Action>
auto Client::guarded(Action action) {
    try {
        return action();
    } catch (const ProtocolError& error) {
        fail(error.what());
        throw;
    } catch (const BridgeError&) {
        phase_ = Phase::kEnd;
        throw;
    }
}

template <typename Expected, typename Message>
Expected Client::ask(const Message& message, const char* question) {
    channel_.send(encode(message));
    FromHost answer = decode(channel_.receive());
    if (auto* expected = std::get_if<Expected>(&answer))
        return std::move(*expected);
    if (const auto* failed = std::get_if<Failed>(&answer))
        throw HostFailed(describe(*failed));
    const auto* reject = std::get_if<Reject>(&answer);
    if (reject != nullptr && phase_ == Phase::kHandshake)
        throw HostRejected("the host rejects this simulation: " + reject->reason);
    throw ProtocolError(std::string("the host answered ") + question + " with " + name_of(answer));
}

Client::Client(Channel& channel, std::string token) : channel_(channel), token_(std::move(token)) {}

Welcome Client::hello(const Run& run) {
    require(Phase::kHandshake, "hello");
    run_ = run;
    const Hello hello{kProtocolVersion, schema_hash(), token_, kTimeResolution, run};
    const Welcome welcome = guarded([&] {
        const Welcome answer = ask<Welcome>(hello, "Hello");
        check(answer);
        return answer;
    });
    phase_ = Phase::kRunning;
    return welcome;
}

Reply Client::step(const Step& step) {
    require(Phase::kRunning, "step");
    return guarded([&] {
        Reply reply = ask<Reply>(step, "Step");
        check(reply, step, run_);
        return reply;
    });
}

void Client::finish(const Finished& finished) {
    require(Phase::kRunning, "finish");
    guarded([&] { return ask<Goodbye>(finished, "Finished"); });
    phase_ = Phase::kEnd;
}

void Client::fail(const std::string& reason) noexcept {
    if (phase_ == Phase::kEnd)
        return;
    phase_ = Phase::kEnd;
    try {
        channel_.send(encode(Failed{reason, {}, {}, {}, {}}));
    } catch (const std::exception&) {
        // The host cannot be told; the reason is thrown or logged here all the same.
    }
}

void Client::require(Phase phase, const char* call) const {
    if (phase_ != phase)
        throw std::logic_error(std::string("Client::") + call + " called out of order");
}

}  // namespace roambus
