"""Networks of nodes that do nothing but elect, over ideal links, and where their nodes stand in the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from roambus.bridge.scenario.definition import Workload
from roambus.bridge.scenario.plans import Fault, LinkChange
from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, Event
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.parts.election import NO_LEADERSHIP, Election, ElectionParameters, Heartbeat, Leadership
from roambus.python_protocol.parts.election.algorithm import Change, NeighbourAppeared, NeighbourGone, ParentChanged
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import CRASH, MIGRATE
from tests.support.runs import Edges, Row, distances, of, run

FOLLOW, APPEARED, GONE, HEARTBEAT = "follow", "appeared", "gone", "heartbeat"


class Electing(Agent):
    """Takes part in the election, traces what comes of it, and does nothing else."""

    parameters: ElectionParameters
    messages = MessageSet((Heartbeat,))
    clocks: Mapping[NodeId, SimTime] = {}
    """What a node's clock shows at the start of the run; 0 where it is not given."""

    def __init__(self, node: NodeId, roles: Role, parameters: ElectionParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._forget()

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Crashed):
            self._forget()
        self._election.dispatch(event, now + self.clocks.get(self.node, 0))
        actions, changes = self._election.take(), self._election.take_changes()
        return [*actions, *map(_note_change, changes), *self._note_leader(), *_note_heartbeats(actions)]

    def _forget(self) -> None:
        self._election = Election(self.node, Role.BROKER in self.roles, self.parameters, self.random)
        self._leadership = self._election.leadership

    def _note_leader(self) -> list[Note]:
        if self._election.leadership == self._leadership:
            return []
        self._leadership = self._election.leadership
        return [Note(FOLLOW, peer=self._leadership.leader, detail=str(self._leadership.started))]


def _note_heartbeats(actions: Iterable[Action]) -> list[Note]:
    sent = [action.message for action in actions if isinstance(action, Send)]
    return [
        Note(HEARTBEAT, detail=f"{message.leadership} {message.round}")
        for message in sent
        if isinstance(message, Heartbeat)
    ]


def _note_change(change: Change) -> Note:
    match change:
        case ParentChanged():
            return Note(MIGRATE, peer=change.parent)
        case NeighbourAppeared():
            return Note(APPEARED, peer=change.neighbour)
        case NeighbourGone():
            return Note(GONE, peer=change.neighbour)


@dataclass(slots=True)
class Place:
    """Where a node stands: the leadership that it follows, its parent and its children."""

    leadership: Leadership = NO_LEADERSHIP
    parent: NodeId | None = None
    children: set[NodeId] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Network:
    """Brokers and clients, the links between them, and all that happens to them."""

    nodes: int
    links: Edges
    clients: Collection[NodeId] = ()
    changes: Sequence[LinkChange] = ()
    faults: Sequence[Fault] = ()
    clocks: Mapping[NodeId, SimTime] = field(default_factory=dict)

    def run(self, until: SimTime, *, seed: int = 0, parameters: Mapping[str, str] | None = None) -> list[Row]:
        """The trace of its election."""
        agent = type("ElectingHere", (Electing,), {"clocks": self.clocks})
        roles = [Role.SUBSCRIBER if node in self.clients else Role.BROKER for node in range(self.nodes)]
        return run(
            agent,
            self.nodes,
            self.links,
            Workload(),
            roles=roles,
            changes=self.changes,
            faults=self.faults,
            time_limit=until,
            parameters=parameters,
            seed=seed,
        )

    @property
    def last_change(self) -> SimTime:
        """When it comes to rest; the start is a change, too."""
        return max([0, *(change.at for change in self.changes), *(fault.at for fault in self.faults)])

    @property
    def links_left(self) -> Edges:
        """The links after all changes, once each, the smaller end first."""
        left = {(min(ends), max(ends)) for ends in self.links}
        for change in sorted(self.changes, key=lambda change: change.at):
            ends = (min(change.a, change.b), max(change.a, change.b))
            (left.add if change.up else left.discard)(ends)
        return sorted(left)

    @property
    def ways_left(self) -> Edges:
        """The links between brokers after all changes."""
        return [ends for ends in self.links_left if not set(ends) & set(self.clients)]

    def partitions(self) -> list[set[NodeId]]:
        """The brokers of each partition after all changes."""
        found: list[set[NodeId]] = []
        for broker in sorted(set(range(self.nodes)) - set(self.clients)):
            if not any(broker in partition for partition in found):
                reached = distances(self.nodes, self.ways_left, broker)
                found.append({node for node in range(self.nodes) if reached[node] is not None})
        return found

    def depth(self) -> int:
        """The most hops from a broker to a node of its partition after all changes."""
        between = [hops or 0 for node in range(self.nodes) for hops in distances(self.nodes, self.ways_left, node)]
        return max(between) + (1 if self.clients else 0)

    def hears(self, node: NodeId) -> set[NodeId]:
        """The brokers with a link to a node after all changes."""
        heard = {b for a, b in self.links_left if a == node} | {a for a, b in self.links_left if b == node}
        return heard - set(self.clients)


def places(rows: Iterable[Row], nodes: int, until: float = float("inf")) -> list[Place]:
    """Where each node stands at a time in s, as the trace has it."""
    found = [Place() for _ in range(nodes)]
    for row in rows:
        if row["time_s"] <= until:
            _follow_row(found, row)
    return found


def _follow_row(found: list[Place], row: Row) -> None:
    node, event, peer = row["node"], row["event"], row["peer"]
    if event == FOLLOW:
        found[node].leadership = Leadership(int(row["detail"]), peer)
    elif event == MIGRATE:
        found[node].parent = peer
    elif event == APPEARED:
        found[node].children.add(peer)
    elif event == GONE:
        found[node].children.remove(peer)
    elif event == CRASH:
        found[node] = Place()


def unrest(rows: Iterable[Row], after: float) -> list[Row]:
    """What changes after a time in s."""
    changes = [row for kind in (FOLLOW, MIGRATE, APPEARED, GONE) for row in of(rows, kind)]
    return [row for row in changes if row["time_s"] > after]


def assert_settled(network: Network, found: Sequence[Place]) -> None:
    """One leader and a tree of shortest ways to it in each partition, clients on it, and all children known."""
    for partition in network.partitions():
        _assert_tree(network, partition, found)
    for client in network.clients:
        _assert_on_a_broker(network, client, found)
    for node, place in enumerate(found):
        assert place.children == {child for child in range(network.nodes) if found[child].parent == node}


def _assert_tree(network: Network, partition: set[NodeId], found: Sequence[Place]) -> None:
    (leadership,) = {found[broker].leadership for broker in partition}
    assert leadership.leader in partition
    hops = distances(network.nodes, network.ways_left, leadership.leader)
    assert found[leadership.leader].parent is None
    for broker in partition - {leadership.leader}:
        nearer = {broker_ for broker_ in network.hears(broker) if (hops[broker_] or 0) + 1 == hops[broker]}
        assert found[broker].parent in nearer


def _assert_on_a_broker(network: Network, client: NodeId, found: Sequence[Place]) -> None:
    heard, place = network.hears(client), found[client]
    assert (place.parent in heard) if heard else (place.parent is None)
    if place.parent is not None:
        assert place.leadership == found[place.parent].leadership == min(found[broker].leadership for broker in heard)
