"""AODV of ns-3: reads scenarios as JSON from standard input, and prints what was counted of each as JSON.

It is run by a Python that has the package ns3, which need not be the one that has roambus: so it imports nothing of it.
`benchmarks.ns3_aodv` describes the scenarios, and starts this once, because to load ns-3 takes longer than most runs.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from ns import ns  # type: ignore[import-not-found]  # it may be in another Python only

_PORT = 4000
_MBPS = "DsssRate1Mbps"
_SENSITIVITY_DBM = -95.0
"""Of the CC2420."""


def main() -> None:
    """Makes one run after the other."""
    scenarios = json.load(sys.stdin)
    ns.cppyy.cppdef(Path(__file__).with_name("ns3_counts.h").read_text(encoding="utf-8"))
    print(json.dumps([_run(scenario) for scenario in scenarios]))


def _run(scenario: dict[str, Any]) -> dict[str, Any]:
    counts = ns.cppyy.gbl.roambus
    counts.forget()
    ns.RngSeedManager.SetSeed(scenario["seed"] + 1)
    nodes = ns.NodeContainer()
    nodes.Create(scenario["nodes"])
    ns.Ns2MobilityHelper(scenario["movements"]).Install()
    devices = _devices(nodes, scenario)
    _route(nodes, scenario)
    addresses = _addresses(devices)
    _flows(nodes, addresses, scenario)
    counts.connect()
    start = time.process_time()
    ns.Simulator.Stop(ns.Seconds(scenario["seconds"]))
    ns.Simulator.Run()
    seconds = time.process_time() - start
    ns.Simulator.Destroy()
    sent = {str(name): int(number) for name, number in counts.sent}
    return {"delivered": int(counts.delivered), "hops": int(counts.hops), "sent": sent, "seconds": seconds}


def _devices(nodes: Any, scenario: dict[str, Any]) -> Any:
    """IEEE 802.11b at 1 Mbit/s, over a unit disk or over the mean path loss of the embedded radio."""
    channel, phy = ns.YansWifiChannelHelper(), ns.YansWifiPhyHelper()
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel")
    if scenario["range"]:
        channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", ns.DoubleValue(scenario["range"]))
    else:
        loss = {"Exponent": 2.4, "ReferenceDistance": 1.0, "ReferenceLoss": 55.0}
        named = (one for name, value in loss.items() for one in (name, ns.DoubleValue(value)))
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", *named)
        for name in ("TxPowerStart", "TxPowerEnd"):
            phy.Set(name, ns.DoubleValue(0.0))
        # By default a preamble below -82 dBm is not looked at, which at 0 dBm is a range of 13 m.
        weakest = ("MinimumRssi", ns.DoubleValue(_SENSITIVITY_DBM))
        phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", *weakest)
        phy.Set("CcaSensitivity", ns.DoubleValue(_SENSITIVITY_DBM))
    phy.SetChannel(channel.Create())
    wifi, mac = ns.WifiHelper(), ns.WifiMacHelper()
    wifi.SetStandard(ns.WIFI_STANDARD_80211b)
    modes = ("DataMode", ns.StringValue(_MBPS), "ControlMode", ns.StringValue(_MBPS))
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", *modes)
    mac.SetType("ns3::AdhocWifiMac")
    return wifi.Install(phy, mac, nodes)


def _route(nodes: Any, scenario: dict[str, Any]) -> None:
    aodv, stack = ns.AodvHelper(), ns.InternetStackHelper()
    for name, value in scenario["aodv"].items():
        aodv.Set(name, ns.BooleanValue(value) if isinstance(value, bool) else ns.UintegerValue(value))
    stack.SetRoutingHelper(aodv)
    stack.Install(nodes)


def _addresses(devices: Any) -> Any:
    helper = ns.Ipv4AddressHelper()
    helper.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.0.0"))
    return helper.Assign(devices)


def _flows(nodes: Any, addresses: Any, scenario: dict[str, Any]) -> None:
    """A packet every second of each flow, all from the same moment on."""
    for source, destination in scenario["flows"]:
        client = ns.UdpClientHelper(addresses.GetAddress(destination).ConvertTo(), _PORT)
        client.SetAttribute("MaxPackets", ns.UintegerValue(scenario["packets"]))
        client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(1)))
        client.SetAttribute("PacketSize", ns.UintegerValue(scenario["bytes"]))
        client.Install(nodes.Get(source)).Start(ns.Seconds(scenario["start"]))
    for destination in sorted({destination for _, destination in scenario["flows"]}):
        ns.UdpServerHelper(_PORT).Install(nodes.Get(destination)).Start(ns.Seconds(0))


main()
