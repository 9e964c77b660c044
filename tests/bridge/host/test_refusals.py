"""Whatever a MAC refuses, no notification is lost silently: it is delivered, kept by a node, or noted as dropped."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.backend import SENT, Failure, Hello, Transmission
from roambus.bridge.backends.ideal.backend import IdealBackend, make_links
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.python_protocol.events import BUFFER_FULL, CHANNEL_ACCESS_FAILURE, NO_ACKNOWLEDGEMENT, QUEUE_FULL
from roambus.python_protocol.roles import NodeId, Role
from tests.support.held import held

TOO_LONG = "packet longer than MAC.macMaxPacketSize"
REASONS = (QUEUE_FULL, BUFFER_FULL, CHANNEL_ACCESS_FAILURE, NO_ACKNOWLEDGEMENT, TOO_LONG)

INI = """\
[General]
network = SN
sim-time-limit = 40s
{network}
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.node[*].Application.agentParameters = "{parameters}"
SN.node[*].Application.filter = "topic = 1"
SN.node[*].Application.publishInterval = 500ms
SN.node[*].Application.publishStart = 15s
SN.node[*].Application.publishUntil = 25s
"""

FIVE = """\
SN.numNodes = 5
SN.node[0].Application.roles = "publisher broker"
SN.node[1..2].Application.roles = "broker"
SN.node[3..4].Application.roles = "subscriber broker"
"""
TREE = f'{FIVE}SN.tree = "1:0 2:1 3:1 4:2"'
GRAPH = f'{FIVE}SN.ideal.links = "0-1 1-2 2-3 1-3 2-4"'
PLACES = f"""\
{FIVE}SN.field_x = 60
SN.ideal.range = 21
SN.node[3].xCoor = 30
SN.node[3].yCoor = 15
SN.node[4].xCoor = 60
SN.node[1].xCoor = 20
SN.node[2].xCoor = 40
"""
"""The same graph, as a unit disk: agents know where they are."""
SITES = """\
SN.numNodes = 10
SN.ideal.complete = true
SN.node[0..5].Application.roles = "broker"
SN.node[6].Application.roles = "publisher"
SN.node[8..9].Application.roles = "subscriber"
"""
"""Two sites, of three brokers, a publisher and a subscriber each."""
BROKERS = ("mft", "simple", "phoenix", "first-approach", "resubscribing", "caching")
AGENTS = {
    **dict.fromkeys(BROKERS, "link_layer=false tree=given"),
    **dict.fromkeys(("aodv", "dsdv", "dsr", "olsr"), "link_layer=false"),
    **dict.fromkeys(("flooding", "gossip", "gossip-repair", "epidemic", "spray", "prophet", "mft-lean"), ""),
    "skip-ring": "supervisor=1",
    **dict.fromkeys(("ferry-fixed", "ferry-need"), ""),
    **dict.fromkeys(("gpsr", "geocast"), "link_layer=false"),
    "replicated": "sites=site0:0..2/6+8;site1@site0:3..5/7+9",
}
NETWORKS = {
    **dict.fromkeys(BROKERS, TREE),
    "gpsr": PLACES,
    "geocast": f'{PLACES}SN.node[*].Application.attributes = "topic = 1 and x = 45 and y = 8 and radius = 25"',
    "replicated": SITES,
}


class RefusingLinks(IdealBackend):
    """Ideal links below a MAC that reports what it sends, and fails a share of the frames with notifications."""

    reason, share, chance, failed = QUEUE_FULL, 0.3, Random(0), 0
    reporting: frozenset[NodeId] = frozenset()

    def open(self) -> Hello:
        """Tell that sent frames can be reported."""
        hello = super().open()
        return Hello(hello.simulator, hello.nodes, hello.time_limit, report_sent=self.report)

    def report(self, nodes: Sequence[NodeId]) -> None:
        """Report the frames of these nodes."""
        self.reporting = frozenset(nodes)

    def _transmit(self, transmission: Transmission) -> None:
        node, _, destination, message, _ = transmission
        if any(held(message)) and self.chance.random() < self.share:
            self.failed += 1
            self._failures.append(Failure(node, destination, message, self.reason))
            return
        before = len(self._failures)
        super()._transmit(transmission)
        if node in self.reporting and len(self._failures) == before:
            self._failures.append(Failure(node, destination, message, SENT))


def scenario(agent: str) -> Scenario:
    network = NETWORKS.get(agent, GRAPH)
    topic = "" if "attributes" in network else 'SN.node[*].Application.attributes = "topic = 1"\n'
    ini = INI.format(parameters=AGENTS[agent], network=network) + topic
    return parse_scenario(ini, TEMPLATES / "run.ini", TEMPLATES)


@pytest.mark.parametrize("agent", sorted(AGENTS.keys() & own_agents()))
@given(reason=st.sampled_from(REASONS), seed=st.integers(0, 999), share=st.sampled_from((0.1, 0.4, 0.9)))
@settings(max_examples=6, deadline=None)
def test_a_notification_is_delivered_kept_or_dropped_with_a_row(
    agent: str, reason: str, seed: int, share: float
) -> None:
    """Of what the protocol has begun to deliver; subscriptions are not lost here, which is another matter."""
    described, trace = scenario(agent), TraceWriter()
    links = make_links(RefusingLinks, described)
    links.reason, links.share, links.chance = reason, share, Random(seed)
    host = Host(described, load_agent(agent), links, trace)
    host.run()
    assume(links.failed)
    rows = trace.table().to_pylist()
    subscribers = {node for node, settings in enumerate(described.nodes) if Role.SUBSCRIBER in settings.roles}
    kept = {name for agent_of_node in host._agents for name, _ in held(agent_of_node)}  # their last states
    gone = {(row["notification_id"], row["node"]) for row in rows if row["event"] == "deliver"}
    dropped = {
        (name, row["peer"] if row["peer"] in subscribers else None)
        for row in rows
        if row["event"] == "drop"
        for name in (row["notification_id"] or "").split()
    }
    for row in rows:
        if row["event"] == "route":
            name = row["notification_id"]
            for subscriber in map(int, row["detail"].split()):
                is_noted = (name, subscriber) in gone | dropped or (name, None) in dropped
                assert is_noted or name in kept, (reason, name, subscriber)
