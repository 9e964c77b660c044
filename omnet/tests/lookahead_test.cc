#include "client/lookahead.h"

#include <doctest/doctest.h>

#include "tests/host_messages.h"

using namespace roambus;
using namespace roambus::test;

namespace {

constexpr SimTime kLimit = 1000;

const Payload kTwo = std::make_shared<const std::string>("hi");
const Payload kLong = std::make_shared<const std::string>(20, 'x');

// What is known when a simulator knows `known`, and these sends wait.
Quiet quiet(Quiet known, const std::deque<Send>& waiting, SimTime processing_delay = 0) {
    Run run = run_of(9, kLimit, processing_delay);
    run.transit = {100, 10, 10};
    return *Lookahead(run, [&] { return known; }).quiet(waiting);
}

}  // namespace

TEST_CASE("Without an outlook nothing is known") {
    CHECK_FALSE(Lookahead(run_of(9, kLimit), {}).quiet({}));
}

TEST_CASE("What nobody sends cannot arrive before the time limit") {
    CHECK(quiet({5000, 3}, {}).until == kLimit);
}

TEST_CASE("A packet that waits arrives after its time on the air at the earliest") {
    CHECK(quiet({900, 3}, {{50, 0, kBroadcast, kTwo}}).until == 170);
    CHECK(quiet({160, 3}, {{50, 0, kBroadcast, kTwo}}).until == 160);
}

TEST_CASE("Packets that wait take the room of their node") {
    const std::deque<Send> waiting{{50, 0, kBroadcast, kTwo}, {51, 1, kBroadcast, kTwo}, {52, 1, kBroadcast, kTwo}};
    CHECK(quiet({900, 3}, waiting).room == 1);
}

TEST_CASE("Nothing is known of the time after a packet that may be refused") {
    CHECK(quiet({900, 0}, {{50, 0, kBroadcast, kTwo}}).until == 51);
    CHECK(quiet({900, 3}, {{50, 0, kBroadcast, kLong}}).until == 51);
    CHECK(quiet({900, 0}, {{50, 0, kBroadcast, kTwo}}, 7).until == 50);
}
