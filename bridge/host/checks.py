"""Looks at an agent whenever it is told something, for `--check`: this takes time, and so is left out of other runs."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.bridge.host.agents import Handle
from roambus.bridge.host.codec import CodecCheck
from roambus.python_protocol.actions import Action
from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.simtime import SimTime


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
