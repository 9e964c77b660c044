"""What holds whatever is subscribed to and published, and whichever one broker of each site fails at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkDelay
from roambus.extensions.replicated.sites import SiteId, Sites
from roambus.extensions.replicated.tests.network import (
    Result,
    about,
    check_copies,
    check_deliveries,
    check_fifo,
    check_silence,
    check_tables,
    check_total,
    links_of,
    published,
    run,
    sites_of,
)
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.runs import of

TOPICS = 3
SUBSCRIBED = SECOND
"""From here on it is published; what is subscribed to before is known everywhere."""
BUSY = 2000
"""Milliseconds in which it is published, and brokers fail."""
RECOVERY = 100
"""Milliseconds after which a broker that has recovered has caught up: as long as the messages take on slow links."""
DELAYS = (1, 2, 5, 10)
"""Milliseconds that a message takes: on each link another time."""


@dataclass(frozen=True)
class Plan:
    """A network, who wants what, what is published when, and what fails."""

    sites: Sites
    wanted: dict[NodeId, set[int]]
    commands: list[Command]
    faults: list[Fault]
    delays: list[LinkDelay]

    def run(self, parameters: Mapping[str, str]) -> Result:
        return run(self.sites, self.commands, self.faults, parameters, self.delays)

    @property
    def filters(self) -> dict[NodeId, list[Filter]]:
        return {client: [about(topic) for topic in topics] for client, topics in self.wanted.items()}


@st.composite
def plans(draw: st.DrawFn, *, unsubscribing: bool = False) -> Plan:
    """Trees of one to four sites with a client or two each, which publish while they stay or while they unsubscribe."""
    count = draw(st.integers(1, 4))
    parents = [None, *(draw(st.integers(0, site - 1)) for site in range(1, count))]
    sites = sites_of(parents, [draw(st.integers(1, 2)) for _ in range(count)])
    clients = [client for site in sites for client in site.clients]
    wanted = {client: draw(st.sets(st.integers(0, TOPICS - 1))) for client in clients}
    commands = [Command(0, client, Subscribe(about(topic))) for client, topics in wanted.items() for topic in topics]
    for _ in range(draw(st.integers(1, 12))):
        at, client = SUBSCRIBED + draw(st.integers(0, BUSY)) * MILLISECOND, draw(st.sampled_from(clients))
        topic = draw(st.integers(0, TOPICS - 1))
        commands.append(Command(at, client, published(topic)))
        if unsubscribing and topic in wanted[client]:
            commands.append(Command(at, client, Unsubscribe(about(topic))))
            wanted[client].remove(topic)
    faults = [fault for site in sites for fault in draw(site_faults(site.brokers))]
    random = draw(st.randoms(use_true_random=False))
    delays = [LinkDelay(a, b, random.choice(DELAYS) * MILLISECOND) for a, b in links_of(sites)]
    return Plan(sites, wanted, sorted(commands, key=lambda command: command.at), faults, delays)


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
@settings(max_examples=15, deadline=None)
@given(plan=plans())
def test_a_site_survives_any_one_failure(parameters: dict[str, str], plan: Plan) -> None:
    """Nothing is lost or delivered twice, order holds, tables are right, copies equal, and the network falls silent."""
    result = plan.run(parameters)
    check_deliveries(result)
    if parameters["order"] != "none":
        check_fifo(result)
    if parameters["order"] == "total":
        check_total(result)
    check_tables(result, plan.filters)
    check_copies(result)
    check_silence(result)


@settings(max_examples=40, deadline=None)
@given(plan=plans(unsubscribing=True))
def test_no_table_keeps_what_nobody_wants(plan: Plan) -> None:
    """Whatever has been unsubscribed from meanwhile, and whatever fails (sections 4 and 7)."""
    result = plan.run({})
    check_tables(result, plan.filters)
    check_copies(result)
    check_silence(result)
    check_fifo(result)


@pytest.mark.parametrize("routing", ["flooding", "filtering"])
@settings(max_examples=15, deadline=None)
@given(plan=plans())
def test_events_go_to_every_site_or_only_where_they_are_wanted(routing: str, plan: Plan) -> None:
    """Between sites, each once: flooding over every edge of the tree, filtering over those to the interested."""
    result = run(plan.sites, plan.commands, (), {"routing": routing})
    for row in of(result.rows, "publish"):
        home = plan.sites.of_node[row["node"]]
        goals = range(len(plan.sites.sites)) if routing == "flooding" else interested(plan, row["detail"].split())
        edges = {edge for goal in goals for edge in edges_between(plan.sites, home, goal)}
        assert Counter(crossings(result, row["notification_id"])) == Counter(edges)


def interested(plan: Plan, subscribers: Sequence[str]) -> set[SiteId]:
    return {plan.sites.of_node[int(node)] for node in subscribers}


def edges_between(sites: Sites, start: SiteId, end: SiteId) -> set[tuple[SiteId, SiteId]]:
    """The way through the tree, in its direction."""
    if start == end:
        return set()
    following = next(site for site in sites.neighbours(start) if reaches(sites, site, end, start))
    return {(start, following)} | edges_between(sites, following, end)


def reaches(sites: Sites, site: SiteId, goal: SiteId, source: SiteId) -> bool:
    others = (neighbour for neighbour in sites.neighbours(site) if neighbour != source)
    return site == goal or any(reaches(sites, mate, goal, site) for mate in others)


def crossings(result: Result, identifier: str) -> list[tuple[SiteId, SiteId]]:
    """From which site to which an event is sent, each time that it is."""
    return [
        (result.sites.of_node[sender], result.sites.of_node[receiver])
        for sender, receiver, event in result.events
        if event == identifier and result.sites.of_node[sender] != result.sites.of_node[receiver]
    ]
