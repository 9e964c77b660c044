"""What a broker or a client wants done, for the tests of single handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.agent import Process
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId


def sends(actions: Iterable[Action]) -> list[tuple[NodeId, Message]]:
    """(destination, message) of each."""
    return [(action.destination, action.message) for action in actions if isinstance(action, Send)]


def notes(actions: Iterable[Action], name: str) -> list[tuple[str | None, NodeId | None]]:
    """(notification, peer) of each with a name."""
    return [
        (action.notification_id, action.peer) for action in actions if isinstance(action, Note) and action.name == name
    ]


def asked(method: Callable[..., None], *arguments: Any, **named: Any) -> list[Action]:
    """What a process asks for when this method of it is called."""
    method(*arguments, **named)
    process: Process = method.__self__  # type: ignore[attr-defined]  # it is a bound method
    return process.take()


def receive(process: Process, sender: NodeId, message: Message) -> list[Action]:
    """What a process asks for when this message arrives from `sender`."""
    return asked(process._handle_message, message, sender, 0)
