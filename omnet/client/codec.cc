#include "codec.h"

#include <utility>

#include "errors.h"
#include "schema_hash.h"
#include "wire.pb.h"

namespace roambus {
namespace {

int hex_digit(char digit) {
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes.push_back(static_cast<char>(16 * hex_digit(digits[i]) + hex_digit(digits[i + 1])));
    return bytes;
}

void add(const Arrival& arrival, wire::Arrival& out) {
    out.set_time(arrival.time);
    out.set_sender(arrival.sender);
    out.set_payload(*arrival.payload);
    for (const Reception& reception : arrival.receptions) {
        out.add_receivers(reception.receiver);
        out.add_rssi_dbm(reception.rssi_dbm);
        out.add_lqi_db(reception.lqi_db);
    }
}

void add(const Failure& failure, wire::Failure& out) {
    out.set_time(failure.time);
    out.set_node(failure.node);
    out.set_destination(failure.destination);
    out.set_payload(*failure.payload);
    out.set_reason(failure.reason);
}

void add(const Move& move, wire::Move& out) {
    out.set_time(move.time);
    out.set_node(move.node);
    out.set_x(move.x);
    out.set_y(move.y);
}

template <typename Value, typename Wire>
std::optional<Value> optional(bool present, Wire value) {
    return present ? std::optional<Value>(value) : std::nullopt;
}

Welcome take(const wire::Welcome& welcome) {
    return {optional<SimTime>(welcome.has_wake_up(), welcome.wake_up()), welcome.batching(), welcome.lookahead(),
            welcome.moves()};
}

Send take(wire::Send& send) {
    auto payload = std::make_shared<const std::string>(std::move(*send.mutable_payload()));
    return {send.time(), send.node(), send.destination(), std::move(payload)};
}

Reply take(wire::Reply& reply) {
    Reply taken{{}, optional<SimTime>(reply.has_wake_up(), reply.wake_up()), {}, {}};
    taken.sends.reserve(reply.sends_size());
    for (wire::Send& send : *reply.mutable_sends())
        taken.sends.push_back(take(send));
    for (const wire::Note& note : reply.notes())
        taken.notes.push_back({note.time(), note.node(), note.text()});
    for (const wire::Course& course : reply.courses())
        taken.courses.push_back({course.time(), course.node(), course.x(), course.y(), course.until(), course.to_x(),
                                 course.to_y()});
    return taken;
}

Failed take(const wire::Failed& failed) {
    return {failed.reason(), optional<NodeId>(failed.has_node(), failed.node()),
            optional<SimTime>(failed.has_time(), failed.time()), failed.event(), failed.traceback()};
}

}  // namespace

const std::string& schema_hash() {
    static const std::string hash = from_hex(ROAMBUS_SCHEMA_HASH);
    return hash;
}

std::string encode(const Hello& hello) {
    wire::FromSimulator message;
    wire::Hello& out = *message.mutable_hello();
    out.set_protocol_version(hello.protocol_version);
    out.set_schema_hash(hello.schema_hash);
    out.set_token(hello.token);
    out.set_simulator(hello.run.simulator);
    out.set_seed(hello.run.seed);
    out.set_time_resolution(hello.time_resolution);
    out.set_time_limit(hello.run.time_limit);
    out.set_processing_delay(hello.run.processing_delay);
    for (const Node& node : hello.run.nodes) {
        wire::Node& added = *out.add_nodes();
        added.set_start(node.start);
        added.set_clock_rate(node.clock_rate);
    }
    out.set_wants_notes(hello.run.wants_notes);
    out.set_least_delay(hello.run.transit.least_delay);
    out.set_delay_per_byte(hello.run.transit.delay_per_byte);
    out.set_most_bytes(hello.run.transit.most_bytes);
    out.set_header_bytes(hello.run.framing.header_bytes);
    out.set_queue(hello.run.framing.queue);
    out.set_bits_per_second(hello.run.framing.bits_per_second);
    out.set_steers(hello.run.steers);
    return message.SerializeAsString();
}

std::string encode(const Step& step) {
    wire::FromSimulator message;
    wire::Step& out = *message.mutable_step();
    out.set_now(step.now);
    out.set_more(step.more);
    for (const Arrival& arrival : step.arrivals)
        add(arrival, *out.add_arrivals());
    for (const Failure& failure : step.failures)
        add(failure, *out.add_failures());
    if (step.quiet) {
        out.mutable_quiet()->set_until(step.quiet->until);
        out.mutable_quiet()->set_room(step.quiet->room);
    }
    for (const Move& move : step.moves)
        add(move, *out.add_moves());
    return message.SerializeAsString();
}

std::string encode(const Finished& finished) {
    wire::FromSimulator message;
    wire::Finished& out = *message.mutable_finished();
    out.set_sends(finished.sends);
    out.set_deliveries(finished.deliveries);
    for (const Count& count : finished.counts) {
        wire::Count& added = *out.add_counts();
        added.set_name(count.name);
        added.mutable_values()->Assign(count.values.begin(), count.values.end());
    }
    out.mutable_energy_mj()->Assign(finished.energy_mj.begin(), finished.energy_mj.end());
    for (const Move& move : finished.moves)
        add(move, *out.add_moves());
    return message.SerializeAsString();
}

std::string encode(const Failed& failed) {
    wire::FromSimulator message;
    wire::Failed& out = *message.mutable_failed();
    out.set_reason(failed.reason);
    if (failed.node)
        out.set_node(*failed.node);
    if (failed.time)
        out.set_time(*failed.time);
    out.set_event(failed.event);
    out.set_traceback(failed.traceback);
    return message.SerializeAsString();
}

FromHost decode(std::string_view bytes) {
    wire::ToSimulator message;
    if (bytes.size() > kMaxMessageBytes || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        throw ProtocolError("the host sent " + std::to_string(bytes.size()) +
                            " bytes that are not a message of wire.proto");
    switch (message.body_case()) {
        case wire::ToSimulator::kWelcome: return take(message.welcome());
        case wire::ToSimulator::kReject: return Reject{message.reject().reason()};
        case wire::ToSimulator::kReply: return take(*message.mutable_reply());
        case wire::ToSimulator::kGoodbye: return Goodbye{};
        case wire::ToSimulator::kFailed: return take(message.failed());
        case wire::ToSimulator::BODY_NOT_SET: break;
    }
    throw ProtocolError("the host sent a message that says nothing");
}

}  // namespace roambus
