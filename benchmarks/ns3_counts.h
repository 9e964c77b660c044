// What is counted of a run of ns-3: AODV's messages as they are sent, packets that arrive, and their hops.
// `ns3_worker.py` compiles it into ns-3's process.

#include "ns3/aodv-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <map>
#include <string>

namespace roambus {

const uint16_t aodv_port = 654;
const uint16_t flow_port = 4000;
const uint8_t first_ttl = 64;

std::map<std::string, uint64_t> sent;
uint64_t delivered = 0;
uint64_t hops = 0;

std::string name_of(ns3::Ptr<ns3::Packet> packet) {
    ns3::aodv::TypeHeader type;
    packet->RemoveHeader(type);
    switch (type.Get()) {
        case ns3::aodv::AODVTYPE_RREQ:
            return "RREQ";
        case ns3::aodv::AODVTYPE_RERR:
            return "RERR";
        case ns3::aodv::AODVTYPE_RREP_ACK:
            return "RREP-ACK";
        default:
            ns3::aodv::RrepHeader reply;
            packet->RemoveHeader(reply);
            return reply.GetDst() == reply.GetOrigin() ? "HELLO" : "RREP";
    }
}

// A node sends a packet of its own, or passes one on.
void note_sent(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t) {
    ns3::Ptr<ns3::Packet> copy = packet->Copy();
    ns3::Ipv4Header ip;
    copy->RemoveHeader(ip);
    ns3::UdpHeader udp;
    copy->RemoveHeader(udp);
    sent[udp.GetDestinationPort() == aodv_port ? name_of(copy) : "PACKET"]++;
}

// A packet has come to the node that it is for.
void note_delivered(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet, uint32_t) {
    ns3::UdpHeader udp;
    packet->PeekHeader(udp);
    if (udp.GetDestinationPort() != flow_port)
        return;
    delivered++;
    hops += first_ttl - ip.GetTtl() + 1;
}

// Before the next run.
void forget() {
    sent.clear();
    delivered = hops = 0;
}

void connect() {
    using ns3::Config::ConnectWithoutContext;
    ConnectWithoutContext("/NodeList/*/$ns3::Ipv4L3Protocol/Tx", ns3::MakeCallback(&note_sent));
    ConnectWithoutContext("/NodeList/*/$ns3::Ipv4L3Protocol/LocalDeliver", ns3::MakeCallback(&note_delivered));
}

}  // namespace roambus
