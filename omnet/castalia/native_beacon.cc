#include "native_beacon.h"

namespace roambus {

Define_Module(NativeBeacon);

namespace {

constexpr int kSend = 1;
constexpr char kTag = 0x01;
constexpr int kHeaderBytes = 3;
constexpr int kMaxBytes = 0xFFFF;

// The bytes of the Python agent's message: tag, length of the rest, zeros.
Payload beacon_of(int size) {
    if (size < kHeaderBytes || size > kMaxBytes)
        throw omnetpp::cRuntimeError("payload is not between %d and %d bytes", kHeaderBytes, kMaxBytes);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    int rest = size - kHeaderBytes;
    bytes[0] = kTag;
    bytes[1] = static_cast<char>(rest >> 8);
    bytes[2] = static_cast<char>(rest & 0xFF);
    return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace

void NativeBeacon::initialize() {
    VirtualApplication::initialize();
    rate_ = par("rate");
    if (rate_ < 0)
        throw omnetpp::cRuntimeError("rate is negative");
    beacon_ = beacon_of(par("payload"));
}

void NativeBeacon::startup() {
    if (rate_ > 0)
        setTimer(kSend, uniform(0, 1 / rate_));
}

void NativeBeacon::timerFiredCallback(int) {
    toNetworkLayer(new BytesPacket(self, beacon_), BROADCAST_NETWORK_ADDRESS);
    ++sent_;
    setTimer(kSend, exponential(1 / rate_));
}

void NativeBeacon::fromNetworkLayer(ApplicationPacket*, const char*, double rssi, double lqi) {
    ++received_;
    rssi_sum_ += rssi;
    lqi_sum_ += lqi;
}

void NativeBeacon::finishSpecific() {
    declareOutput("Beacons");
    collectOutput("Beacons", "sent", static_cast<double>(sent_));
    collectOutput("Beacons", "received", static_cast<double>(received_));
    if (received_ > 0) {
        collectOutput("Beacons", "mean RSSI", rssi_sum_ / static_cast<double>(received_));
        collectOutput("Beacons", "mean LQI", lqi_sum_ / static_cast<double>(received_));
    }
}

}  // namespace roambus
