"""A property, and what it sees of a network.

A property is a function of a `View`: it returns what is wrong, as a sentence, or None. It is asked in every state
(`at_any_time`), or only where nothing is under way and nothing is left to wait for (`once_quiet`):

    @once_quiet
    def nobody_waits(view: View) -> str | None:
        waiting = [view.name(node) for node in view.up if view.agents[node].waits]
        return f"{waiting[0]} waits for ever" if waiting else None
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from roambus.experiments.exploring.world import Published, World
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True)
class View:
    """A network in one state. Agents are for looking at only: whoever tells them something spoils the exploration."""

    agents: Mapping[NodeId, Agent]
    world: World
    now: SimTime
    """The time, with which moments that agents keep can be compared."""
    names: tuple[str, ...] = ()
    probe: Callable[[], str | None] | None = None
    """Publishes from every publisher in a copy of the network, and says what is wrong with what arrives."""

    @property
    def up(self) -> list[NodeId]:
        """The nodes that are not down."""
        return [node for node in self.agents if node not in self.world.down]

    def name(self, node: NodeId | None) -> str:
        """What the scenario calls a node."""
        return "nobody" if node is None else self.names[node] if node < len(self.names) else str(node)

    def called(self, identifier: NotificationId | str) -> str:
        """What the scenario calls a notification."""
        names: list[str] = []
        for one in self.world.published:
            names.append(one.name)
            if str(one.notification.id) == str(identifier):
                return one.name if names.count(one.name) == 1 else f"{one.name}#{names.count(one.name)}"
        return str(identifier)

    def published(self) -> tuple[Published, ...]:
        """The notifications that were published, and who wanted them then."""
        return self.world.published


Check = Callable[[View], str | None]


@dataclass(frozen=True)
class Property:
    """A check with its name, and when it is asked."""

    name: str
    check: Check
    at_any_time: bool = False
    history: bool = False
    """Whether it asks what was delivered and taken on, which is then a part of the state."""
    lasts: bool = False
    """Whether it depends on the history alone, and what is wrong once stays wrong: then it is asked in all states."""
    about: str = field(default="", compare=False)

    @property
    def waits_for_quiet(self) -> bool:
        """Whether states that are not quiet tell nothing of it."""
        return not (self.at_any_time or self.lasts)


def once_quiet(check: Check) -> Property:
    """Makes a function a property of quiet states."""
    return _made(check, at_any_time=False)


def at_any_time(check: Check) -> Property:
    """Makes a function a property of all states."""
    return _made(check, at_any_time=True)


def _made(check: Any, *, at_any_time: bool) -> Property:
    name = check.__name__.replace("_", " ")
    return Property(name, check, at_any_time, history=True, about=(check.__doc__ or "").strip().split("\n")[0])
