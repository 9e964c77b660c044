#include "client/client.h"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "client/codec.h"
#include "client/errors.h"
#include "tests/host_messages.h"

using namespace roambus;
using namespace roambus::test;

namespace {

const Run kRun = run_of(3, 1000);

// A client in the running phase.
struct Running {
    explicit Running(const Run& run = kRun) {
        host.answer(welcome());
        client.hello(run);
    }
    PreparedHost host;
    Client client{host, "token"};
};

// The reason that the host was given for the end.
std::string told_reason(const PreparedHost& host) {
    return host.told.back().failed().reason();
}

void check_violation(const wire::ToSimulator& reply, const Step& step, const std::string& reason,
                     const Run& run = kRun) {
    Running running(run);
    running.host.answer(reply);
    CHECK_THROWS_AS(running.client.step(step), ProtocolError);
    CHECK(told_reason(running.host).find(reason) != std::string::npos);
}

wire::ToSimulator reply_with_wake_up(SimTime time) {
    wire::ToSimulator message;
    message.mutable_reply()->set_wake_up(time);
    return message;
}

// The course of `node` from `time` until `until`, to (x, 0).
wire::ToSimulator reply_with_course(SimTime time, NodeId node, SimTime until, double x = 3) {
    wire::ToSimulator message;
    wire::Course& course = *message.mutable_reply()->add_courses();
    course.set_time(time);
    course.set_node(node);
    course.set_y(2);
    course.set_until(until);
    course.set_to_x(x);
    return message;
}

Run steering(SimTime processing_delay = 0) {
    Run run = run_of(3, 1000, processing_delay);
    run.steers = true;
    return run;
}

}  // namespace

TEST_CASE("The client introduces itself with version, hash, token and run") {
    Running running;
    const wire::Hello& hello = running.host.told.front().hello();
    CHECK(hello.protocol_version() == kProtocolVersion);
    CHECK(hello.schema_hash() == schema_hash());
    CHECK(schema_hash().size() == 32);
    CHECK(hello.token() == "token");
    CHECK(hello.time_resolution() == -9);
    CHECK(hello.time_limit() == 1000);
    CHECK(hello.nodes_size() == 3);
}

TEST_CASE("A run goes from Hello through Steps to Goodbye") {
    Running running;
    running.host.answer(reply_with_send(7, 1, kBroadcast, "hi"));
    const Reply reply = running.client.step({7, false, {}, {}});
    REQUIRE(reply.sends.size() == 1);
    CHECK(reply.sends[0].time == 7);
    CHECK(reply.sends[0].node == 1);
    CHECK(*reply.sends[0].payload == "hi");
    CHECK_FALSE(reply.wake_up);
    running.host.answer(goodbye());
    running.client.finish({1, 0, {{"lost", {1, 2, 3}}}, {0.5, 0.5, 0.5}, {{0, 1, 2.0, 3.0}}});
    const wire::Finished& finished = running.host.told.back().finished();
    CHECK(finished.sends() == 1);
    CHECK(finished.counts(0).values(2) == 3);
    CHECK(finished.moves(0).y() == 3.0);
}

TEST_CASE("A Step carries arrivals and failures as the schema has them") {
    Running running;
    running.host.answer(empty_reply());
    const auto payload = std::make_shared<const std::string>("hi");
    running.client.step({9, true, {{8, 2, payload, {{0, -50, 40}, {1, -60, 30}}}}, {{9, 1, 0, payload, "full"}}});
    const wire::Step& step = running.host.told.back().step();
    CHECK(step.now() == 9);
    CHECK(step.more());
    CHECK(step.arrivals(0).time() == 8);
    CHECK(step.arrivals(0).sender() == 2);
    CHECK(step.arrivals(0).payload() == "hi");
    CHECK(step.arrivals(0).receivers(1) == 1);
    CHECK(step.arrivals(0).rssi_dbm(1) == -60);
    CHECK(step.arrivals(0).lqi_db(0) == 40);
    CHECK(step.failures(0).node() == 1);
    CHECK(step.failures(0).destination() == 0);
    CHECK(step.failures(0).reason() == "full");
}

TEST_CASE("A Reject carries the host's reason") {
    PreparedHost host;
    Client client(host, "token");
    wire::ToSimulator reject;
    reject.mutable_reject()->set_reason("the seed is 1, not 2");
    host.answer(reject);
    CHECK_THROWS_WITH_AS(client.hello(kRun), doctest::Contains("the seed is 1, not 2"), HostRejected);
}

TEST_CASE("A host that fails says where") {
    Running running;
    wire::ToSimulator message;
    wire::Failed& failed = *message.mutable_failed();
    failed.set_reason("ZeroDivisionError");
    failed.set_node(4);
    failed.set_time(12);
    failed.set_event("Started()");
    running.host.answer(message);
    CHECK_THROWS_WITH_AS(running.client.step({1, false, {}, {}}),
                         "the host failed: ZeroDivisionError; node 4; at 12 ns; on Started()", HostFailed);
}

TEST_CASE("Bytes that are no message are a violation, which the host is told of") {
    Running running;
    running.host.answer_bytes("\xff\xff");
    CHECK_THROWS_AS(running.client.step({1, false, {}, {}}), ProtocolError);
    CHECK(told_reason(running.host).find("2 bytes that are not a message") != std::string::npos);
}

TEST_CASE("A message that says nothing is a violation") {
    check_violation(wire::ToSimulator(), {1, false, {}, {}}, "says nothing");
}

TEST_CASE("An answer out of phase is a violation") {
    check_violation(welcome(), {1, false, {}, {}}, "answered Step with Welcome");
    check_violation(goodbye(), {1, false, {}, {}}, "answered Step with Goodbye");
    wire::ToSimulator reject;
    reject.mutable_reject();
    check_violation(reject, {1, false, {}, {}}, "answered Step with Reject");
}

TEST_CASE("A Welcome with a negative wake-up is a violation") {
    PreparedHost host;
    Client client(host, "token");
    wire::ToSimulator message = welcome();
    message.mutable_welcome()->set_wake_up(-1);
    host.answer(message);
    CHECK_THROWS_AS(client.hello(kRun), ProtocolError);
}

TEST_CASE("A wake-up must be after the Step, and only after the last of an instant") {
    check_violation(reply_with_wake_up(5), {5, false, {}, {}}, "which is past");
    check_violation(reply_with_wake_up(6), {5, true, {}, {}}, "more Steps");
    Running running;
    running.host.answer(reply_with_wake_up(6));
    CHECK(running.client.step({5, false, {}, {}}).wake_up == 6);
}

TEST_CASE("A send must not be before the Step, with a processing delay not at it") {
    check_violation(reply_with_send(4, 0, 1, "x"), {5, false, {}, {}}, "4 ns is too early");
    check_violation(reply_with_send(5, 0, 1, "x"), {5, false, {}, {}}, "5 ns is too early", run_of(3, 1000, 10));
}

TEST_CASE("A send must be of a node to a node or to all") {
    check_violation(reply_with_send(5, 3, 1, "x"), {5, false, {}, {}}, "node 3 does not exist");
    check_violation(reply_with_send(5, 0, 3, "x"), {5, false, {}, {}}, "node 3 does not exist");
    check_violation(reply_with_send(5, kBroadcast, 1, "x"), {5, false, {}, {}}, "node 65535 does not exist");
}

TEST_CASE("A payload must have 1 to 65535 bytes") {
    check_violation(reply_with_send(5, 0, 1, ""), {5, false, {}, {}}, "a payload of 0 bytes");
    check_violation(reply_with_send(5, 0, 1, std::string(65536, 'x')), {5, false, {}, {}}, "a payload of 65536 bytes");
}

TEST_CASE("A note must be of a node") {
    wire::ToSimulator message = empty_reply();
    message.mutable_reply()->add_notes()->set_node(3);
    check_violation(message, {5, false, {}, {}}, "node 3 does not exist");
}

TEST_CASE("A course comes as the schema has it") {
    Running running(steering());
    CHECK(running.host.told.front().hello().steers());
    running.host.answer(reply_with_course(5, 2, 9));
    const Reply reply = running.client.step({5, false, {}, {}});
    REQUIRE(reply.courses.size() == 1);
    const Course& course = reply.courses[0];
    CHECK(course.time == 5);
    CHECK(course.node == 2);
    CHECK(course.x == 0);
    CHECK(course.y == 2);
    CHECK(course.until == 9);
    CHECK(course.to_x == 3);
    CHECK(course.to_y == 0);
}

TEST_CASE("A course must be of a node, from now on, to its end and to a place") {
    const Step step{5, false, {}, {}};
    check_violation(reply_with_course(4, 0, 9), step, "4 ns is too early", steering());
    check_violation(reply_with_course(5, 0, 9), step, "5 ns is too early", steering(10));
    check_violation(reply_with_course(5, 3, 9), step, "node 3 does not exist", steering());
    check_violation(reply_with_course(6, 0, 5), step, "ends at 5 ns, before it begins", steering());
    check_violation(reply_with_course(6, 0, 7, std::nan("")), step, "no finite number", steering());
}

TEST_CASE("A simulator that moves no nodes gets no courses") {
    check_violation(reply_with_course(6, 0, 7), {5, false, {}, {}}, "moves no nodes");
}

TEST_CASE("Calls out of order are refused, also after the end") {
    PreparedHost host;
    Client client(host, "token");
    CHECK_THROWS_AS(client.step({1, false, {}, {}}), std::logic_error);
    client.fail("no more");
    CHECK(told_reason(host) == "no more");
    client.fail("again");
    CHECK(host.told.size() == 1);
    CHECK_THROWS_AS(client.hello(kRun), std::logic_error);
}
