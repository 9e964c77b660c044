"""Refuses actions of wrong values where they are made, so that the traceback leads to the agent's own line.

Actions are made by the million, so they only ask whether a value is of the very type that it nearly always has; the
functions here are called for what is not. They let a value pass that is right in spite of that, such as a member of an
`IntEnum`, and say for all others what belongs there, and in which unit.
"""

from __future__ import annotations

import inspect
from typing import Any

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import HOST_EVENTS
from roambus.python_protocol.roles import BROADCAST

LAST_NODE = 65533
ACTIONS = "roambus.python_protocol.actions"
"""The module of the actions, which cannot be imported here, for it imports this one."""
LARGEST = 2**31
"""The numbers in a row of the trace are less than this."""


def check_time(what: str, after: Any) -> None:
    """Raises TypeError, ValueError for what is no number of nanoseconds from 0 up."""
    if isinstance(after, float):
        advice = f"write from_seconds({after!r}) if seconds are meant"
        raise TypeError(f"{what} after {after!r}: times are integers, in nanoseconds: {advice}")
    if type(after) is not int:  # a subclass could compare and multiply as it likes
        raise TypeError(f"{what} after {after!r}: times are integers, in nanoseconds, not of type {_type(after)}")
    if after < 0:
        raise ValueError(f"{what} after {after} ns: nothing can be done before now")


def check_key(key: Any) -> None:
    """Raises TypeError for a key by which no timer could be found again."""
    try:
        hash(key)
    except TypeError:
        raise TypeError(f"the timer {key!r}: a key must not change: write a text, or a tuple of such values") from None


def check_destination(destination: Any) -> None:
    """Raises TypeError, ValueError for what can be the number of no node."""
    right = f"write the number of a node, 0 to {LAST_NODE}, or BROADCAST"
    if not isinstance(destination, int) or isinstance(destination, bool):
        raise TypeError(f"a message to {destination!r}, which is of type {_type(destination)}: {right}")
    if destination != BROADCAST and not 0 <= destination <= LAST_NODE:
        raise ValueError(f"a message to {destination}, which is no node: {right}")


def check_message(message: Any) -> None:
    """Raises TypeError for what is no message with a tag."""
    if isinstance(message, type) and issubclass(message, Message):
        raise TypeError(f"send({message.__name__}), which is a class: make a message of it")
    if not isinstance(message, Message):
        raise TypeError(f"send({message!r}), which is no Message, but of type {_type(message)}")
    if not hasattr(message, "tag"):
        name = _type(message)
        raise TypeError(f"send({name}(...)), which has no tag: write class {name}(Message, tag=...)")


def check_notification(notification: Any) -> None:
    """Raises TypeError for what is no notification."""
    if not isinstance(notification, Notification):
        raise TypeError(f"deliver({notification!r}), which is no Notification, but of type {_type(notification)}")


def check_number(what: str, number: Any) -> None:
    """Raises TypeError, ValueError for what is no integer that a row of the trace can hold, nor None."""
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{what} = {number!r} is of type {_type(number)}: it is an int, or None")
    if not -LARGEST <= number < LARGEST:
        raise ValueError(f"{what} = {number} does not fit in the four bytes that the trace has for it")


def check_text(what: str, text: Any) -> None:
    """Raises TypeError, ValueError for what is no text that a file can hold, nor None."""
    if text is None:
        return
    if not isinstance(text, str):
        raise TypeError(f"{what} = {text!r} is of type {_type(text)}: it is a str")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} = {text!r} is not to be written in UTF-8") from None


def check_note_name(name: str) -> None:
    """Raises ValueError for a note that would pass for what the host itself has seen."""
    if name in HOST_EVENTS:
        raise ValueError(f"note({name!r}): only the host writes rows of that name; choose another name for the note")


def _type(value: object) -> str:
    return type(value).__name__


def check_answer(handler: Any, answer: Any) -> None:
    """Raises TypeError for actions that a handler returns, for nobody would carry them out."""
    lost = answer if isinstance(answer, list | tuple) else [answer]
    for one in lost:
        if type(one).__module__ == ACTIONS:
            text = f"{handler.__qualname__} returns {one!r}, which nobody carries out: a handler asks for actions by"
            raise TypeError(f"{text} self.send, self.set_timer and so on")


def check_handler(owner: str, name: str, handler: Any) -> None:
    """Raises TypeError for a handler that would never be run, because it is a generator or a coroutine."""
    if inspect.isgeneratorfunction(handler):
        raise TypeError(f"{owner}.{name} has a yield, so it would never be run: ask for actions by self.send and so on")
    if inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler):
        raise TypeError(f"{owner}.{name} is async, so it would never be run: a handler does not wait, it sets a timer")
