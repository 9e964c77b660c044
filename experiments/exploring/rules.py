"""States and steps of a network, and the rules by which one follows from the other.

A state is a tuple of numbers: the state of each node, what is under way on each pair of nodes, and the world. A step is
a message that arrives or is lost, a timer that runs out, or a command.

The parts of a network's state beside its nodes, by numbers: the world, and what is under way on single links.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.nodes import Numbering, Seen, Tally
from roambus.experiments.exploring.scenario_file import May
from roambus.experiments.exploring.world import World
from roambus.python_protocol.vocabulary import NodeId, SimTime

State = tuple[int, ...]
"""The numbers of the nodes' states, of the queues between them, and of the world."""
Picks = tuple[tuple[NodeId, tuple[int, ...]], ...]
"""What the chance of some nodes picked."""


class Arrive(NamedTuple):
    """Of the messages under way on a link the one with this number, counted from 1, arrives or is lost."""

    sender: NodeId
    receiver: NodeId
    number: int = 1
    lost: bool = False
    picks: Picks = ()


class RunOut(NamedTuple):
    """The next timer of a node runs out, after a time in which nothing happens."""

    node: NodeId
    after: SimTime
    picks: Picks = ()


class Do(NamedTuple):
    """A command is given; `may` is the place of the line that allows it."""

    command: Command
    may: int
    picks: Picks = ()


Step = Arrive | RunOut | Do


class Raised(NamedTuple):
    """An agent raised an error in a step."""

    text: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What a network does, beside what its agents do."""

    may: tuple[May, ...] = ()
    brokers: frozenset[NodeId] = frozenset()
    publishers: frozenset[NodeId] = frozenset()
    lossy: frozenset[tuple[NodeId, NodeId]] = frozenset()
    """From which sender to which receiver any message may get lost."""
    any_order: bool = False
    """Messages on one link may overtake each other."""
    slow_messages: bool = False
    """Timers may run out while messages are under way."""
    drift: SimTime = 0
    """Timers that run out within this time of each other do so in any order."""
    time_limit: SimTime | None = None
    """Nothing runs out later than this after the beginning."""
    counts_calm: bool = False
    """Whether the world counts the time since the last command."""
    alike: tuple[Hashable, ...] = ()
    """What tells nodes apart but for their names, which do not matter then; empty if names do."""
    history: bool = False
    """Whether the world keeps what was published, delivered and accepted."""
    counts_messages: bool = False
    """Whether the world counts messages and commands."""

    @property
    def loss(self) -> int | None:
        """The place of the line that allows messages to get lost."""
        return next((place for place, one in enumerate(self.may) if one.is_loss), None)


class Item(NamedTuple):
    """Something under way: the number of a message, and its destination, which is BROADCAST or the receiver."""

    message: int
    destination: NodeId


class Worlds(Numbering[World]):
    """Knows the worlds, and what depends on them alone."""

    def __init__(self, size: int, learnt: Tally) -> None:
        super().__init__(learnt)
        self._size = size
        self.links = [(sender, receiver) for sender in range(size) for receiver in range(size) if sender != receiver]
        """The pairs (sender, receiver) in the order in which a state has what is under way between them."""
        self._places = {link: place for place, link in enumerate(self.links, size)}
        self._carrying: Numbering[tuple[tuple[NodeId, ...], ...]] = Numbering()
        self._topologies: list[int] = []
        self._seen: dict[tuple[int, NodeId, Seen], int] = {}

    def place(self, sender: NodeId, receiver: NodeId) -> int:
        """The place in a state of what is under way from one node to another."""
        return self._places[sender, receiver]

    def places(self) -> Iterable[tuple[int, tuple[NodeId, NodeId]]]:
        """Each of these places, and its link."""
        return enumerate(self.links, self._size)

    def topology(self, world: int) -> int:
        """The number of what carries in a world."""
        try:
            return self._topologies[world]
        except IndexError:
            for number in range(len(self._topologies), world + 1):
                reached = map(self[number].neighbours, range(self._size))
                self._topologies.append(self._carrying.number(tuple(reached)))
            return self._topologies[world]

    def neighbours(self, world: int) -> tuple[tuple[NodeId, ...], ...]:
        """Those to whom a link carries, of each node."""
        return self._carrying[self.topology(world)]

    def see(self, world: int, node: NodeId, seen: Seen) -> int:
        """The world after a node was given something, or has accepted it for others."""
        found = self._seen.get((world, node, seen))
        if found is None:
            found = self._seen[world, node, seen] = self.number(self[world].seeing(node, seen))
        return found

    def counted(self, number: int, messages: int) -> int:
        """The world after this number of further messages."""
        world = self[number]
        return self.number(replace(world, messages=world.messages + messages))

    def passed(self, number: int, elapsed: SimTime, calm: SimTime) -> int:
        """The world after so much time, as far as it counts what has elapsed, and what was calm."""
        if not (elapsed or calm):
            return number
        world = self[number]
        return self.number(replace(world, elapsed=world.elapsed + elapsed, calm=world.calm + calm))


def used(world: World, may: int) -> World:
    """The world in which what may happen has happened once more."""
    return replace(world, left=(*world.left[:may], world.left[may] - 1, *world.left[may + 1 :]))


class Queues(Numbering[tuple[Item, ...]]):
    """What is under way on one link; number 0 is nothing."""

    def __init__(self, learnt: Tally) -> None:
        super().__init__(learnt)
        self.number(())
        self._appended: dict[tuple[int, Item], int] = {}

    def append(self, queue: int, item: Item) -> int:
        """The queue with one item more at its end."""
        found = self._appended.get((queue, item))
        if found is None:
            found = self._appended[queue, item] = self.number((*self[queue], item))
        return found

    def without(self, queue: int, index: int) -> int:
        """The queue with one item less."""
        items = self[queue]
        return self.number(items[:index] + items[index + 1 :])
