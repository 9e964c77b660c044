#include "bridge_application.h"

#include <algorithm>

#include "bridge.h"
#include "bytes_packet.h"

namespace roambus {

Define_Module(BridgeApplication);

namespace {

std::string address_of(NodeId destination) {
    return destination == kBroadcast ? BROADCAST_NETWORK_ADDRESS : std::to_string(destination);
}

}  // namespace

void BridgeApplication::initialize() {
    VirtualApplication::initialize();
    limits_.emplace(*getParentModule()->getSubmodule("Communication"));
    bridge_ = &Bridge::of(*getParentModule()->getParentModule());
    bridge_->enlist(*this);
}

void BridgeApplication::handleMessage(omnetpp::cMessage* message) {
    if (message->getKind() == OUT_OF_ENERGY && died_ns_ == 0)
        died_ns_ = omnetpp::simTime().raw();
    VirtualApplication::handleMessage(message);
}

void BridgeApplication::startup() {
    booted_ = true;
}

SimTime BridgeApplication::processing_delay() const {
    return omnetpp::SimTime(par("processingDelay").doubleValue()).raw();
}

bool BridgeApplication::wants_notes() const {
    return par("collectTraceInfo");
}

void BridgeApplication::note(const std::string& text) {
    trace() << text;
}

std::optional<Failure> BridgeApplication::transmit(const Send& send) {
    Enter_Method_Silent();
    ++offered_;
    SimTime now = omnetpp::simTime().raw();
    if (auto reason = refusal(send.payload->size()))
        return Failure{now, node(), send.destination, send.payload, *reason};
    if (!sent_.empty() && sent_.back().time != now)
        sent_.clear();
    sent_.push_back(send);
    toNetworkLayer(new BytesPacket(node(), send.payload), address_of(send.destination).c_str());
    return std::nullopt;
}

std::optional<std::string> BridgeApplication::refusal(std::size_t bytes) const {
    if (disabled)
        return booted_ ? "node has no energy left" : "node has not booted";
    return limits_->refusal(bytes);
}

void BridgeApplication::fromNetworkLayer(ApplicationPacket* packet, const char*, double rssi, double lqi) {
    auto* arrived = omnetpp::check_and_cast<BytesPacket*>(packet);
    ++received_;
    bridge_->arrived(arrived->sender(), arrived->payload(), {node(), rssi, lqi});
}

void BridgeApplication::handleMacControlMessage(omnetpp::cMessage* message) {
    auto* control = omnetpp::check_and_cast<MacControlMessage*>(message);
    if (control->getMacControlMessageKind() != MAC_BUFFER_FULL)
        return;
    ++refused_;
    ++overflown_;
    bridge_->settle();
}

void BridgeApplication::handleRadioControlMessage(RadioControlMessage* message) {
    spilt_ += message->getRadioControlMessageKind() == RADIO_BUFFER_FULL;
}

// The message of a MAC without room does not say which packet it means. But packets of one instant reach the MAC in
// their order, and it makes no room in between: once one is refused, so are all after it.
std::vector<Failure> BridgeApplication::take_refused() {
    std::vector<Failure> failures;
    // A routing's own packets can be refused, too, of which the host knows nothing.
    const std::size_t refused = std::min<std::size_t>(refused_, sent_.size());
    for (auto send = sent_.end() - static_cast<std::ptrdiff_t>(refused); send != sent_.end(); ++send)
        failures.push_back({send->time, node(), send->destination, send->payload, "MAC queue full"});
    sent_.clear();
    refused_ = 0;
    return failures;
}

double BridgeApplication::spent_energy_mj() {
    return 1000 * resMgrModule->getSpentEnergy();
}

double BridgeApplication::left_energy_mj() {
    return 1000 * resMgrModule->par("initialEnergy").doubleValue() - spent_energy_mj();
}

}  // namespace roambus
