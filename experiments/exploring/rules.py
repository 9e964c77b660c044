"""States and steps of a network, and the rules by which one follows from the other.

A state is a tuple of numbers: the state of each node, what is under way on each pair of nodes, and the world. A step is
a message that arrives or is lost, a timer that runs out, or a command.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from roambus.bridge.transcript.commands import Command
from roambus.experiments.exploring.choices import May
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

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
    """Whether the world keeps what was delivered and taken on."""

    @property
    def loss(self) -> int | None:
        """The place of the line that allows messages to get lost."""
        return next((place for place, one in enumerate(self.may) if one.is_loss), None)
