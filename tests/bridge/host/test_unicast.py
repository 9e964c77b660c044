"""Any node sends to any other by what its subscription to its own identifier matches (the thesis, section 4.5.1)."""

from __future__ import annotations

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES

LINES = "0-1 1-2 2-3 3-4 4-5 5-6 6-7"
INI = f"""\
[General]
network = SN
sim-time-limit = 30s
SN.numNodes = 8
SN.ideal.links = "{LINES}"
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.node[*].Application.unicast = true
SN.node[3].Application.roles = "publisher broker"
SN.node[*].Application.roles = "broker"
SN.node[3].Application.attributes = "destination = 7"
SN.node[3].Application.publishInterval = 1s
SN.node[3].Application.publishStart = 10s
SN.node[3].Application.publishUntil = 25s
"""


def scenario() -> Scenario:
    return parse_scenario(INI, TEMPLATES / "run.ini", TEMPLATES)


@pytest.mark.parametrize("agent", ["mft", "aodv", "flooding", "gossip"])
def test_a_node_sends_to_another_and_to_nobody_else(agent: str) -> None:
    """Node 3 to node 7, over four hops: each notification arrives there, once, and nowhere else."""
    trace = TraceWriter()
    described = scenario()
    Host(described, load_agent(agent), make_ideal(described), trace).run()
    rows = trace.table().to_pylist()
    published = [row["notification_id"] for row in rows if row["event"] == "publish"]
    delivered = [(row["notification_id"], row["node"], row["hops"]) for row in rows if row["event"] == "deliver"]
    assert len(published) == 15
    assert delivered == [(identifier, 7, 4) for identifier in published]
    assert {row["detail"] for row in rows if row["event"] == "publish"} == {"7"}


def test_every_node_subscribes_to_itself() -> None:
    """Each to its own identifier, whatever its roles."""
    wanted = {entry.node: str(entry.filter) for entry in scenario().workload.subscriptions}
    assert wanted == {node: f"destination = {node}" for node in range(8)}
