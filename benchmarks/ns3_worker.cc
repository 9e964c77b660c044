// Routing protocols of ns-3: reads scenarios from standard input, a line each, and prints what was counted of each, a
// line of JSON each. `benchmarks.ns3_routing` compiles and starts it.
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include <ctime>

#include <ns3/aodv-helper.h>
#include <ns3/aodv-packet.h>
#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/dsdv-helper.h>
#include <ns3/dsr-helper.h>
#include <ns3/dsr-main-helper.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ns2-mobility-helper.h>
#include <ns3/olsr-helper.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/seq-ts-header.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/udp-client-server-helper.h>
#include <ns3/udp-header.h>
#include <ns3/uinteger.h>
#include <ns3/yans-wifi-helper.h>

using namespace ns3;

namespace {

constexpr uint16_t kAodvPort = 654, kFlowPort = 4000;
constexpr uint8_t kFirstTtl = 64, kDsr = 48;
// In a packet of DSR: the places of its type and of its first option, and the type that carries data.
constexpr uint32_t kDsrType = 1, kDsrOption = 8, kDsrHead = 12;
constexpr uint8_t kDsrData = 2;
constexpr double kSensitivity = -95;  // dBm, the CC2420's

struct Scenario {
    std::string protocol, movements;
    uint32_t seed, nodes, seconds, packets, start, bytes, flow_count;
    double range;
    std::vector<std::pair<uint32_t, uint32_t>> flows;
};

std::istream& operator>>(std::istream& in, Scenario& one) {
    in >> one.protocol >> one.seed >> one.nodes >> one.seconds >> one.range >> one.movements >> one.packets >>
        one.start >> one.bytes >> one.flow_count;
    one.flows.resize(in ? one.flow_count : 0);
    for (auto& [source, sink] : one.flows)
        in >> source >> sink;
    return in;
}

struct Counts {
    std::map<std::string, uint64_t> sent;
    std::set<std::string> arrived;
    uint64_t routing_bytes = 0, delivered = 0, hops = 0, hops_of_last = 0;
} counts;

std::string name_of_aodv(Ptr<Packet> packet) {
    aodv::TypeHeader type;
    packet->RemoveHeader(type);
    switch (type.Get()) {
        case aodv::AODVTYPE_RREQ:
            return "RREQ";
        case aodv::AODVTYPE_RERR:
            return "RERR";
        case aodv::AODVTYPE_RREP_ACK:
            return "RREP-ACK";
        default:
            aodv::RrepHeader reply;
            packet->RemoveHeader(reply);
            return reply.GetDst() == reply.GetOrigin() ? "HELLO" : "RREP";
    }
}

std::string name_of_dsr(Ptr<const Packet> packet) {
    static const std::map<uint8_t, std::string> options{{1, "RREQ"}, {2, "RREP"}, {3, "RERR"}};
    uint8_t head[kDsrHead] = {};
    packet->CopyData(head, kDsrHead);
    if (head[kDsrType] == kDsrData)
        return "PACKET";
    const auto found = options.find(head[kDsrOption]);
    return found == options.end() ? "option " + std::to_string(head[kDsrOption]) : found->second;
}

std::string name_of(uint8_t protocol, Ptr<Packet> packet) {
    if (protocol == kDsr)
        return name_of_dsr(packet);
    UdpHeader udp;
    packet->RemoveHeader(udp);
    if (udp.GetDestinationPort() == kFlowPort)
        return "PACKET";
    return udp.GetDestinationPort() == kAodvPort ? name_of_aodv(packet->Copy()) : "UDP";
}

// A node sends a packet of its own, or passes one on.
void note_sent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    const std::string name = name_of(ip.GetProtocol(), copy);
    counts.sent[name]++;
    if (name != "PACKET")
        counts.routing_bytes += copy->GetSize();
}

// A packet has come to the node that it is for; a source route of DSR names both ends.
void note_local(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t) {
    counts.hops_of_last = kFirstTtl - ip.GetTtl() + 1;
    if (ip.GetProtocol() != kDsr)
        return;
    uint8_t head[kDsrHead] = {};
    packet->CopyData(head, kDsrHead);
    counts.hops_of_last = (head[kDsrOption + 1] - 2) / 4 - 1;
}

// It has come to the application, and counts once.
void note_delivered(std::string sink, Ptr<const Packet> packet, const Address& from, const Address&) {
    SeqTsHeader number;
    packet->PeekHeader(number);
    const uint32_t source = InetSocketAddress::ConvertFrom(from).GetIpv4().Get();
    if (!counts.arrived.insert(sink + std::to_string(source) + "." + std::to_string(number.GetSeq())).second)
        return;
    counts.delivered++;
    counts.hops += counts.hops_of_last;
}

// IEEE 802.11b at 1 Mbit/s, over a unit disk or over the mean path loss of the embedded radio.
NetDeviceContainer devices_of(const NodeContainer& nodes, const Scenario& scenario) {
    YansWifiChannelHelper channel;
    YansWifiPhyHelper phy;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (scenario.range > 0) {
        channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(scenario.range));
    } else {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(2.4),
                                   "ReferenceDistance", DoubleValue(1), "ReferenceLoss", DoubleValue(55));
        phy.Set("TxPowerStart", DoubleValue(0));
        phy.Set("TxPowerEnd", DoubleValue(0));
        // By default a preamble below -82 dBm is not looked at, which at 0 dBm is a range of 13 m.
        phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(kSensitivity));
        phy.Set("CcaSensitivity", DoubleValue(kSensitivity));
    }
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    WifiMacHelper mac;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    const StringValue mode("DsssRate1Mbps");
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", mode, "ControlMode", mode);
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

void route(const NodeContainer& nodes, const std::string& protocol) {
    InternetStackHelper stack;
    if (protocol == "aodv")
        stack.SetRoutingHelper(AodvHelper());
    else if (protocol == "dsdv")
        stack.SetRoutingHelper(DsdvHelper());
    else if (protocol == "olsr")
        stack.SetRoutingHelper(OlsrHelper());
    stack.Install(nodes);
    if (protocol == "dsr") {  // a layer between UDP and IP, not a protocol that IP asks for routes
        DsrHelper dsr;
        DsrMainHelper().Install(dsr, nodes);
    }
}

// A packet every second of each flow, all from the same moment on.
void add_flows(const NodeContainer& nodes, const Ipv4InterfaceContainer& addresses, const Scenario& scenario) {
    std::set<uint32_t> sinks;
    for (const auto& [source, sink] : scenario.flows) {
        UdpClientHelper client(addresses.GetAddress(sink), kFlowPort);
        client.SetAttribute("MaxPackets", UintegerValue(scenario.packets));
        client.SetAttribute("Interval", TimeValue(Seconds(1)));
        client.SetAttribute("PacketSize", UintegerValue(scenario.bytes));
        client.Install(nodes.Get(source)).Start(Seconds(scenario.start));
        sinks.insert(sink);
    }
    for (const uint32_t sink : sinks)
        UdpServerHelper(kFlowPort).Install(nodes.Get(sink)).Start(Seconds(0));
}

void connect() {
    Config::ConnectWithoutContext("/NodeList/*/$ns3::Ipv4L3Protocol/Tx", MakeCallback(&note_sent));
    Config::ConnectWithoutContext("/NodeList/*/$ns3::Ipv4L3Protocol/LocalDeliver", MakeCallback(&note_local));
    Config::Connect("/NodeList/*/ApplicationList/*/$ns3::UdpServer/RxWithAddresses", MakeCallback(&note_delivered));
}

void run(const Scenario& scenario) {
    counts = {};
    RngSeedManager::SetSeed(scenario.seed + 1);
    NodeContainer nodes;
    nodes.Create(scenario.nodes);
    Ns2MobilityHelper(scenario.movements).Install();
    const NetDeviceContainer devices = devices_of(nodes, scenario);
    route(nodes, scenario.protocol);
    const Ipv4InterfaceContainer addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    add_flows(nodes, addresses, scenario);
    connect();
    const std::clock_t start = std::clock();
    Simulator::Stop(Seconds(scenario.seconds));
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    Simulator::Destroy();
    std::cout << "{\"delivered\": " << counts.delivered << ", \"hops\": " << counts.hops << ", \"routing_bytes\": "
              << counts.routing_bytes << ", \"seconds\": " << seconds << ", \"sent\": {";
    const char* separator = "";
    for (const auto& [name, number] : counts.sent) {
        std::cout << separator << '"' << name << "\": " << number;
        separator = ", ";
    }
    std::cout << "}}" << std::endl;
}

}  // namespace

int main() {
    for (Scenario scenario; std::cin >> scenario;)
        run(scenario);
}
