#include "checks.h"

#include <cmath>
#include <string>

#include "errors.h"

namespace roambus {
namespace {

std::string ns(SimTime time) {
    return std::to_string(time) + " ns";
}

void require(bool holds, const std::string& place, const std::string& fault) {
    if (!holds)
        throw ProtocolError(place + ": " + fault);
}

void check_node(NodeId node, const Run& run, const std::string& place) {
    require(node < run.nodes.size(), place,
            "node " + std::to_string(node) + " does not exist: there are " + std::to_string(run.nodes.size()));
}

// What an agent causes takes effect after the Step, without processing delay at once.
void check_time(SimTime time, const Step& step, const Run& run, const std::string& place) {
    const SimTime earliest = run.processing_delay > 0 ? step.now + 1 : step.now;
    require(time >= earliest, place, ns(time) + " is too early, " + ns(earliest) + " is possible");
}

void check_send(const Send& send, const Step& step, const Run& run, const std::string& place) {
    check_time(send.time, step, run, place);
    check_node(send.node, run, place);
    if (send.destination != kBroadcast)
        check_node(send.destination, run, place);
    const std::size_t size = send.payload->size();
    require(size >= 1 && size <= kMaxPayloadBytes, place, "a payload of " + std::to_string(size) + " bytes");
}

void check_course(const Course& course, const Step& step, const Run& run, const std::string& place) {
    require(run.steers, place, "this simulator moves no nodes");
    check_time(course.time, step, run, place);
    check_node(course.node, run, place);
    require(course.until >= course.time, place, "it ends at " + ns(course.until) + ", before it begins");
    for (const double coordinate : {course.x, course.y, course.to_x, course.to_y})
        require(std::isfinite(coordinate), place, "a coordinate is no finite number");
}

void check_wake_up(const Reply& reply, const Step& step, const std::string& place) {
    if (!reply.wake_up)
        return;
    require(!step.more, place, "a wake-up, though more Steps of this instant follow");
    require(*reply.wake_up > step.now, place, "a wake-up at " + ns(*reply.wake_up) + ", which is past");
}

}  // namespace

void check(const Welcome& welcome) {
    if (welcome.wake_up)
        require(*welcome.wake_up >= 0, "the host's Welcome", "a wake-up at " + ns(*welcome.wake_up));
}

void check(const Reply& reply, const Step& step, const Run& run) {
    const std::string place = "the host's Reply at " + ns(step.now);
    check_wake_up(reply, step, place);
    for (const Send& send : reply.sends)
        check_send(send, step, run, place + ", a Send");
    for (const Course& course : reply.courses)
        check_course(course, step, run, place + ", a Course");
    for (const Note& note : reply.notes)
        check_node(note.node, run, place + ", a Note");
}

}  // namespace roambus
