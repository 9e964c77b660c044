#include "client/collector.h"

#include <doctest/doctest.h>

#include <deque>
#include <limits>

#include "tests/host_messages.h"

using namespace roambus;
using namespace roambus::test;

namespace {

constexpr SimTime kLimit = 1000;

const Payload kHi = std::make_shared<const std::string>("hi");
const Payload kHo = std::make_shared<const std::string>("ho");

// A collector whose Steps are kept, and answered with prepared replies, or with nothing.
struct Bench {
    Bench(SimTime processing_delay, bool batching, std::optional<SimTime> wake_up = {})
        : collector(run_of(9, kLimit, processing_delay), {wake_up, batching}, [this](const Step& step) {
              steps.push_back(step);
              if (replies.empty())
                  return Reply{};
              Reply reply = std::move(replies.front());
              replies.pop_front();
              return reply;
          }) {}

    void arrive(SimTime time, NodeId sender, const Payload& payload, NodeId receiver) {
        collector.arrived(time, sender, payload, {receiver, -50, 50});
    }

    std::vector<Step> steps;
    std::deque<Reply> replies;
    Collector collector;
};

std::vector<NodeId> receivers(const Step& step) {
    std::vector<NodeId> all;
    for (const Arrival& arrival : step.arrivals)
        for (const Reception& reception : arrival.receptions)
            all.push_back(reception.receiver);
    return all;
}

Reply sending(std::vector<SimTime> times) {
    Reply reply;
    for (const SimTime time : times)
        reply.sends.push_back({time, static_cast<NodeId>(reply.sends.size()), kBroadcast, kHi});
    return reply;
}

Moment first(SimTime time) {
    return {time, Turn::kFirst};
}

Moment last(SimTime time) {
    return {time, Turn::kLast};
}

}  // namespace

TEST_CASE("Nothing is to be done before something happens") {
    Bench bench(0, true);
    CHECK_FALSE(bench.collector.next());
    CHECK(bench.collector.act().empty());
    CHECK(bench.steps.empty());
}

TEST_CASE("An instant becomes one Step at its end") {
    Bench bench(0, true);
    bench.arrive(5, 0, kHi, 2);
    bench.arrive(5, 0, kHi, 1);
    bench.arrive(5, 3, kHo, 1);
    bench.collector.failed({5, 4, kBroadcast, kHi, "full"});
    CHECK(bench.collector.next() == last(5));
    bench.collector.act();
    REQUIRE(bench.steps.size() == 1);
    CHECK(bench.steps[0].now == 5);
    CHECK_FALSE(bench.steps[0].more);
    CHECK(bench.steps[0].failures.size() == 1);
    CHECK_FALSE(bench.collector.next());
}

TEST_CASE("Arrivals of one packet that follow each other travel together") {
    Bench bench(0, true);
    bench.arrive(5, 0, kHi, 2);
    bench.arrive(5, 0, kHi, 1);
    bench.arrive(5, 3, kHo, 1);
    bench.arrive(5, 0, kHi, 3);
    bench.collector.act();
    REQUIRE(bench.steps[0].arrivals.size() == 3);
    CHECK(bench.steps[0].arrivals[0].receptions.size() == 2);
    CHECK(receivers(bench.steps[0]) == std::vector<NodeId>{2, 1, 1, 3});
    CHECK(bench.collector.deliveries() == 4);
}

TEST_CASE("A wake-up makes a Step of nothing, and the reply's wake-up replaces it") {
    Bench bench(0, true, 3);
    bench.replies = {{{}, 8, {}}, {}};
    CHECK(bench.collector.next() == last(3));
    bench.collector.act();
    CHECK(bench.steps[0].now == 3);
    CHECK(bench.steps[0].arrivals.empty());
    CHECK(bench.collector.next() == last(8));
    bench.collector.act();
    CHECK_FALSE(bench.collector.next());
}

TEST_CASE("Without processing delay sends take effect at the end of their instant, in their order") {
    Bench bench(0, true, 5);
    bench.replies = {sending({5, 5})};
    const std::vector<Send> sends = bench.collector.act();
    REQUIRE(sends.size() == 2);
    CHECK(sends[0].node == 0);
    CHECK(sends[1].node == 1);
    CHECK(bench.collector.sends() == 2);
}

TEST_CASE("A send that fails at once is told in another Step of the same instant") {
    Bench bench(0, true, 5);
    bench.replies = {sending({5})};
    bench.collector.act();
    bench.collector.failed({5, 0, kBroadcast, kHi, "full"});
    CHECK(bench.collector.next() == last(5));
    bench.collector.act();
    REQUIRE(bench.steps.size() == 2);
    CHECK(bench.steps[1].now == 5);
    CHECK(bench.steps[1].failures[0].reason == "full");
}

TEST_CASE("The first event opens a window of one processing delay") {
    Bench bench(10, true, 18);
    bench.arrive(5, 0, kHi, 2);
    bench.arrive(14, 0, kHi, 2);
    CHECK(bench.collector.next() == first(15));
    bench.collector.act();
    REQUIRE(bench.steps.size() == 1);
    CHECK(bench.steps[0].now == 14);
    CHECK(bench.steps[0].arrivals.size() == 2);
}

TEST_CASE("A wake-up opens a window, which events after it join") {
    Bench bench(10, true, 3);
    bench.arrive(5, 0, kHi, 2);
    CHECK(bench.collector.next() == first(13));
    bench.collector.act();
    CHECK(bench.steps[0].now == 12);
    CHECK(bench.steps[0].arrivals.size() == 1);
}

TEST_CASE("A failure opens a window") {
    Bench bench(10, true);
    bench.collector.failed({7, 0, kBroadcast, kHi, "full"});
    CHECK(bench.collector.next() == first(17));
}

TEST_CASE("With a processing delay sends wait for their moment, and come before everything else there") {
    Bench bench(10, true, 5);
    bench.replies = {sending({15, 17, 15})};
    CHECK(bench.collector.next() == first(15));
    std::vector<Send> sends = bench.collector.act();
    REQUIRE(sends.size() == 2);
    CHECK(sends[0].node == 0);
    CHECK(sends[1].node == 2);
    CHECK(bench.collector.next() == first(17));
    sends = bench.collector.act();
    CHECK(sends.size() == 1);
    CHECK(bench.steps.size() == 1);
}

TEST_CASE("Sends of one moment take effect in the order of the replies") {
    Bench bench(10, true, 5);
    bench.replies = {sending({30, 16}), sending({30, 30})};
    bench.collector.act();
    bench.collector.act();
    bench.arrive(18, 0, kHi, 1);
    CHECK(bench.collector.next() == first(28));
    CHECK(bench.collector.act().empty());
    CHECK(bench.collector.act().size() == 3);
}

TEST_CASE("The time limit cuts a window, and what would follow it") {
    Bench bench(10, true);
    bench.replies = {{sending({1003}).sends, 1001, {}}};
    bench.arrive(995, 0, kHi, 2);
    bench.arrive(999, 0, kHi, 2);
    bench.arrive(1000, 0, kHi, 2);
    CHECK(bench.collector.next() == first(1000));
    bench.collector.finish();
    REQUIRE(bench.steps.size() == 1);
    CHECK(bench.steps[0].now == 999);
    CHECK(bench.collector.deliveries() == 2);
    CHECK(bench.collector.sends() == 0);
    CHECK_FALSE(bench.collector.next());
}

TEST_CASE("A processing delay beyond all times does not overflow") {
    Bench bench(std::numeric_limits<SimTime>::max(), true, 5);
    CHECK(bench.collector.next() == first(1000));
}

TEST_CASE("A wake-up at the time limit is not waited for") {
    Bench bench(0, true, kLimit);
    CHECK_FALSE(bench.collector.next());
    bench.collector.finish();
    CHECK(bench.steps.empty());
}

TEST_CASE("Without batching each arrival and each failure has a Step, all but the last with more") {
    Bench bench(0, false, 5);
    bench.collector.failed({5, 1, kBroadcast, kHi, "full"});
    bench.arrive(5, 0, kHi, 2);
    bench.arrive(5, 0, kHi, 1);
    bench.arrive(5, 3, kHo, 1);
    bench.collector.act();
    REQUIRE(bench.steps.size() == 4);
    CHECK(receivers(bench.steps[0]) == std::vector<NodeId>{1});
    CHECK(bench.steps[0].arrivals[0].sender == 0);
    CHECK(bench.steps[1].arrivals[0].sender == 3);
    CHECK(receivers(bench.steps[2]) == std::vector<NodeId>{2});
    CHECK(bench.steps[3].failures.size() == 1);
    CHECK(bench.steps[2].more);
    CHECK_FALSE(bench.steps[3].more);
    CHECK(bench.collector.deliveries() == 3);
}

TEST_CASE("Without batching a wake-up alone is one Step of nothing") {
    Bench bench(10, false, 5);
    CHECK(bench.collector.next() == last(5));
    bench.collector.act();
    REQUIRE(bench.steps.size() == 1);
    CHECK_FALSE(bench.steps[0].more);
}

TEST_CASE("Without batching a Step covers one instant, whatever the processing delay") {
    Bench bench(10, false);
    bench.replies = {sending({15})};
    bench.arrive(5, 0, kHi, 2);
    CHECK(bench.collector.next() == last(5));
    CHECK(bench.collector.act().empty());
    CHECK(bench.steps[0].now == 5);
    CHECK(bench.collector.next() == first(15));
    CHECK(bench.collector.act().size() == 1);
}

TEST_CASE("Without batching the sends of one instant's Steps take effect together, after all of them") {
    Bench bench(0, false);
    bench.replies = {sending({5}), sending({5})};
    bench.arrive(5, 0, kHi, 1);
    bench.arrive(5, 0, kHi, 2);
    CHECK(bench.collector.act().size() == 2);
    CHECK(bench.steps.size() == 2);
}

TEST_CASE("A Step tells what the simulator knows of the time after it, if the host has asked for it") {
    for (const bool asked : {false, true}) {
        Welcome welcome{5, true, asked};
        std::vector<Step> steps;
        Collector collector(
            run_of(9, kLimit), welcome,
            [&](const Step& step) {
                steps.push_back(step);
                return Reply{};
            },
            [] { return Quiet{70, 3}; });
        collector.act();
        REQUIRE(steps.size() == 1);
        CHECK(steps[0].quiet.has_value() == asked);
        if (asked) {
            CHECK(steps[0].quiet->until == 70);
            CHECK(steps[0].quiet->room == 3);
        }
    }
}
