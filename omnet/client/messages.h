// The messages of bridge/wire/wire.proto as plain structures; what their fields mean is said there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace roambus {

using SimTime = std::int64_t;  // ns of simulator time since the start of the run
using NodeId = std::uint32_t;

// An agent's message, never changed, so that all copies of a packet share it.
using Payload = std::shared_ptr<const std::string>;

constexpr NodeId kBroadcast = 65535;
constexpr std::uint32_t kProtocolVersion = 3;
constexpr std::int32_t kTimeResolution = -9;
constexpr std::size_t kMaxMessageBytes = 64u << 20;
constexpr std::size_t kMaxPayloadBytes = 65535;

struct Node {
    SimTime start = 0;
    double clock_rate = 1.0;
};

// How soon a packet can arrive, and how long it may be.
struct Transit {
    SimTime least_delay = 0;
    SimTime delay_per_byte = 0;
    std::uint32_t most_bytes = 0;
};

// What the network stack makes of a packet.
struct Framing {
    std::uint32_t header_bytes = 0;
    std::uint32_t queue = 0;            // packets; 0: there is none
    std::uint32_t bits_per_second = 0;  // 0: those of the radio parameters file
};

// What the simulator says of itself and of the run.
struct Run {
    std::string simulator;
    std::int64_t seed = 0;
    SimTime time_limit = 0;
    SimTime processing_delay = 0;
    std::vector<Node> nodes;
    bool wants_notes = false;
    Transit transit = {};
    Framing framing = {};
    bool steers = false;
};

struct Hello {
    std::uint32_t protocol_version = kProtocolVersion;
    std::string schema_hash;
    std::string token;
    std::int32_t time_resolution = kTimeResolution;
    Run run;
};

struct Reception {
    NodeId receiver = 0;
    double rssi_dbm = 0;
    double lqi_db = 0;
};

struct Arrival {
    SimTime time = 0;
    NodeId sender = 0;
    Payload payload;
    std::vector<Reception> receptions;
};

struct Failure {
    SimTime time = 0;
    NodeId node = 0;
    NodeId destination = kBroadcast;
    Payload payload;
    std::string reason;
};

struct Quiet {
    SimTime until = 0;
    std::uint32_t room = 0;
};

struct Count {
    std::string name;
    std::vector<std::int64_t> values;
};

struct Move {
    SimTime time = 0;
    NodeId node = 0;
    double x = 0;
    double y = 0;
};

struct Step {
    SimTime now = 0;
    bool more = false;
    std::vector<Arrival> arrivals;
    std::vector<Failure> failures;
    std::optional<Quiet> quiet = {};
    std::vector<Move> moves = {};
};

struct Finished {
    std::uint64_t sends = 0;
    std::uint64_t deliveries = 0;
    std::vector<Count> counts;
    std::vector<double> energy_mj;
    std::vector<Move> moves;
};

struct Failed {
    std::string reason;
    std::optional<NodeId> node;
    std::optional<SimTime> time;
    std::string event;
    std::string traceback;
};

struct Welcome {
    std::optional<SimTime> wake_up;
    bool batching = true;
    bool lookahead = false;
    bool moves = false;
};

struct Reject {
    std::string reason;
};

struct Send {
    SimTime time = 0;
    NodeId node = 0;
    NodeId destination = kBroadcast;
    Payload payload;
};

struct Note {
    SimTime time = 0;
    NodeId node = 0;
    std::string text;
};

struct Course {
    SimTime time = 0;
    NodeId node = 0;
    double x = 0;
    double y = 0;
    SimTime until = 0;
    double to_x = 0;
    double to_y = 0;
};

struct Reply {
    std::vector<Send> sends;
    std::optional<SimTime> wake_up;
    std::vector<Note> notes;
    std::vector<Course> courses = {};
};

struct Goodbye {};

using FromHost = std::variant<Welcome, Reject, Reply, Goodbye, Failed>;

}  // namespace roambus
