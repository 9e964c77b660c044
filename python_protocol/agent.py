"""The agent interface: a deterministic state machine, events in, actions out.

An agent has no I/O, no clock and no global randomness: time comes with each event, randomness from the generator
that it was given. The same events give the same actions, which is what makes a run repeatable and an agent testable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Event
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class NoParameters:
    """For agents that have nothing to set."""


class Agent(ABC):
    """Base of every protocol: subclass it, name its parameters and messages, and implement `handle`."""

    parameters_type: ClassVar[type[Any]] = NoParameters
    """The frozen dataclass of the agent's parameters."""
    messages: ClassVar[MessageSet] = MessageSet(())
    """Everything that the agent sends, for decoding."""
    needs_sites: ClassVar[bool] = False
    """Whether the scenario must give sites (`Sited`)."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        """`random` is seeded from (run seed, node): no other source of chance is allowed."""
        self.node = node
        self.roles = roles
        self.parameters = parameters
        self.random = random

    @abstractmethod
    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Reacts to `event` at simulator time `now`. The actions take effect in their order."""

    def listings(self, names: Names) -> Mapping[str, Listing]:  # noqa: ARG002  # not all agents have any
        """What of the state a transcript can show, by name: "table" for the routing table."""
        return {}
