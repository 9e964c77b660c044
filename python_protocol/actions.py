"""What an agent can do: a class for each kind of action.

An agent does nothing itself. It returns actions, and the host of the run carries them out in their order. Actions are
not frozen, because a frozen object takes four times as long to make, and a run makes millions, each for its host alone.

A wrong value is refused where the action is made (`refusals`), for the host could not tell any more who made it. The
constructors are written out, because a call of another method would take longer than what it looks at.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.events import TimerKey
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import HOST_EVENTS
from roambus.python_protocol.refusals import (
    LARGEST,
    check_destination,
    check_key,
    check_message,
    check_note_name,
    check_notification,
    check_number,
    check_text,
    check_time,
)
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(slots=True, init=False)
class Send:
    """Hands a message to the MAC, for one neighbour or BROADCAST; nobody says whether it arrives.

    The message waits first for the time `after` by the node's own clock, and a crash meanwhile cancels it.
    """

    destination: NodeId
    message: Message
    after: SimTime = 0

    def __init__(self, destination: NodeId, message: Message, after: SimTime = 0) -> None:
        """Raises TypeError, ValueError for what is no node, no message, or no time."""
        if type(destination) is not int or not 0 <= destination <= BROADCAST:
            check_destination(destination)
        try:
            type(message).tag  # noqa: B018  # a third of the time of isinstance
        except AttributeError:
            check_message(message)
        if type(after) is not int or after < 0:
            check_time(f"a {message.message_type} is sent", after)
        self.destination = destination
        self.message = message
        self.after = after


@dataclass(slots=True, init=False)
class SetTimer:
    """Asks for `TimerFired(key)` after a time by the node's own clock; a timer of that key already set is replaced."""

    key: TimerKey
    after: SimTime

    def __init__(self, key: TimerKey, after: SimTime) -> None:
        """Raises TypeError, ValueError for a key that can change, and for what is no time."""
        if type(key) is not str:
            check_key(key)
        if type(after) is not int or after < 0:
            check_time(f"the timer {key!r}", after)
        self.key = key
        self.after = after


@dataclass(slots=True, init=False)
class CancelTimer:
    """Forgets a timer; nothing happens if it is not set."""

    key: TimerKey

    def __init__(self, key: TimerKey) -> None:
        """Raises TypeError for a key that can change."""
        if type(key) is not str:
            check_key(key)
        self.key = key


@dataclass(slots=True, init=False)
class Deliver:
    """Gives a notification to the application; `hops` counts radio hops since it was published or last replayed."""

    notification: Notification
    hops: int = 0

    def __init__(self, notification: Notification, hops: int = 0) -> None:
        """Raises TypeError, ValueError for what is no notification, or no number of hops."""
        if type(notification) is not Notification:
            check_notification(notification)
        if type(hops) is not int or not 0 <= hops < LARGEST:
            check_number("hops", hops)
        self.notification = notification
        self.hops = hops


@dataclass(slots=True, init=False)
class Note:
    """Writes a row into the trace, whose columns `roambus.bridge.trace.schema` explains; `HOST_EVENTS` are refused."""

    name: str
    message_type: str | None = None
    notification_id: str | None = None
    peer: NodeId | None = None
    bytes: int | None = None
    hops: int | None = None
    detail: str | None = None

    def __init__(  # noqa: PLR0913, PLR0917  # a column of the trace each
        self,
        name: str,
        message_type: str | None = None,
        notification_id: str | None = None,
        peer: NodeId | None = None,
        bytes: int | None = None,  # noqa: A002  # the column's name
        hops: int | None = None,
        detail: str | None = None,
    ) -> None:
        """Raises TypeError, ValueError for a value that the trace's column cannot hold, or a name of the host's."""
        self.name = name
        self.message_type = message_type
        self.notification_id = notification_id
        self.peer = peer
        self.bytes = bytes
        self.hops = hops
        self.detail = detail
        if (
            type(name) is not str
            or not name
            or not name.isascii()
            or name in HOST_EVENTS
            or (message_type is not None and (type(message_type) is not str or not message_type.isascii()))
            or (notification_id is not None and (type(notification_id) is not str or not notification_id.isascii()))
            or (detail is not None and (type(detail) is not str or not detail.isascii()))
            or (peer is not None and (type(peer) is not int or not 0 <= peer < LARGEST))
            or (bytes is not None and (type(bytes) is not int or not 0 <= bytes < LARGEST))
            or (hops is not None and (type(hops) is not int or not 0 <= hops < LARGEST))
        ):
            self._check()

    def _check(self) -> None:
        if not self.name:
            raise TypeError(f"a note needs a name, which is a text, and not {self.name!r}")
        for what in _TEXTS:
            check_text(what, getattr(self, what))
        for what in _NUMBERS:
            check_number(what, getattr(self, what))
        check_note_name(self.name)


_TEXTS, _NUMBERS = ("name", "message_type", "notification_id", "detail"), ("peer", "bytes", "hops")


Action = Send | SetTimer | CancelTimer | Deliver | Note
"""Anything that `Agent.handle` can return."""
