"""Promiscuous listening: unicast frames between others, for agents that ask for them by `Agent.needs_overheard`.

Without such agents no back-end is asked, and no step has any. They stand in no trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from roambus.bridge.backend import Hello, Overhearing
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Overheard
from roambus.python_protocol.messages.message import Fragment
from roambus.python_protocol.roles import NodeId


def listen(hello: Hello, agents: Iterable[Agent], name: str) -> None:
    """Ask for what nodes overhear; raise UserError if the back-end does not hand it up."""
    listening = [agent for agent in agents if agent.needs_overheard]
    if not listening:
        return
    if hello.overhear is None:
        raise UserError(
            f"agent {name or type(listening[0]).__name__} listens to frames between other nodes, which "
            f"{hello.simulator} does not hand up here: set that off, or take the back-end radio or ideal, unrecorded"
        )
    hello.overhear([agent.node for agent in listening])


def events_of(overheard: Iterable[Overhearing], down: Collection[NodeId]) -> Iterator[tuple[NodeId, Overheard]]:
    """Yield the events of nodes that are up, but for fragments, which a third node cannot join."""
    for receiver, sender, destination, message, rssi, lqi in overheard:
        if receiver not in down and type(message) is not Fragment:
            yield receiver, Overheard(sender, destination, message, rssi, lqi)
