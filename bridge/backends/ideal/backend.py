"""The `ideal` back-end: FIFO links over a graph that can change at given times.

Algorithms run as in their papers: a standing link loses and reorders nothing, senders learn of undeliverable unicast
frames, and only agents are random. Optionally a link is slow, silently lossy, or down one way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from roambus.bridge.backend import (
    Course,
    Delivery,
    Failure,
    Hello,
    Move,
    NodeInfo,
    Overhearing,
    Step,
    Totals,
    Transmission,
    sent_before,
)
from roambus.bridge.backends.ideal.graph import (
    Graph,
    GraphChange,
    Link,
    cut_off,
    disk_changes,
    reach_m,
    receivers,
    relink,
)
from roambus.bridge.backends.ideal.steering import Disk
from roambus.bridge.mobility.paths import known_moves, paths_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, Partition
from roambus.bridge.scenario.tree import tree_links
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import NO_LINK
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime

PERFECT_RSSI_DBM = -50.0
PERFECT_LQI_DB = 50.0
"""A strong link's levels, the same on all links at any distance."""


@dataclass(eq=False, slots=True)
class Frame:
    """Under way until it arrives or is `lost`; `destination` may be BROADCAST, or another node than the receiver."""

    delivery: Delivery
    destination: NodeId
    lost: bool = False

    @property
    def is_overheard(self) -> bool:
        """Whether it is a unicast between others."""
        return self.destination not in (BROADCAST, self.delivery.receiver)


class IdealBackend:
    """Delivers frames to all neighbours or their receiver, after the link's delay."""

    def __init__(  # noqa: PLR0913  # a graph, what happens to it, and times that have nothing to do with each other
        self,
        nodes: int,
        links: Iterable[tuple[NodeId, NodeId]],
        time_limit: SimTime,
        changes: Iterable[LinkChange | Partition] = (),
        ideal: IdealLinks = IdealLinks(),
        *,
        faults: Iterable[Fault] = (),
        processing_delay: SimTime = 0,
        moves: Sequence[Move] = (),
        seed: int = 0,
        disk: Disk | None = None,
    ) -> None:
        """Set up `links` as `ideal` says; losses follow from `seed`, `moves` are for the trace.

        By `disk` links follow nodes that their agents move.
        """
        graph = Graph.of(nodes, links)
        self._near = list(graph.near)  # changed in place: thousands of nodes have many more links that come and go
        self._graph = graph._replace(near=self._near)
        self._reached: dict[NodeId, tuple[NodeId, ...]] = {}
        """Cached broadcast receivers; cleared with each change of the graph."""
        self._changes: deque[GraphChange] = deque(sorted([*changes, *faults], key=lambda change: change.at))
        """Changes and faults to come; at one instant changes precede."""
        self._nodes = nodes
        self._time_limit = time_limit
        self._delay = ideal.delay
        self._delays = {frozenset((delay.a, delay.b)): delay.delay for delay in ideal.delays}
        self._losses = {(loss.sender, loss.receiver): loss.share for loss in ideal.losses}
        self._loss = ideal.loss
        self._chance = Random(f"ideal/{seed}")
        self._processing_delay = processing_delay
        self._moves = moves
        self._disk = disk
        self._order = 0
        self._pending: list[tuple[SimTime, int, Transmission | Frame]] = []
        self._under_way: dict[Link, deque[Frame]] = {}
        """Each link's frames in sending order."""
        self._frozen: dict[NodeId, list[Transmission | Frame]] = {}
        """Items that wait for each frozen node."""
        self._recovered: dict[NodeId, None] = {}
        """Those of them that recover at this instant, in this order."""
        self._now: SimTime = 0
        self._listening: frozenset[NodeId] = frozenset()
        """The nodes that get unicasts between others."""
        self._arrived: list[Delivery] = []
        self._overheard: list[Overhearing] = []
        self._failures: list[Failure] = []

    def open(self) -> Hello:
        """Boot every node at 0, with a perfect clock."""
        nodes = [NodeInfo(0)] * self._nodes
        delay, steer = self._processing_delay, self._steer
        return Hello("ideal", nodes, self._time_limit, delay, overhear=self._overhear, steer=steer)

    def _overhear(self, nodes: Sequence[NodeId]) -> None:
        self._listening = frozenset(nodes)

    def _steer(self, course: Course) -> None:
        """Let the links follow; given ones have nothing to do with places."""
        if self._disk is not None:
            self._changes = deque(self._disk.follow(course, self._near[course.node], self._changes))

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Run to the host's next instant, as in `Backend.advance`."""
        for transmission in transmissions:
            if transmission.at < self._now:
                raise sent_before(transmission, self._now)
            self._order += 1
            heappush(self._pending, (transmission.at, self._order, transmission))
        until = self._time_limit if wake_up is None else min(wake_up, self._time_limit)
        while (at := self._next()) is not None and at <= until:
            self._now = at
            self._happen()
            if self._arrived or self._failures or self._overheard:
                return self._step()
        self._now = until
        return self._step()

    @property
    def under_way(self) -> int:
        """Return the number of frames under way."""
        return sum(map(len, self._under_way.values()))

    def fail(self, error: BaseException) -> None:
        """Do nothing: there is no peer."""

    def close(self) -> Totals:
        """Do nothing: nothing is to be freed."""
        return Totals(moves=self._moves)

    def _next(self) -> SimTime | None:
        times = [self._changes[0].at] if self._changes else []
        if self._pending:
            times.append(self._pending[0][0])
        return min(times, default=None)

    def _step(self) -> Step | None:
        if self._now >= self._time_limit:
            return None
        arrived = sorted(self._arrived, key=lambda delivery: delivery.receiver)
        step = Step(self._now, arrived, self._failures, overheard=sorted(self._overheard, key=lambda it: it.receiver))
        self._arrived, self._failures, self._overheard = [], [], []
        return step

    def _happen(self) -> None:
        while self._changes and self._changes[0].at == self._now:
            change = self._changes.popleft()
            self._change(change)
            if not (isinstance(change, LinkChange) and change.up):
                self._lose_what_is_cut_off()
        # Only now: a node that freezes again at this instant has not received anything.
        for node in self._recovered:
            for item in self._frozen.pop(node):
                self._take(item)
        self._recovered.clear()
        while self._pending and self._pending[0][0] == self._now:
            self._take(heappop(self._pending)[2])

    # Changes

    def _change(self, change: GraphChange) -> None:
        """Apply a fault to links and frames; the host does the rest."""
        if isinstance(change, LinkChange):
            relink(self._near, change)
            self._reached.pop(change.a, None)
            self._reached.pop(change.b, None)
        else:
            self._graph = self._graph.after(change)
            self._reached.clear()
        match change:
            case Fault(node=node, kind=FaultKind.CRASH):
                self._forget(node)
            case Fault(node=node, kind=FaultKind.FREEZE):
                self._frozen.setdefault(node, [])
                self._recovered.pop(node, None)
            case Fault(node=node) if node in self._frozen:
                self._recovered[node] = None

    def _forget(self, node: NodeId) -> None:
        """Drop a crashed node's unsent frames; those on its links go with them."""
        self._frozen.pop(node, None)
        self._recovered.pop(node, None)
        # What was to leave the node after its processing delay never does.
        leaving = {order for _, order, item in self._pending if isinstance(item, Transmission) and item.node == node}
        self._pending = sorted(entry for entry in self._pending if entry[1] not in leaving)

    def _lose_what_is_cut_off(self) -> None:
        for link, frames, acknowledged in list(cut_off(self._graph, self._under_way.items())):
            del self._under_way[link]
            for frame in frames:
                frame.lost = True
                if frame in acknowledged and not frame.is_overheard:
                    self._failures.append(Failure(*link, frame.delivery.message, NO_LINK))

    # Frames

    def _take(self, item: Transmission | Frame) -> None:
        """Send or deliver a frame; a frozen node postpones both."""
        node = item.node if isinstance(item, Transmission) else item.delivery.receiver
        if node in self._frozen:
            self._frozen[node].append(item)
        elif isinstance(item, Transmission):
            self._transmit(item)
        elif not item.lost:
            self._arrive(item)

    def _transmit(self, transmission: Transmission) -> None:
        """Create a frame per receiver: links have their own delays and faults."""
        node, _, destination, message, _ = transmission
        reached = self._reached.get(node)
        if reached is None:
            reached = self._reached[node] = self._graph.reached(node)
        to = receivers(reached, destination)
        if to is None:
            self._failures.append(Failure(node, destination, message, NO_LINK))
        if self._listening and to and destination != BROADCAST:
            to = (*to, *(third for third in reached if third in self._listening and third != destination))
        for receiver in to or ():
            frame = Frame(delivered(node, receiver, message), destination)
            if not self._loses(node, receiver):
                self._under_way.setdefault((node, receiver), deque()).append(frame)
                self._set_out(frame)

    def _loses(self, sender: NodeId, receiver: NodeId) -> bool:
        """Return whether the link loses this frame; draw only if it can."""
        share = self._losses.get((sender, receiver), self._loss)
        return share > 0 and self._chance.random() < share

    def _set_out(self, frame: Frame) -> None:
        link = frozenset((frame.delivery.sender, frame.delivery.receiver))
        self._order += 1
        heappush(self._pending, (self._now + self._delays.get(link, self._delay), self._order, frame))

    def _arrive(self, frame: Frame) -> None:
        link = frame.delivery.sender, frame.delivery.receiver
        under_way = self._under_way[link]
        under_way.remove(frame)  # the oldest, unless a subclass lets another arrive first
        if not under_way:
            del self._under_way[link]
        if self._listening and frame.is_overheard:
            receiver, sender, message, *levels = frame.delivery
            self._overheard.append(Overhearing(receiver, sender, frame.destination, message, *levels))
        else:
            self._arrived.append(frame.delivery)


def delivered(sender: NodeId, receiver: NodeId, message: Message) -> Delivery:
    """Return a receiver's view of a message: equal levels on all ideal links."""
    return Delivery(receiver, sender, message, PERFECT_RSSI_DBM, PERFECT_LQI_DB)


Kind = TypeVar("Kind", bound=IdealBackend)


class GivenGraph(NamedTuple):
    """Initial links, their changes, and nodes' places for the trace; a `disk` if they follow from places."""

    links: Sequence[tuple[NodeId, NodeId]]
    changes: Sequence[LinkChange]
    moves: Sequence[Move] = ()
    disk: Disk | None = None


def make_ideal(scenario: Scenario) -> IdealBackend:
    """Return the scenario's back-end, with its graph, delays, partitions and faults."""
    return make_links(IdealBackend, scenario)


def make_links(kind: type[Kind], scenario: Scenario) -> Kind:
    """Return the same of a subclass."""
    ideal, graph = scenario.ideal, graph_of(scenario)
    return kind(
        len(scenario.nodes),
        graph.links,
        scenario.time_limit,
        [*graph.changes, *ideal.partitions],
        ideal,
        faults=scenario.faults,
        processing_delay=scenario.processing_delay,
        moves=graph.moves,
        seed=scenario.seed,
        disk=graph.disk,
    )


def graph_of(scenario: Scenario) -> GivenGraph:
    """Return a scenario's links and their changes."""
    return given_graph(scenario) or _disk(scenario)


def given_graph(scenario: Scenario) -> GivenGraph | None:
    """Return the scenario's tree or graph; None if links follow from places."""
    ideal = scenario.ideal
    if scenario.tree:
        return GivenGraph((), tree_links(scenario.tree))
    if ideal.links or ideal.changes:
        return GivenGraph(ideal.links, ideal.changes)
    return None


def _disk(scenario: Scenario) -> GivenGraph:
    """Return the unit disk, whose links follow from places."""
    paths = paths_of(scenario)
    reaches = [reach_m(scenario, node) for node in scenario.nodes]
    changes = disk_changes(paths, reaches, scenario.time_limit)
    disk = Disk(paths, reaches, scenario.time_limit)
    return GivenGraph((), changes, known_moves(scenario, paths, scenario.time_limit), disk)


@dataclass(frozen=True, slots=True)
class IdealFactory:
    """Makes ideal back-ends."""

    name: str = "ideal"

    def prepare(self, scenario: Scenario) -> None:
        """Raise UserError for measured links, which lose frames."""
        if scenario.measured is not None:
            raise UserError("ideal links lose nothing: leave SN.links.file out, or run this on the embedded radio")

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> IdealBackend:  # noqa: ARG002  # interface
        """The links of one run."""
        return make_ideal(scenario)
