"""What a broker or a client wants done, for the tests of single handlers."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId


def sends(actions: Iterable[Action]) -> list[tuple[NodeId, Message]]:
    """(destination, message) of each."""
    return [(action.destination, action.message) for action in actions if isinstance(action, Send)]


def notes(actions: Iterable[Action], name: str) -> list[tuple[str | None, NodeId | None]]:
    """(notification, peer) of each with a name."""
    return [(one.notification_id, one.peer) for one in actions if isinstance(one, Note) and one.name == name]
