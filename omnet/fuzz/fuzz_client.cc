// `fuzz-client COUNT [SEED]`: gives the client COUNT damaged answers of a host. Ends with 1 at the first answer that it
// neither accepts nor rejects as docs/reference/bridge.md has it, or if memory grows.
#include <google/protobuf/stubs/logging.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "client/client.h"
#include "client/errors.h"
#include "fuzz/mutator.h"
#include "wire.pb.h"

using namespace roambus;

// Freed memory is kept back from reuse, to find who still uses it: not too much of it.
extern "C" const char* __asan_default_options() {
    return "quarantine_size_mb=16";
}

namespace {

constexpr long kMostMemoryKib = 256 * 1024;
constexpr SimTime kNow = 1000;

const Run kRun{"fuzz", 1, 1000000, 10, std::vector<Node>(20), true, {}, {}, true};

// Answers everything with one message.
class OneAnswer : public Channel {
public:
    void send(std::string_view message) override { told_.assign(message); }
    std::string receive() override { return answer; }

    // Whether the last thing that the host was told is that it failed.
    bool told_failure() const {
        wire::FromSimulator message;
        return message.ParseFromString(told_) && message.has_failed();
    }

    std::string answer;

private:
    std::string told_;
};

wire::ToSimulator reply(int sends, int others) {
    wire::ToSimulator message;
    wire::Reply& body = *message.mutable_reply();
    body.set_wake_up(kNow + 500);
    for (int i = 0; i < sends; ++i) {
        wire::Send& send = *body.add_sends();
        send.set_time(kNow + 10 + i);
        send.set_node(i);
        send.set_destination(i % 2 == 0 ? kBroadcast : i + 1);
        send.set_payload(std::string(1 + 7 * i, 'p'));
    }
    for (int i = 0; i < others; ++i) {
        wire::Note& note = *body.add_notes();
        note.set_time(kNow);
        note.set_node(i);
        note.set_text("noted");
        wire::Course& course = *body.add_courses();
        course.set_time(kNow + 10 + i);
        course.set_node(i);
        course.set_until(kNow + 100);
        course.set_to_x(2.5 * i);
    }
    return message;
}

std::vector<std::string> valid_messages() {
    wire::ToSimulator welcome, reject, goodbye, failed;
    welcome.mutable_welcome()->set_wake_up(7);
    welcome.mutable_welcome()->set_batching(true);
    reject.mutable_reject()->set_reason("the seed is another");
    goodbye.mutable_goodbye();
    failed.mutable_failed()->set_reason("broken");
    failed.mutable_failed()->set_node(3);
    failed.mutable_failed()->set_time(kNow);
    failed.mutable_failed()->set_traceback("here\nthere");
    std::vector<std::string> all;
    for (const auto& message : {welcome, reject, goodbye, failed, reply(0, 0), reply(1, 0), reply(0, 2), reply(12, 3)})
        all.push_back(message.SerializeAsString());
    return all;
}

std::string valid_welcome() {
    wire::ToSimulator message;
    message.mutable_welcome();
    return message.SerializeAsString();
}

void demand(bool holds, const char* what) {
    if (!holds)
        throw std::logic_error(what);
}

// What every accepted Reply fulfils, said once more in other words than the client's.
void demand_sound(const Reply& reply) {
    demand(reply.wake_up.value_or(kNow + 1) > kNow, "a past wake-up was accepted");
    for (const Send& send : reply.sends) {
        demand(send.time > kNow, "a past send was accepted");
        demand(send.node < 20, "a send of a node that does not exist was accepted");
        demand(send.destination < 20 || send.destination == kBroadcast, "a send to nowhere was accepted");
        demand(!send.payload->empty() && send.payload->size() < 65536, "a payload of wrong size was accepted");
    }
    for (const Course& course : reply.courses) {
        demand(course.time > kNow && course.until >= course.time, "a past course was accepted");
        demand(course.node < 20, "a course of a node that does not exist was accepted");
        for (const double coordinate : {course.x, course.y, course.to_x, course.to_y})
            demand(std::isfinite(coordinate), "a course to nowhere was accepted");
    }
}

// Feeds `answer` to a fresh client as the answer to Hello, Step or Finished; returns whether it was accepted.
bool feed(std::string answer, std::size_t phase) {
    OneAnswer host;
    Client client(host, "token");
    try {
        if (phase > 0) {
            host.answer = valid_welcome();
            client.hello(kRun);
        }
        host.answer = std::move(answer);
        if (phase == 0)
            client.hello(kRun);
        else if (phase == 1)
            demand_sound(client.step({kNow, false, {}, {}}));
        else
            client.finish({});
        return true;
    } catch (const ProtocolError&) {
        demand(host.told_failure(), "the host was not told of its violation");
    } catch (const BridgeError&) {
        demand(!host.told_failure(), "a host that gave up was told so");
    }
    return false;
}

std::string hex(const std::string& bytes) {
    std::ostringstream text;
    for (const char value : bytes)
        text << std::hex << std::setw(2) << std::setfill('0') << static_cast<int>(static_cast<unsigned char>(value));
    return text.str();
}

// Not getrusage's: that counts the memory of whoever started us.
long peak_memory_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string name; status >> name; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        long kib = 0;
        if (name == "VmHWM:" && status >> kib)
            return kib;
    }
    return 0;
}

// Returns how many answers were accepted.
std::uint64_t run(std::uint64_t count, std::uint64_t seed) {
    fuzz::Mutator mutator(seed, valid_messages());
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string answer = mutator.next();
        try {
            accepted += feed(answer, mutator.pick(3));
        } catch (const std::exception& error) {
            throw std::runtime_error("answer " + std::to_string(i) + " (" + hex(answer) + "): " + error.what());
        }
    }
    demand(peak_memory_kib() < kMostMemoryKib, "memory grew");
    return accepted;
}

}  // namespace

int main(int argc, char** argv) {
    google::protobuf::SetLogHandler(nullptr);  // it would comment on each broken text
    if (argc < 2) {
        std::cerr << "usage: fuzz-client COUNT [SEED]\n";
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    try {
        const std::uint64_t accepted = run(count, seed);
        std::cout << count << " answers, " << accepted << " accepted, peak memory " << peak_memory_kib() / 1024
                  << " MiB\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "fuzz-client, seed " << seed << ": " << error.what() << "\n";
        return 1;
    }
}
