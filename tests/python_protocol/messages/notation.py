"""Messages in their papers' notation."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.messages import Known, Timestamp
from roambus.python_protocol.roles import NodeId

F1, F2 = parse_filter("topic = 1"), parse_filter("topic = 2")
E1, E2 = Notification(NotificationId(9, 1), ()), Notification(NotificationId(9, 2), ())


class Thesis(Names):
    """As the thesis calls things."""

    def broker(self, node: NodeId | None) -> str:
        return f"b{node}"

    def subscriber(self, node: NodeId | None) -> str:
        return f"s{node}"

    def filter(self, wanted: Filter) -> str:
        return f"f{wanted.constraints[0].operand}"

    def notification_id(self, identifier: str) -> str:
        return f"e{identifier[-1]}"


OTHER: dict[type[Any], Any] = {
    int: 77,
    Filter: F2,
    Notification: E2,
    Timestamp: Timestamp(7, 7),
    Pub: Pub(1, E2),
}
"""Another value of each type but tuples and bool."""


def check_description(message: Message, text: str) -> None:
    """Raise AssertionError unless a message is described so, and another value of any field is another text."""
    assert message.describe(Thesis()) == text
    for field in fields(message):
        changed = replace(message, **{field.name: _other(getattr(message, field.name))})
        assert changed.describe(Thesis()) != text, field.name


def _other(value: Any) -> Any:
    if fields_of := getattr(value, "_fields", ()):  # a named tuple's
        return value._replace(**{fields_of[-1]: 9})
    if isinstance(value, tuple):
        return value[1:] or (Known(1, 1, 1),)
    return not value if isinstance(value, bool) else OTHER[type(value)]
