"""The actions of an agent: a class for each kind, and the checks of their values.

Runs make millions, so they are not frozen, and constructors call a check only for an unusual type, such as an
`IntEnum`'s. A wrong value is refused where the action is made, so that the traceback shows the agent's own line.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from roambus.python_protocol.events import TimerKey
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import HOST_EVENTS

LAST_NODE = 65533
"""In IEEE 802.15.4 the next number names no node, and the one after it is BROADCAST."""
LARGEST = 2**31
"""Numbers in the trace are less than this."""
SLOWEST_MPS = 0.001
"""A slower way could end after the last time that there is."""


@dataclass(slots=True, init=False)
class Send:
    """Hands a message to the MAC, for one neighbour or BROADCAST, without a report of arrival.

    It waits for `after` by the node's clock first; a crash meanwhile cancels it.
    """

    destination: NodeId
    message: Message
    after: SimTime = 0

    def __init__(self, destination: NodeId, message: Message, after: SimTime = 0) -> None:
        """Raise TypeError or ValueError for an impossible destination, message or time."""
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
    """Requests `TimerFired(key)` after a time by the node's clock; replaces that key's timer."""

    key: TimerKey
    after: SimTime

    def __init__(self, key: TimerKey, after: SimTime) -> None:
        """Raise TypeError or ValueError for a mutable key or an impossible time."""
        if type(key) is not str:
            check_key(key)
        if type(after) is not int or after < 0:
            check_time(f"the timer {key!r}", after)
        self.key = key
        self.after = after


@dataclass(slots=True, init=False)
class CancelTimer:
    """Forgets a timer, if it is set."""

    key: TimerKey

    def __init__(self, key: TimerKey) -> None:
        """Raise TypeError for a mutable key."""
        if type(key) is not str:
            check_key(key)
        self.key = key


@dataclass(slots=True, init=False)
class Deliver:
    """Gives a notification to the application; `hops` counts radio hops since publication or last replay."""

    notification: Notification
    hops: int = 0

    def __init__(self, notification: Notification, hops: int = 0) -> None:
        """Raise TypeError or ValueError for another type or impossible hops."""
        if type(notification) is not Notification:
            check_notification(notification)
        if type(hops) is not int or not 0 <= hops < LARGEST:
            check_number("hops", hops)
        self.notification = notification
        self.hops = hops


@dataclass(slots=True, init=False)
class Note:
    """Writes a trace row (`roambus.bridge.trace.schema`); names of `HOST_EVENTS` are refused."""

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
        """Raise TypeError or ValueError for a value its column cannot hold, or a host's name."""
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
        for what in ("name", "message_type", "notification_id", "detail"):
            check_text(what, getattr(self, what))
        for what in ("peer", "bytes", "hops"):
            check_number(what, getattr(self, what))
        check_note_name(self.name)


@dataclass(slots=True, init=False)
class GoTo:
    """Sends the node straight to a place of the field, in place of where it goes now; then comes `Arrived`.

    For nodes that their agents move (docs/guide/moving.md).
    """

    x_m: float
    y_m: float
    speed_mps: float

    def __init__(self, x_m: float, y_m: float, speed_mps: float) -> None:
        """Raise TypeError or ValueError for an impossible place or speed."""
        self.x_m, self.y_m, self.speed_mps = x_m, y_m, speed_mps
        self.check()

    def check(self) -> None:
        """Raise TypeError or ValueError for an impossible place or speed."""
        for what, value in (("x", self.x_m), ("y", self.y_m), ("speed", self.speed_mps)):
            check_finite(f"{what} of a go_to", value)
        if float(self.speed_mps) < SLOWEST_MPS:  # a subclass of float compares as it likes
            raise ValueError(
                f"a go_to at {in_full(self.speed_mps)} m/s: it is at least {SLOWEST_MPS:g} m/s; halt() stops"
            )


@dataclass(slots=True)
class Halt:
    """Stops the node where it is, and forgets where it was going."""


Action = Send | SetTimer | CancelTimer | Deliver | Note | GoTo | Halt
"""Anything that `Agent.handle` can return."""


# What refuses wrong values


def check_time(what: str, after: Any) -> None:
    """Raise TypeError or ValueError unless it is nanoseconds, at least 0."""
    if isinstance(after, float):
        raise TypeError(
            f"{what} after {after!r}: times are integers, in nanoseconds: "
            f"write from_seconds({after!r}) if seconds are meant"
        )
    # Not a member of an IntEnum either: a subclass could compare and multiply as it likes, and time is what events are
    # ordered by.
    if type(after) is not int:
        raise TypeError(f"{what} after {after!r}: times are integers, in nanoseconds, not of type {_type(after)}")
    if after < 0:
        raise ValueError(f"{what} after {after} ns: nothing can be done before now")


def check_key(key: Any) -> None:
    """Raise TypeError for a mutable key."""
    try:
        hash(key)
    except TypeError:
        raise TypeError(f"the timer {key!r}: a key must not change: write a text, or a tuple of such values") from None


def check_destination(destination: Any) -> None:
    """Raise TypeError or ValueError unless it can be a node's number."""
    right = f"write the number of a node, 0 to {LAST_NODE}, or BROADCAST"
    if not isinstance(destination, int) or isinstance(destination, bool):
        raise TypeError(f"a message to {destination!r}, which is of type {_type(destination)}: {right}")
    if destination != BROADCAST and not 0 <= destination <= LAST_NODE:
        raise ValueError(f"a message to {destination}, which is not a node: {right}")


def check_message(message: Any) -> None:
    """Raise TypeError unless it is a message with a tag."""
    if isinstance(message, type) and issubclass(message, Message):
        raise TypeError(f"send({message.__name__}), which is a class: make a message of it")
    if not isinstance(message, Message):
        raise TypeError(f"send({message!r}), which is not a Message, but of type {_type(message)}")
    if not hasattr(message, "tag"):
        name = _type(message)
        raise TypeError(f"send({name}(...)), which has no tag: write class {name}(Message, tag=...)")


def check_notification(notification: Any) -> None:
    """Raise TypeError unless it is a notification."""
    if not isinstance(notification, Notification):
        raise TypeError(f"deliver({notification!r}), which is not a Notification, but of type {_type(notification)}")


def check_number(what: str, number: Any) -> None:
    """Raise TypeError or ValueError unless it is None or an integer for a row."""
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{what} = {number!r} is of type {_type(number)}: it is an int, or None")
    if not -LARGEST <= number < LARGEST:
        raise ValueError(f"{what} = {number} does not fit in the four bytes that the trace has for it")


def check_finite(what: str, number: Any) -> None:
    """Raise TypeError or ValueError unless it is a finite number."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise TypeError(f"the {what} is {number!r}, of type {_type(number)}: write a number")
    if not isfinite(number):
        raise ValueError(f"the {what} is {number!r}: write a finite number")


def in_full(number: float) -> str:
    """Return a number as short as it can be without another's text: 20, or 20.000000000000004."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def check_text(what: str, text: Any) -> None:
    """Raise TypeError or ValueError unless it is None or text for a file."""
    if text is None:
        return
    if not isinstance(text, str):
        raise TypeError(f"{what} = {text!r} is of type {_type(text)}: it is a str")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} = {text!r} is not to be written in UTF-8") from None


def check_note_name(name: str) -> None:
    """Raise ValueError for a host's row, also in a subclass of str."""
    if str.__str__(name) in HOST_EVENTS:
        raise ValueError(f"note({name!r}): only the host writes rows of that name; choose another name for the note")


def _type(value: object) -> str:
    return type(value).__name__
