"""Looks at an agent whenever it is told something, which takes time, and so is left out of most runs.

`checked` is for `--check`, and `announced` for a run that is made once more to find out where its process ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roambus.bridge.host.agents import Handle
from roambus.bridge.host.codec import CodecCheck
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.simtime import SimTime, format_time

Tell = Callable[[str], None]
"""Is told, before each event, what an agent is about to handle."""


def announced(handle: Handle, agent: Agent, tell: Tell) -> Handle:
    """Tells first what is handled, so that it is known where the agent is if the process ends there."""

    def tell_and_handle(event: Event, now: SimTime) -> Iterable[Action]:
        tell(f"node {agent.node}, simulation time {format_time(now)}, on {event}")
        return handle(event, now)

    return tell_and_handle


def checked(handle: Handle, codec: CodecCheck) -> Handle:
    """What is handled, and the message of a frame looked at afterwards: it must be the one that has arrived."""

    def handle_and_look(event: Event, now: SimTime) -> Iterable[Action]:
        if not isinstance(event, Received):
            return handle(event, now)
        message = event.message
        data = message.encode()
        actions = handle(event, now)
        if not isinstance(actions, list | tuple):
            actions = list(actions)  # an agent that yields its actions handles nothing before it is asked for them
        codec.look(message, data)
        return actions

    return handle_and_look
