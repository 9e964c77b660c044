#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>

#include "stand_in/network.h"
#include "stand_in/script.h"

using namespace roambus;
using namespace roambus::stand_in;

namespace {

const Payload kHi = std::make_shared<const std::string>("hi");

Script parse(const std::string& text) {
    std::istringstream lines(text);
    return parse_script(lines, "script");
}

std::vector<NodeId> receivers(const std::vector<Delivery>& deliveries) {
    std::vector<NodeId> all;
    for (const Delivery& delivery : deliveries)
        all.push_back(delivery.receiver);
    return all;
}

// 0 - 1 - 2, and 3 alone.
Network line(std::vector<LinkChange> changes = {}) {
    changes.push_back({0, 0, 1, true});
    changes.push_back({0, 2, 1, true});
    return Network(4, 10, changes);
}

}  // namespace

TEST_CASE("A script is read") {
    const Script script = parse(
        "nodes 3  # three\n\ntime_limit 100\nlink 0 1\ndown 50 0 1\ndelay 7\nseed -2\nprocessing_delay 9\n"
        "refuse 2 30\nreach 2.5\nstart 1 3 4\nmisbehave exit-after 5 3\n");
    CHECK(script.run.nodes.size() == 3);
    CHECK(script.run.seed == -2);
    CHECK(script.run.processing_delay == 9);
    CHECK(script.delay == 7);
    CHECK(script.changes.size() == 2);
    CHECK_FALSE(script.changes[1].up);
    CHECK(script.refusals[0].time == 30);
    CHECK(script.reach == 2.5);
    CHECK(script.starts[0].y == 4);
    CHECK(script.misbehaviour.after == 5);
    CHECK(script.misbehaviour.status == 3);
}

TEST_CASE("A wrong line of a script is named") {
    for (const char* line : {"link 0 1", "nodes", "nodes 70000", "nodes 2 3", "delay -1", "misbehave oddly", "oops"})
        CHECK_THROWS_WITH_AS(parse("# first\n" + std::string(line)), doctest::Contains("script:2: "),
                             std::invalid_argument);
    CHECK_THROWS_AS(parse("nodes 2\n"), std::invalid_argument);
}

TEST_CASE("A broadcast reaches all neighbours after the delay") {
    Network network = line();
    network.transmit(5, {5, 1, kBroadcast, kHi});
    CHECK(network.next() == 15);
    CHECK(receivers(network.deliver(15)) == std::vector<NodeId>{0, 2});
    CHECK_FALSE(network.next());
}

TEST_CASE("A packet to one node reaches it if it is a neighbour") {
    Network network = line();
    network.transmit(5, {5, 0, 1, kHi});
    network.transmit(5, {5, 0, 2, kHi});
    CHECK(receivers(network.deliver(15)) == std::vector<NodeId>{1});
}

TEST_CASE("A link that goes down loses what is under way on it, even if it comes up again") {
    Network network = line({{12, 0, 1, false}, {13, 0, 1, true}});
    network.transmit(5, {5, 1, kBroadcast, kHi});
    CHECK(receivers(network.deliver(15)) == std::vector<NodeId>{2});
    network.transmit(15, {15, 1, kBroadcast, kHi});
    CHECK(receivers(network.deliver(25)) == std::vector<NodeId>{0, 2});
}

TEST_CASE("Links change before anything else happens at that time") {
    Network network = line({{5, 1, 3, true}, {15, 2, 1, false}});
    network.transmit(5, {5, 1, kBroadcast, kHi});
    CHECK(receivers(network.deliver(15)) == std::vector<NodeId>{0, 3});
}

TEST_CASE("Nodes in reach of each other are neighbours, from the send to the arrival") {
    const std::vector<Move> moves = {{0, 0, 0, 0}, {0, 1, 3, 4}, {0, 2, 0, 9}, {100, 2, 0, 0}};
    Network network(3, 10, {}, 5, Ways(3, moves));
    network.transmit(0, {0, 0, kBroadcast, kHi});
    CHECK(receivers(network.deliver(10)) == std::vector<NodeId>{1});
    network.transmit(50, {50, 0, kBroadcast, kHi});  // node 2 is at (0, 4.5)
    CHECK(receivers(network.deliver(60)) == std::vector<NodeId>{1, 2});
}

TEST_CASE("A node goes where its courses lead, and stays there") {
    Network network(2, 10, {}, 5, Ways(2, {{0, 0, 0, 0}, {0, 1, 20, 0}}));
    const auto heard_at = [&](SimTime time) {
        network.transmit(time, {time, 0, kBroadcast, kHi});
        return !network.deliver(time + 10).empty();
    };
    network.steer({100, 1, 20, 0, 300, 0, 0});
    CHECK_FALSE(heard_at(90));
    CHECK_FALSE(heard_at(200));
    CHECK(heard_at(260));
    network.steer({270, 1, 3, 0, 270, 3, 0});  // it stops
    CHECK(heard_at(1000));
    network.steer({1100, 1, 3, 0, 1200, 20, 0});
    CHECK_FALSE(heard_at(1105));  // in reach when it is sent, and not when it arrives
    CHECK_FALSE(heard_at(1300));
}
