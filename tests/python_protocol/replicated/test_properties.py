"""What holds whatever is subscribed to and published, and whichever one broker of each site fails at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.scenario import Command, Fault, FaultKind
from python_protocol.events import Subscribe, Unsubscribe
from python_protocol.filters import Filter
from python_protocol.roles import NodeId
from python_protocol.simtime import MILLISECOND, SECOND, SimTime
from python_protocol.sites import Sites
from tests.python_protocol.replicated.network import (
    about,
    check_copies,
    check_deliveries,
    check_fifo,
    check_silence,
    check_tables,
    check_total,
    published,
    run,
    sites_of,
)

TOPICS = 3
SUBSCRIBED = SECOND
"""From here on it is published; what is subscribed to before is known everywhere."""
BUSY = 2000
"""Milliseconds in which it is published, and brokers fail."""
RECOVERY = 30
"""Milliseconds after which a broker that has recovered has caught up: a few times as long as the messages take."""


@dataclass(frozen=True)
class Plan:
    """A network, who wants what, what is published when, and what fails."""

    sites: Sites
    wanted: dict[NodeId, set[int]]
    commands: list[Command]
    faults: list[Fault]

    @property
    def filters(self) -> dict[NodeId, list[Filter]]:
        return {client: [about(topic) for topic in topics] for client, topics in self.wanted.items()}


@st.composite
def plans(draw: st.DrawFn, *, with_faults: bool = True) -> Plan:
    """Trees of one to four sites with a client or two each."""
    count = draw(st.integers(1, 4))
    parents = [None, *(draw(st.integers(0, site - 1)) for site in range(1, count))]
    sites = sites_of(parents, [draw(st.integers(1, 2)) for _ in range(count)])
    clients = [client for site in sites for client in site.clients]
    wanted = {client: draw(st.sets(st.integers(0, TOPICS - 1))) for client in clients}
    commands = [Command(0, client, Subscribe(about(topic))) for client, topics in wanted.items() for topic in topics]
    for _ in range(draw(st.integers(1, 12))):
        at = SUBSCRIBED + draw(st.integers(0, BUSY)) * MILLISECOND
        commands.append(Command(at, draw(st.sampled_from(clients)), published(draw(st.integers(0, TOPICS - 1)))))
    faults = [fault for site in sites for fault in draw(site_faults(site.brokers))] if with_faults else []
    return Plan(sites, wanted, sorted(commands, key=lambda command: command.at), faults)


@st.composite
def site_faults(draw: st.DrawFn, brokers: Sequence[NodeId]) -> list[Fault]:
    """One broker of a site after the other crashes or freezes, and recovers."""
    faults: list[Fault] = []
    now = SUBSCRIBED // MILLISECOND
    for _ in range(draw(st.integers(0, 3))):
        now += draw(st.integers(RECOVERY, BUSY // 2))
        kind, broker = draw(st.sampled_from((FaultKind.CRASH, FaultKind.FREEZE))), draw(st.sampled_from(brokers))
        faults.append(Fault(now * MILLISECOND, broker, kind))
        now += draw(st.integers(1, BUSY // 2))
        faults.append(Fault(now * MILLISECOND, broker, FaultKind.RECOVER))
    return faults


VARIANTS = [
    {"routing": routing, "order": order, "renumber": renumber}
    for routing in ("flooding", "filtering")
    for order in ("none", "fifo", "total")
    for renumber in ("true", "false")
    if renumber == "true" or (routing == "filtering" and order != "none")
]


@pytest.mark.parametrize("parameters", VARIANTS, ids=lambda variant: "-".join(variant.values()))
@settings(max_examples=25, deadline=None)
@given(plan=plans())
def test_a_site_survives_any_one_failure(parameters: dict[str, str], plan: Plan) -> None:
    """Nothing is lost or delivered twice, order holds, tables are right, copies equal, and the network falls silent."""
    result = run(plan.sites, plan.commands, plan.faults, parameters)
    check_deliveries(result)
    if parameters["order"] != "none":
        check_fifo(result)
    if parameters["order"] == "total":
        check_total(result)
    check_tables(result, plan.filters)
    check_copies(result)
    check_silence(result)
