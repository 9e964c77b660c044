"""Whole runs of replicated brokers over ideal links, and what must be true of them in the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from random import Random
from typing import Any

from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Command, Publication, Scenario, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, LinkChange, LinkDelay
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.replicated import Replicated
from roambus.extensions.replicated.broker import Broker
from roambus.extensions.replicated.messages import Event as EventMessage
from roambus.extensions.replicated.sites import Site, SiteId, Sites
from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.events import Crashed, Event
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.scenarios import scenario

QUIET = 60 * SECOND
"""After the last command and fault: time-outs and all that follows from them have passed."""
SILENCE = 20 * SECOND
"""At the end of that nothing is sent any more."""


def sites_of(parents: Sequence[SiteId | None], clients: Sequence[int]) -> Sites:
    """Sites with these parents and numbers of clients; brokers are the nodes 0, 1, 2, ... in the order of sites."""
    first = 3 * len(parents)
    sites = []
    for site, parent in enumerate(parents):
        own = tuple(range(first, first + clients[site]))
        first += clients[site]
        sites.append(Site(f"site{site}", parent, (3 * site, 3 * site + 1, 3 * site + 2), own))
    return Sites(tuple(sites))


def links_of(sites: Sites) -> Iterator[tuple[NodeId, NodeId]]:
    """The links that are used: within a site, between neighbouring sites, and from clients to their brokers."""
    for site in sites:
        yield from combinations(site.brokers, 2)
        others = site.clients if site.parent is None else (*site.clients, *sites[site.parent].brokers)
        yield from ((broker, other) for broker in site.brokers for other in others)


def text_of(sites: Sites) -> str:
    """The sites as the parameter has them."""
    return ";".join(
        f"{site.name}{'' if site.parent is None else f'@{sites[site.parent].name}'}:"
        f"{'+'.join(map(str, site.brokers))}{'/' if site.clients else ''}{'+'.join(map(str, site.clients))}"
        for site in sites
    )


def about(topic: int) -> Filter:
    """The filter for a topic."""
    return parse_filter(f"topic = {topic}")


def published(topic: int) -> Publication:
    """An event of a topic."""
    return Publication((("topic", topic),))


@dataclass
class Result:
    """A run: its scenario's sites, the agents as they are in the end, and the rows of its trace."""

    sites: Sites
    agents: dict[NodeId, Replicated]
    rows: list[Row]
    events: list[tuple[NodeId, NodeId, str]]
    """Sender, receiver and event of each EVENT that was sent."""
    time_limit: SimTime
    copies: list[tuple[SimTime, NodeId, bool]]
    """When a broker has lost its copy of the state (False), and when it has one again (True)."""

    def deliveries(self) -> dict[NodeId, list[str]]:
        """What each subscriber was delivered, in order."""
        found: dict[NodeId, list[str]] = defaultdict(list)
        for row in of(self.rows, "deliver"):
            found[row["node"]].append(row["notification_id"])
        return found

    def expected(self) -> dict[NodeId, set[str]]:
        """What each subscriber wanted at the time of publication."""
        found: dict[NodeId, set[str]] = defaultdict(set)
        for row in of(self.rows, "publish"):
            for node in row["detail"].split():
                found[int(node)].add(row["notification_id"])
        return found

    def brokers(self) -> Iterator[Broker]:
        """All of them."""
        return (agent.part for agent in self.agents.values() if isinstance(agent.part, Broker))

    def broker(self, node: NodeId) -> Broker:
        """The one on a node."""
        found = self.agents[node].part
        assert isinstance(found, Broker)
        return found

    def tables(self, broker: NodeId) -> dict[NodeId, dict[str, int]]:
        """The routing table of a broker: how often each filter is wanted towards each neighbour."""
        wanted = self.broker(broker).replica.state.wanted.items()
        return {peer: {str(filter_): times for filter_, times in its.items()} for peer, its in wanted if its}


def check_deliveries(result: Result) -> None:
    """Every event that was wanted is delivered, once, and no other."""
    delivered = result.deliveries()
    assert all(Counter(events).most_common(1)[0][1] == 1 for events in delivered.values())
    assert {node: set(events) for node, events in delivered.items()} == dict(result.expected())


def check_fifo(result: Result) -> None:
    """Events of one publisher are delivered in the order in which they were published (section 5.1)."""
    for events in result.deliveries().values():
        by_publisher: dict[str, list[int]] = defaultdict(list)
        for event in events:
            publisher, _, number = event.partition(".")
            by_publisher[publisher].append(int(number))
        assert all(numbers == sorted(numbers) for numbers in by_publisher.values())


def check_total(result: Result) -> None:
    """No two subscribers are delivered two events in different orders (section 5.2)."""
    order: dict[str, set[str]] = defaultdict(set)
    for events in result.deliveries().values():
        for earlier, later in pairwise(events):
            order[earlier].add(later)
    assert not _has_circle(order)


def check_silence(result: Result) -> None:
    """In the end nothing is sent any more (section 8: "infinite loop of message exchanging")."""
    since = (result.time_limit - SILENCE) / SECOND
    assert not [row for row in of(result.rows, "send") if row["time_s"] >= since]


def check_copies(result: Result) -> None:
    """The brokers of a site have one state; nothing waits anywhere."""
    for broker in result.brokers():
        leader = result.broker(broker.replica.leader)
        assert leader.replica.is_leader
        assert broker.replica.point == leader.replica.point
        assert result.tables(broker.node) == result.tables(leader.node)
        assert not broker.replica.has_work


def check_tables(result: Result, wanted: Mapping[NodeId, Iterable[Filter]]) -> None:
    """A filter is in a table as often as it is wanted at or behind the neighbour, and not at all where it is not."""
    for broker in result.brokers():
        site = result.sites.of_node[broker.node]
        expected: dict[NodeId, Counter[str]] = defaultdict(Counter)
        for client, filters in wanted.items():
            for wish in filters:
                expected[_towards(result.sites, site, client)][str(wish)] += 1
        assert result.tables(broker.node) == {peer: dict(count) for peer, count in expected.items()}


def _towards(sites: Sites, site: SiteId, client: NodeId) -> NodeId:
    """The neighbour of a site behind which a client is."""
    home = sites.of_node[client]
    if home == site:
        return client
    for neighbour in sites.neighbours(site):
        if home in _behind(sites, neighbour, site):
            return sites[neighbour].brokers[0]
    raise AssertionError(f"no way from {site} to {home}")


def _behind(sites: Sites, site: SiteId, source: SiteId) -> set[SiteId]:
    found = {site}
    for neighbour in sites.neighbours(site):
        if neighbour != source:
            found |= _behind(sites, neighbour, site)
    return found


def _has_circle(order: Mapping[str, set[str]]) -> bool:
    left = {event: set(later) for event, later in order.items()}
    while left:
        last = [event for event, later in left.items() if not later & left.keys()]
        if not last:
            return True
        for event in last:
            del left[event]
    return False


def run(  # noqa: PLR0917  # an argument for each thing that a run is made of
    sites: Sites,
    commands: Sequence[Command],
    faults: Sequence[Fault] = (),
    parameters: Mapping[str, str] | None = None,
    delays: Sequence[LinkDelay] = (),
    changes: Sequence[LinkChange] = (),
    quiet: SimTime = QUIET,
) -> Result:
    """Runs until long after the last command and fault; every message is also turned to bytes and back."""
    end = max([*(command.at for command in commands), *(fault.at for fault in faults)], default=0) + quiet
    described = replace(
        _scenario(sites, commands, faults, dict(parameters or {}), end),
        ideal=IdealLinks(links=tuple(links_of(sites)), delays=tuple(delays), changes=tuple(changes)),
    )
    trace = TraceWriter()
    agents: dict[NodeId, Replicated] = {}
    events: list[tuple[NodeId, NodeId, str]] = []
    copies: list[tuple[SimTime, NodeId, bool]] = []
    Host(described, _watched(agents, events, copies), make_ideal(described), trace).run()
    return Result(sites, agents, trace.table().to_pylist(), events, end, copies)


def _scenario(
    sites: Sites, commands: Sequence[Command], faults: Sequence[Fault], parameters: dict[str, str], end: SimTime
) -> Scenario:
    nodes = {node: Role.BROKER for site in sites for node in site.brokers}
    nodes |= {node: Role.PUBLISHER | Role.SUBSCRIBER for site in sites for node in site.clients}
    return scenario(
        [nodes[node] for node in sorted(nodes)],
        Workload(commands=tuple(commands)),
        time_limit=end,
        agent_parameters={**parameters, "sites": text_of(sites)},
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
    )


def _watched(
    agents: dict[NodeId, Replicated],
    events: list[tuple[NodeId, NodeId, str]],
    copies: list[tuple[SimTime, NodeId, bool]],
) -> type[Replicated]:
    class Watched(Replicated):
        """The same agent, but each that is made can be looked at, and what it sends arrives by way of its bytes."""

        def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
            super().__init__(node, roles, parameters, random)
            agents[node] = self
            self._had_copy = True

        def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
            actions = list(super().handle(event, now))
            has_copy = not isinstance(event, Crashed) and not (
                isinstance(self.part, Broker) and self.part.replica.is_joining
            )
            if has_copy != self._had_copy:
                copies.append((now, self.node, has_copy))
                self._had_copy = has_copy
            return map(self._by_way_of_bytes, actions)

        def _by_way_of_bytes(self, action: Action) -> Action:
            if not isinstance(action, Send):
                return action
            decoded = self.messages.decode(action.message.encode())
            assert decoded == action.message
            if isinstance(decoded, EventMessage):
                events.append((self.node, action.destination, str(decoded.notification.id)))
            return Send(action.destination, decoded)

    return Watched
