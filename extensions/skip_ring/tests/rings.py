"""BuildRing alone, without a supervisor, from any weakly connected start (the skip ring's paper, section 2.2).

A `Start` is made of plain numbers, so that hypothesis can make it small. Messages take times that are drawn, and can
overtake each other, as the paper's model has it (section 1.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, pairwise
from random import Random
from typing import NamedTuple

from roambus.extensions.skip_ring.agent import TIMEOUT
from roambus.extensions.skip_ring.labels import Label, Reference, label_of, position
from roambus.extensions.skip_ring.messages import Introduce, Linearize, SkipRingParameters
from roambus.extensions.skip_ring.ring import BuildRing
from roambus.python_protocol.actions import Send, SetTimer
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Event, Received, Started, TimerFired
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

ROUND: SimTime = SECOND
PLACES = ("left", "right", "ring")

Place = tuple[NodeId, str]


class Stored(NamedTuple):
    """What a node stores at first: its own label, and the nodes in its three places, whose labels it knows."""

    label: Label
    left: NodeId | None
    right: NodeId | None
    ring: NodeId | None


@dataclass(frozen=True, slots=True)
class Start:
    """What each node stores, and the labels that some references have falsely, by node and place."""

    stored: tuple[Stored, ...]
    false: tuple[tuple[Place, Label], ...] = ()


class BuildRingAlone(Agent):
    """The extended BuildRing without a supervisor; each node has its label for good."""

    parameters: SkipRingParameters

    def __init__(self, node: NodeId, start: Start, parameters: SkipRingParameters, random: Random) -> None:
        super().__init__(node, Role.NONE, parameters, random)
        places = [
            None if reference is None else Reference(reference, start.stored[reference].label)
            for reference in start.stored[node][1:]
        ]
        self.own = Reference(node, start.stored[node].label)
        self.ring = BuildRing(node, 1, parameters, of=self)
        self.ring.label = self.own.label
        self.ring.left, self.ring.right, self.ring.ring = places

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        self.set_timer(TIMEOUT, self.random.randrange(self.parameters.round))

    @on_timer(TIMEOUT)
    def timeout(self, key: str, now: SimTime) -> None:
        self.set_timer(TIMEOUT, self.parameters.round)
        self.ring.timeout(self.own)

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        self.ring.introduced(self.own, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        self.ring.delegated(self.own, message)


class Network:
    """All nodes with their channels, in which a message stays for a time that is drawn up to `delay`."""

    def __init__(self, start: Start, random: Random, delay: SimTime, *, probe_ends: bool = True) -> None:
        parameters = SkipRingParameters(probe_ends=probe_ends)
        self.nodes = [BuildRingAlone(node, start, parameters, random) for node in range(len(start.stored))]
        for (node, place), label in start.false:
            other = getattr(self.nodes[node].ring, place)
            setattr(self.nodes[node].ring, place, Reference(other.node, label))
        self._random, self._delay, self._order = random, delay, count()
        self._due: list[tuple[SimTime, int, NodeId, Event]] = []
        for node in range(len(self.nodes)):
            self._schedule(0, node, Started())

    def is_sorted_ring(self) -> bool:
        """Whether everybody knows its neighbours by their labels, and the ends know each other."""
        ordered = sorted((node.own for node in self.nodes), key=lambda reference: position(reference.label))
        wanted: dict[NodeId, dict[str, Reference]] = {reference.node: {} for reference in ordered}
        for reference, following in pairwise(ordered):
            wanted[reference.node]["right"], wanted[following.node]["left"] = following, reference
        wanted[ordered[0].node]["ring"], wanted[ordered[-1].node]["ring"] = ordered[-1], ordered[0]
        return all(
            getattr(self.nodes[node].ring, place) == places.get(place)
            for node, places in wanted.items()
            for place in PLACES
        )

    def rounds_to_settle(self, within: int = 150, staying: int = 5) -> int | None:
        """The rounds after which it is the sorted ring and stays it for some; None if that takes too many."""
        since: int | None = None
        for number in range(within + staying):
            self._run_until(number * ROUND)
            if not self.is_sorted_ring():
                since = None
            elif since is None:
                since = number
            elif number - since >= staying:
                return since
        return None

    def _run_until(self, end: SimTime) -> None:
        while self._due[0][0] < end:
            now, _, node, event = heappop(self._due)
            for action in self.nodes[node].handle(event, now):
                if isinstance(action, Send):
                    after = self._random.randint(1, self._delay)
                    self._schedule(now + after, action.destination, Received(node, action.message, 0.0, 0.0))
                elif isinstance(action, SetTimer):
                    self._schedule(now + action.after, node, TimerFired(action.key))

    def _schedule(self, time: SimTime, node: NodeId, event: Event) -> None:
        heappush(self._due, (time, next(self._order), node, event))


def draw_delay(random: Random) -> SimTime:
    """The longest time that a message takes, from a millisecond to two rounds."""
    return random.choice((1, 10, 100, 500, 1000, 2000)) * MILLISECOND


def draw_start(random: Random, most: int = 12) -> Start:
    """Nodes with different labels and any edges that connect them all, if one goes along edges either way."""
    labels = [label_of(number) for number in random.sample(range(4 * most), random.randint(2, most))]
    nodes = range(len(labels))
    free = [(node, place) for node in nodes for place in PLACES]
    random.shuffle(free)
    found = dict(_connect(random, len(labels), free))
    for node, place in free:
        if random.random() < 0.5:
            found[node, place] = random.choice([other for other in nodes if other != node])
    return Start(
        tuple(Stored(label, *(found.get((node, place)) for place in PLACES)) for node, label in enumerate(labels))
    )


def _connect(random: Random, nodes: int, free: list[Place]) -> Iterator[tuple[Place, NodeId]]:
    """Edges of a random tree, each stored at one of its ends, in a place that is free and then is no more."""
    for node in range(1, nodes):
        ends = {node, random.randrange(node)}
        own, place = next(end for end in free if end[0] in ends)
        free.remove((own, place))
        yield (own, place), (ends - {own}).pop()


def with_false_labels(random: Random, start: Start) -> Start:
    """The same, where half of the references have a label that is drawn."""
    stored = [
        (node, place)
        for node, places in enumerate(start.stored)
        for place in PLACES
        if getattr(places, place) is not None
    ]
    drawn = (place for place in stored if random.random() < 0.5)
    return replace(start, false=tuple((place, label_of(random.randrange(4 * len(start.stored)))) for place in drawn))


def wound(labels: list[Label], times: int) -> Start:
    """A ring that winds several times about the circle: sorted lists, the last of each closed with the next's first."""
    ordered = sorted(range(len(labels)), key=lambda node: position(labels[node]))
    lists = [ordered[first::times] for first in range(times)]
    whole = [node for order in lists for node in order]
    stored: list[Stored] = []
    for node, label in enumerate(labels):
        before, after = whole[whole.index(node) - 1], whole[(whole.index(node) + 1) % len(whole)]
        is_first, is_last = (any(order[end] == node for order in lists) for end in (0, -1))
        stored.append(
            Stored(
                label,
                None if is_first else before,
                None if is_last else after,
                before if is_first else after if is_last else None,
            )
        )
    return Start(tuple(stored))
