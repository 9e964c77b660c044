"""What a model is made of: states, the steps between them, and the rules of a network.

A state is a tuple of numbers, so that states are compared and kept cheaply; a step is numbered, too.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.bridge.backends.ideal.graph import Link
from roambus.bridge.transcript.commands import Command
from roambus.extensions.exploring.nodes import Raised
from roambus.extensions.exploring.scenario_file import May, Question
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

State = tuple[int, ...]
"""The numbers of the nodes' states, the queues between them, the time and the world."""
TIME, WORLD = -2, -1
"""The places of the last two."""
Picks = tuple[tuple[NodeId, tuple[int, ...]], ...]
"""The representatives that the draws of some nodes picked."""
Events = tuple[tuple[NodeId, int], ...]
"""Which nodes handle which events, by their numbers."""


class Step(NamedTuple):
    """An arrival, a loss, a time-out, or a command, after some time."""

    command: Command
    after: SimTime = 0
    picks: Picks = ()
    may: int = -1
    """The place of the line that allows a command."""
    at_once: bool = False
    """Whether it is at the instant of the step before, some consequences of which come after it."""
    is_open: bool = False
    """Whether some of its own consequences come after the next step."""


Successor = tuple[int, State | Raised]
"""A step's number, and its next state."""


class Item(NamedTuple):
    """A message under way by its number, and its destination: BROADCAST or the receiver."""

    message: int
    destination: NodeId


class Rules(NamedTuple):
    """How a network behaves beside its agents."""

    question: Question
    may: tuple[May, ...]
    brokers: frozenset[NodeId]
    publishers: frozenset[NodeId]
    lossy: frozenset[Link]
    """The pairs (sender, receiver) between which any message may be lost."""
    begin: SimTime
    is_timed: bool
    """Agents read the clock or set timers, so a command's time matters."""
    history: bool
    """Whether the world keeps publications, deliveries and acceptances."""
    counts: bool
    """Whether the world counts messages and commands."""
