"""States and steps of a network.

A state is a tuple of numbers: of each node's state, the messages on each link, the time, and the world. A step is an
arrival or a loss, a time-out, or a command. Each may take time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.nodes import Numbering, Observation
from roambus.experiments.exploring.scenario_file import May
from roambus.experiments.exploring.world import World
from roambus.python_protocol.vocabulary import NodeId, SimTime

State = tuple[int, ...]
"""The numbers of the nodes' states, the queues between them, the time and the world."""
TIME, WORLD = -2, -1
"""The places of the last two."""
Picks = tuple[tuple[NodeId, tuple[int, ...]], ...]
"""The representatives that the draws of some nodes picked."""


class Arrive(NamedTuple):
    """The message with this number on its link, counted from 1, arrives or is lost."""

    sender: NodeId
    receiver: NodeId
    number: int = 1
    lost: bool = False
    after: SimTime = 0
    picks: Picks = ()


class RunOut(NamedTuple):
    """A timer of a node runs out, the next or a later one."""

    node: NodeId
    after: SimTime
    number: int = 1
    picks: Picks = ()


class Do(NamedTuple):
    """A command is given; `may` is the place of its line."""

    command: Command
    may: int
    after: SimTime = 0
    picks: Picks = ()


Step = Arrive | RunOut | Do


class Raised(NamedTuple):
    """An agent raised an error in a step."""

    text: str


Successor = tuple[int, State | Raised]
"""A step's number, and its next state."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a network behaves beside its agents."""

    may: tuple[May, ...] = ()
    brokers: frozenset[NodeId] = frozenset()
    publishers: frozenset[NodeId] = frozenset()
    lossy: frozenset[tuple[NodeId, NodeId]] = frozenset()
    """The pairs (sender, receiver) between which any message may be lost."""
    any_order: bool = False
    """Messages on one link may overtake each other."""
    fast_messages: bool = False
    """Time passes only while no message is under way."""
    drift: SimTime = 0
    """Timers within this time of each other run out in any order."""
    begin: SimTime = 0
    time_limit: SimTime | None = None
    """Nothing happens later than this after `begin`."""
    is_timed: bool = False
    """Agents read the clock or set timers, so a command's time matters."""
    counts_calm: bool = False
    """Whether the world counts time since the last command."""
    alike: tuple[Hashable, ...] = ()
    """The kinds of the nodes if names do not matter, else empty."""
    history: bool = False
    """Whether the world keeps publications, deliveries and acceptances."""
    counts_messages: bool = False
    """Whether the world counts messages and commands."""

    @property
    def loss(self) -> int | None:
        """The place of the line that allows losses."""
        return next((place for place, one in enumerate(self.may) if one.is_loss), None)


class Item(NamedTuple):
    """A message under way by its number, and its destination: BROADCAST or the receiver."""

    message: int
    destination: NodeId


class Worlds(Numbering[World]):
    """Knows the worlds, and what depends on them alone."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self.links = [(sender, receiver) for sender in range(size) for receiver in range(size) if sender != receiver]
        """The pairs (sender, receiver) in the order of a state's queues."""
        self._places = {link: place for place, link in enumerate(self.links, size)}
        self._carrying: Numbering[tuple[tuple[NodeId, ...], ...]] = Numbering()
        self._topologies: list[int] = []
        self._seen: dict[tuple[int, NodeId, str], int] = {}

    def place(self, sender: NodeId, receiver: NodeId) -> int:
        """Return the place in a state of the queue between two nodes."""
        return self._places[sender, receiver]

    def places(self) -> Iterable[tuple[int, tuple[NodeId, NodeId]]]:
        """Return each of these places, and its link."""
        return enumerate(self.links, self._size)

    def topology(self, world: int) -> int:
        """Return the number of a world's set of links."""
        while len(self._topologies) <= world:
            reached = map(self[len(self._topologies)].neighbours, range(self._size))
            self._topologies.append(self._carrying.number(tuple(reached)))
        return self._topologies[world]

    def neighbours(self, world: int) -> tuple[tuple[NodeId, ...], ...]:
        """Return each node's receivers over working links."""
        return self._carrying[self.topology(world)]

    def see(self, world: int, node: NodeId, seen: Observation) -> int:
        """Return the world after an observation."""
        key = world, node, repr(seen)  # by its text, because 1, 1.0 and True are equal
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self.number(self[world].seeing(node, seen))
        return found

    def counted(self, number: int, messages: int) -> int:
        """Return the world after this number of further messages."""
        world = self[number]
        return self.number(replace(world, messages=world.messages + messages))

    def passed(self, number: int, elapsed: SimTime, calm: SimTime) -> int:
        """Return the world after some time, if counted."""
        if not (elapsed or calm):
            return number
        world = self[number]
        return self.number(replace(world, elapsed=world.elapsed + elapsed, calm=world.calm + calm))


def used(world: World, may: int) -> World:
    """Return the world in which a line was used once more."""
    return replace(world, left=(*world.left[:may], world.left[may] - 1, *world.left[may + 1 :]))


class Queues(Numbering[tuple[Item, ...]]):
    """Knows the messages under way on one link; number 0 is none."""

    def __init__(self) -> None:
        super().__init__()
        self.number(())
        self._appended: dict[tuple[int, Item], int] = {}

    def append(self, queue: int, item: Item) -> int:
        """Return the queue with one more item at its end."""
        found = self._appended.get((queue, item))
        if found is None:
            found = self._appended[queue, item] = self.number((*self[queue], item))
        return found

    def without(self, queue: int, index: int) -> int:
        """Return the queue with one item less."""
        items = self[queue]
        return self.number(items[:index] + items[index + 1 :])
