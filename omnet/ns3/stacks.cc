#include "stacks.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <stdexcept>

#include <ns3/boolean.h>
#include <ns3/callback.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/lr-wpan-csmaca.h>
#include <ns3/lr-wpan-mac.h>
#include <ns3/lr-wpan-net-device.h>
#include <ns3/lr-wpan-phy.h>
#include <ns3/lr-wpan-spectrum-value-helper.h>
#include <ns3/mobility-model.h>
#include <ns3/node.h>
#include <ns3/propagation-delay-model.h>
#include <ns3/single-model-spectrum-channel.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>
#include <ns3/wifi-helper.h>
#include <ns3/wifi-mac.h>
#include <ns3/wifi-mac-helper.h>
#include <ns3/wifi-mac-queue.h>
#include <ns3/wifi-net-device.h>
#include <ns3/wifi-phy.h>
#include <ns3/yans-wifi-channel.h>
#include <ns3/yans-wifi-helper.h>

namespace roambus::ns3_side {
namespace {

using namespace ns3::lrwpan;

ns3::Ptr<ns3::Packet> packet_of(const Payload& payload) {
    return ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(payload->data()), payload->size());
}

class LrWpan : public Stack {
public:
    LrWpan(const Settings& settings, const ns3::NodeContainer& nodes, Arrived arrived, Failed failed)
        : Stack(settings, nodes, std::move(arrived)), failed_(std::move(failed)), ports_(nodes.GetN()) {
        auto channel = ns3::CreateObject<ns3::SingleModelSpectrumChannel>();
        channel->AddPropagationLossModel(loss_);
        for (NodeId id = 0; id < nodes.GetN(); ++id)
            install(id, nodes.Get(id), channel);
    }

    std::optional<std::string> transmit(const Send& send) override {
        Port& port = ports_[send.node];
        if (send.payload->size() > most_bytes_)
            return "too long for a frame of 802.15.4: a message has at most " + std::to_string(most_bytes_) + " bytes";
        if (port.waiting.size() >= settings_.queue) {
            ++port.overflown;
            return "MAC queue full";
        }
        port.waiting.push_back(send);
        McpsDataRequestParams request;
        request.m_dstPanId = kPan;
        request.m_dstAddr = send.destination == kBroadcast ? ns3::Mac16Address("ff:ff") : address(send.destination);
        request.m_txOptions = send.destination == kBroadcast ? TX_OPTION_NONE : TX_OPTION_ACK;
        const auto packet = packet_of(send.payload);
        packet->AddPaddingAtEnd(settings_.csma.padding);
        port.device->GetMac()->McpsDataRequest(request, packet);
        return std::nullopt;
    }

    // A packet that finds the channel busy five times is given up after so many assessments of 8 symbols at the
    // earliest, and no frame arrives sooner than that.
    Transit transit() const override {
        const SimTime assessments = settings_.csma.chosen ? settings_.csma.backoffs + 1 : 5;
        return {assessments * kAssessment, 0, most_bytes_};
    }

    // A preamble of four bytes, a delimiter and a length come before the MAC's header.
    Framing framing() const override { return {127 - most_bytes_ + 6, settings_.queue, 250'000}; }

    std::uint32_t room() const override {
        const auto fullest = std::max_element(ports_.begin(), ports_.end(),
                                              [](const Port& a, const Port& b) {
                                                  return a.waiting.size() < b.waiting.size();
                                              });
        return settings_.queue - static_cast<std::uint32_t>(fullest->waiting.size());
    }

    std::vector<Count> counts() const override {
        Count overflown{"mac_overflown", {}}, unacknowledged{"unacknowledged", {}}, busy{"access_failures", {}};
        Count acknowledgements{"acknowledgements", {}}, retransmissions{"retransmissions", {}};
        Count transmitted{"transmitted", {}};
        for (const Port& port : ports_) {
            overflown.values.push_back(port.overflown);
            unacknowledged.values.push_back(port.unacknowledged);
            busy.values.push_back(port.busy);
            acknowledgements.values.push_back(port.acknowledgements);
            retransmissions.values.push_back(port.retransmissions);
            transmitted.values.push_back(port.transmitted);
        }
        return {overflown, unacknowledged, busy, acknowledgements, retransmissions, transmitted};
    }

private:
    static constexpr std::uint16_t kPan = 1;
    static constexpr std::uint32_t kChannel = 11;
    // Of the 127 bytes of a frame the MAC's header takes 9 (short addresses, one PAN) and the checksum 2.
    static constexpr std::uint32_t kMostBytes = 127 - 9 - 2;
    static constexpr std::uint32_t kAcknowledgementBytes = 5;
    static constexpr double kAboveSensitivityDb = 10;  // ns-3's threshold of a busy channel
    static constexpr SimTime kLongestTry = 100'000'000;  // from one try of a frame to the next, at the most
    static constexpr SimTime kAssessment = 128'000;  // 8 symbols of 16 us

    struct Port {
        ns3::Ptr<LrWpanNetDevice> device;
        std::deque<Send> waiting;  // the first is under way
        std::int64_t tries = 0;    // of the first
        std::map<NodeId, std::pair<std::uint8_t, SimTime>> last;  // of each neighbour: the number of its frame, and when
        std::int64_t overflown = 0, unacknowledged = 0, busy = 0;
        std::int64_t acknowledgements = 0, retransmissions = 0, transmitted = 0;
    };

    static ns3::Mac16Address address(NodeId node) { return ns3::Mac16Address(static_cast<std::uint16_t>(node)); }

    static NodeId node_of(const ns3::Mac16Address& address) {
        std::uint8_t bytes[2];
        address.CopyTo(bytes);
        return static_cast<NodeId>(bytes[0]) << 8 | bytes[1];
    }

    void install(NodeId id, const ns3::Ptr<ns3::Node>& node, const ns3::Ptr<ns3::SpectrumChannel>& channel) {
        Port& port = ports_[id];
        port.device = ns3::CreateObject<LrWpanNetDevice>();
        port.device->SetChannel(channel);
        node->AddDevice(port.device);
        const auto phy = port.device->GetPhy();
        phy->SetMobility(mobility(id));
        set_levels(*phy, settings_.nodes[id].tx_power_dbm);
        const auto mac = port.device->GetMac();
        mac->SetPanId(kPan);
        mac->SetShortAddress(address(id));
        mac->SetTxQMaxSize(settings_.queue);
        mac->SetMcpsDataIndicationCallback(
            [this, id](McpsDataIndicationParams said, ns3::Ptr<ns3::Packet> packet) { receive(id, said, packet); });
        mac->SetMcpsDataConfirmCallback([this, id](McpsDataConfirmParams said) { confirm(id, said); });
        phy->TraceConnectWithoutContext("PhyTxBegin", ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
            [this, id](ns3::Ptr<const ns3::Packet> frame) { count(ports_[id], frame); }));
        if (settings_.csma.chosen) {
            const auto csma = port.device->GetCsmaCa();
            csma->SetMacMaxBE(settings_.csma.max_be);  // before the least, which it bounds
            csma->SetMacMinBE(settings_.csma.min_be);
            csma->SetMacMaxCSMABackoffs(settings_.csma.backoffs);
            mac->SetMacMaxFrameRetries(settings_.csma.retries);
        }
        port.device->AssignStreams(1000 + 10 * static_cast<std::int64_t>(id));
    }

    // The noise of ns-3 is that of the temperature, -111 dBm over the 2 MHz of a channel, times a factor.
    void set_levels(LrWpanPhy& phy, double tx_power_dbm) const {
        // First of all: it computes power and noise anew, for the sensitivity at ns-3's own power.
        phy.SetRxSensitivity(settings_.csma.chosen ? settings_.csma.cca_threshold_dbm - kAboveSensitivityDb
                                                   : settings_.sensitivity_dbm);
        LrWpanSpectrumValueHelper helper;
        phy.SetTxPowerSpectralDensity(helper.CreateTxPowerSpectralDensity(tx_power_dbm, kChannel));
        const double thermal_w = LrWpanSpectrumValueHelper::TotalAvgPower(
            helper.CreateNoisePowerSpectralDensity(kChannel), kChannel);
        helper.SetNoiseFactor(std::pow(10, settings_.noise_floor_dbm / 10) / 1000 / thermal_w);
        phy.SetNoisePowerSpectralDensity(helper.CreateNoisePowerSpectralDensity(kChannel));
    }

    void receive(NodeId id, const McpsDataIndicationParams& said, const ns3::Ptr<ns3::Packet>& packet) {
        const NodeId sender = node_of(said.m_srcAddr);
        packet->RemoveAtEnd(settings_.csma.padding);
        if (!is_repeated(ports_[id], sender, said.m_dsn))
            hear(id, sender, packet);
    }

    // Whether a frame was heard before, and came again because its acknowledgement was lost. A MAC of 802.15.4 is to
    // leave that out by the frame's number, which ns-3's does not; the number goes round after 256 frames.
    static bool is_repeated(Port& port, NodeId sender, std::uint8_t number) {
        const SimTime now = ns3::Simulator::Now().GetNanoSeconds();
        const auto before = port.last.find(sender);
        const bool repeated = before != port.last.end() && before->second.first == number &&
                              now - before->second.second < kLongestTry;
        port.last[sender] = {number, now};
        return repeated;
    }

    void confirm(NodeId id, const McpsDataConfirmParams& said) {
        Port& port = ports_[id];
        const Send send = port.waiting.front();
        port.waiting.pop_front();
        port.retransmissions += std::max<std::int64_t>(0, port.tries - 1);
        port.tries = 0;
        const bool unacknowledged = said.m_status == MacStatus::NO_ACK;
        const bool busy = said.m_status == MacStatus::CHANNEL_ACCESS_FAILURE;
        port.unacknowledged += unacknowledged;
        port.busy += busy;
        if (settings_.csma.chosen && (unacknowledged || busy))
            failed_(send, busy ? "channel access failure" : "no acknowledgement");
    }

    static void count(Port& port, const ns3::Ptr<const ns3::Packet>& frame) {
        ++port.transmitted;
        if (frame->GetSize() == kAcknowledgementBytes)
            ++port.acknowledgements;
        else
            ++port.tries;
    }

    const std::uint32_t most_bytes_ = kMostBytes - settings_.csma.padding;
    const Failed failed_;

    std::vector<Port> ports_;
};

class Wifi : public Stack {
public:
    Wifi(const Settings& settings, const ns3::NodeContainer& nodes, Arrived arrived)
        : Stack(settings, nodes, std::move(arrived)), overflown_(nodes.GetN()) {
        auto channel = ns3::CreateObject<ns3::YansWifiChannel>();
        channel->SetPropagationLossModel(loss_);
        // No propagation delay, as on the other back-ends: all neighbours hear a frame at one instant.
        auto delay = ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>();
        delay->SetSpeed(1e30);
        channel->SetPropagationDelayModel(delay);
        ns3::Config::SetDefault("ns3::WifiMacQueue::MaxSize", ns3::StringValue(std::to_string(settings.queue) + "p"));
        ns3::WifiHelper wifi;
        wifi.SetStandard(ns3::WIFI_STANDARD_80211b);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns3::StringValue(kMode), "ControlMode",
                                     ns3::StringValue(kMode));
        ns3::WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac");
        for (NodeId id = 0; id < nodes.GetN(); ++id)
            install(id, nodes.Get(id), wifi, mac, channel);
    }

    std::optional<std::string> transmit(const Send& send) override {
        if (send.payload->size() > kMostBytes)
            return "too long for a frame of 802.11: a message has at most " + std::to_string(kMostBytes) + " bytes";
        if (waiting(send.node) >= settings_.queue) {
            ++overflown_[send.node];
            return "MAC queue full";
        }
        const ns3::Address to = send.destination == kBroadcast ? devices_[send.node]->GetBroadcast()
                                                               : devices_[send.destination]->GetAddress();
        devices_[send.node]->Send(packet_of(send.payload), to, kProtocol);
        return std::nullopt;
    }

    // A frame of 802.11b begins with 192 us of preamble and header.
    Transit transit() const override { return {192'000, 0, kMostBytes}; }

    // 24 bytes before the MAC's header of 24, 8 of LLC and SNAP, and a checksum of 4.
    Framing framing() const override { return {60, settings_.queue, 1'000'000}; }

    std::uint32_t room() const override {
        std::uint32_t least = settings_.queue;
        for (NodeId id = 0; id < devices_.size(); ++id)
            least = std::min(least, settings_.queue - std::min(settings_.queue, waiting(id)));
        return least;
    }

    std::vector<Count> counts() const override { return {{"mac_overflown", overflown_}}; }

private:
    static constexpr const char* kMode = "DsssRate1Mbps";
    static constexpr double kThermalDbm = -100.55;         // k * 290 K * 22 MHz, the width of a channel of 802.11b
    static constexpr std::uint32_t kMostBytes = 2200;      // of the 2,304 that 802.11 allows
    static constexpr std::uint16_t kProtocol = 0x88b5;     // IEEE 802 leaves it to experiments

    void install(NodeId id, const ns3::Ptr<ns3::Node>& node, const ns3::WifiHelper& wifi, const ns3::WifiMacHelper& mac,
                 const ns3::Ptr<ns3::YansWifiChannel>& channel) {
        ns3::YansWifiPhyHelper phy;
        phy.SetChannel(channel);
        for (const char* name : {"TxPowerStart", "TxPowerEnd"})
            phy.Set(name, ns3::DoubleValue(settings_.nodes[id].tx_power_dbm));
        for (const char* name : {"RxSensitivity", "CcaSensitivity"})
            phy.Set(name, ns3::DoubleValue(settings_.sensitivity_dbm));
        // ns-3 adds it to the thermal noise of the channel; its own 7 dB would stand for another floor than the ini's.
        phy.Set("RxNoiseFigure", ns3::DoubleValue(settings_.noise_floor_dbm - kThermalDbm));
        // By default a preamble below -82 dBm is not looked at.
        phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                      ns3::DoubleValue(settings_.sensitivity_dbm));
        const ns3::NetDeviceContainer installed = wifi.Install(phy, mac, node);
        devices_.push_back(ns3::DynamicCast<ns3::WifiNetDevice>(installed.Get(0)));
        nodes_by_address_[devices_[id]->GetAddress()] = id;
        devices_[id]->SetReceiveCallback(
            [this, id](ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, std::uint16_t,
                       const ns3::Address& from) {
                hear(id, nodes_by_address_.at(from), packet);
                return true;
            });
        ns3::WifiHelper::AssignStreams(installed, 1000 + 100 * static_cast<std::int64_t>(id));
    }

    std::uint32_t waiting(NodeId id) const {
        return devices_[id]->GetMac()->GetTxopQueue(ns3::AC_BE_NQOS)->GetNPackets();
    }

    std::vector<ns3::Ptr<ns3::WifiNetDevice>> devices_;
    std::map<ns3::Address, NodeId> nodes_by_address_;
    std::vector<std::int64_t> overflown_;
};

}  // namespace

Stack::Stack(const Settings& settings, const ns3::NodeContainer& nodes, Arrived arrived)
    : settings_(settings),
      nodes_(nodes),
      loss_(ns3::CreateObject<ShadowedLoss>(settings)),
      arrived_(std::move(arrived)) {}

ns3::Ptr<ns3::MobilityModel> Stack::mobility(NodeId node) const {
    return nodes_.Get(node)->GetObject<ns3::MobilityModel>();
}

void Stack::hear(NodeId receiver, NodeId sender, const ns3::Ptr<const ns3::Packet>& packet) const {
    std::string bytes(packet->GetSize(), '\0');
    packet->CopyData(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
    const double rssi = loss_->CalcRxPower(settings_.nodes[sender].tx_power_dbm, mobility(sender), mobility(receiver));
    arrived_(sender, std::make_shared<const std::string>(std::move(bytes)), {receiver, rssi, rssi - settings_.noise_floor_dbm});
}

std::unique_ptr<Stack> install_stack(const Settings& settings, const ns3::NodeContainer& nodes, Stack::Arrived arrived,
                                     Stack::Failed failed) {
    if (settings.stack == "lr-wpan")
        return std::make_unique<LrWpan>(settings, nodes, std::move(arrived), std::move(failed));
    if (settings.stack == "wifi")
        return std::make_unique<Wifi>(settings, nodes, std::move(arrived));
    throw std::runtime_error("there is no stack " + settings.stack + ": lr-wpan and wifi are there");
}

}  // namespace roambus::ns3_side
