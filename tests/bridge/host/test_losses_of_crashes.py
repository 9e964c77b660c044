"""Notifications that a crash takes with it have rows: the accounting of pairs says "crash", on every MAC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Workload
from roambus.bridge.scenario.mac import Ieee802154Settings
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.trace.schema import END
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.events import Publish, SendFailed
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.spark.metrics.reasons import CRASH, LOST, UNDER_WAY, UNSEEN
from roambus.spark.metrics.run import Run
from tests.bridge.backends.radio.runs import at_places
from tests.support.held import Held, held

AGENTS = [
    (name, link)
    for name in ("mft", "first-approach", "aodv", "dsr", "dsdv", "olsr", "gpsr")
    for link in ("true", "false")
    if name in own_agents()
]


class Told(Message, tag=1):
    """A notification."""

    notification: Notification


class Watched(Host):
    """Notes what is nowhere any more after a crash, neither in an agent nor on its way."""

    def __init__(self, scenario: Scenario, agent: str, backend: RadioBackend, trace: TraceWriter) -> None:
        super().__init__(scenario, load_agent(agent), backend, trace)
        self.taken: set[Held] = set()
        self._radio, self._fail = backend, self._faults._fail
        self._faults._fail = self._watch  # type: ignore[method-assign]  # a spy

    def _watch(self, node: NodeId, *, crashed: bool) -> None:
        before = set(held(self._agents[node]))
        self._fail(node, crashed=crashed)
        rest = set(held(self._agents)) | set(held(self._under_way()))
        self.taken |= {each for each in before - rest if (each[0], None) not in rest}

    def _under_way(self) -> list[Any]:
        """The messages that MACs and radios still have: on 802.15.4 not those of the node that has crashed."""
        free, up = set(self._radio._free), not self._scenario.mac.ACKNOWLEDGES
        sent = [each for frame, each in enumerate(self._radio._sent) if each is not None and frame not in free]
        return [each.message for each in sent if up or each.node not in self._faults.down]


def crashing(agent: str, parameters: str, mac: str, seed: int) -> Scenario:
    """A small run of the thesis' kind, drawn by the seed, in which two fifths of the nodes crash at once."""
    random = Random(f"{agent}/{parameters}/{mac}/{seed}")
    at = random.randint(12, 18)
    values: dict[str, Scalar] = {
        "publishers": random.randint(2, 3),
        "subscribers": random.randint(2, 4),
        "brokers": random.randint(3, 5),
        "side": random.choice((45, 60)),
        "speed": random.choice((0, 2, 8)),
        "burst": random.choice((4, 8)),
        "publish_interval": 0.25,
        "publish_until": 22,
        "time_limit": 34,
        "crash_share": 0.4,
        "crash_at": at,
        **({"recover_at": at + random.randint(1, 10)} if random.random() < 0.7 else {}),
    }
    run: dict[str, Scalar] = {"mac": mac, "seed": seed, "agent": agent, "agent_parameters": parameters}
    return parse_scenario(find_template("thesis").render(values | run), TEMPLATES / "run.ini", TEMPLATES)


class Burst(Agent):
    """Sends a notification to two neighbours, and hears of failures."""

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Both frames are at the MAC at once."""
        for neighbour in (1, 2):
            self.send(neighbour, Told(event.notification))

    @on(Told)
    def hear(self, told: Told, _: NodeId, __: SimTime) -> None:
        """Do nothing."""

    @on(SendFailed)
    def fail(self, event: SendFailed, _: SimTime) -> None:
        """A crashed node's agent never gets here."""
        raise AssertionError(event)


def test_the_rows_of_a_crashed_nodes_mac_name_the_notifications() -> None:
    """Its agent gets no event of them; the frame on the air is not lost."""
    workload = Workload(commands=(Command(SECOND, 0, Publication((("n", 1),))),))
    nodes = at_places(0, 5, 6)
    crash = Fault(SECOND + MILLISECOND, 0, FaultKind.CRASH)
    scenario = replace(nodes, mac=Ieee802154Settings(min_be=0), workload=workload, faults=(crash,))
    trace = TraceWriter(TraceLevel.FULL)
    Host(scenario, Burst, RadioBackend(scenario), trace).run()
    rows = [row for row in trace.table().to_pylist() if row["event"] in {"drop", "receive"}]
    assert [(row["event"], row["node"], row["peer"], row["notification_id"], row["detail"]) for row in rows] == [
        ("drop", 0, 2, "0.0", "crash"),
        ("receive", 1, 0, "0.0", None),
    ]


@pytest.mark.parametrize("mac", ["802.15.4", "TunableMAC"])
@pytest.mark.parametrize(("agent", "link"), AGENTS)
def test_what_a_crash_takes_with_it_is_lost_to_the_crash(agent: str, link: str, mac: str, tmp_path: Path) -> None:
    """In two random runs: none of these pairs counts as under way or unseen, and all ends add up."""
    taken = said = 0
    for seed in range(2):
        scenario, trace = crashing(agent, f"link_layer={link}", mac, seed), TraceWriter()
        host = Watched(scenario, agent, RadioBackend(scenario), trace)
        host.run()
        file = tmp_path / f"{seed}.parquet"
        trace.write(file, {END: repr(scenario.time_limit / SECOND)})
        run = Run(file)
        ends = run.whereabouts
        assert len(ends) == len(run.pairs)
        for end in ends[ends["where"] != "delivered"].itertuples():
            if {(end.notification_id, end.subscriber), (end.notification_id, None)} & host.taken:
                taken += 1
                said += (end.where, end.reason) == (LOST, CRASH)
                assert end.where not in {UNSEEN, UNDER_WAY}, end
    assert said > taken / 2 or not taken
    if link == "true":
        assert taken, "nobody had anything to lose"
