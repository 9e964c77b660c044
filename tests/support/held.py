"""The notifications anywhere in a node's state, found without asking its agent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Any

from roambus.python_protocol.brokers.broker import Storage
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.roles import NodeId

Held = tuple[str, NodeId | None]
"""A notification's identifier, and the subscriber that it is for, if what holds it says so."""


def held(value: Any, seen: set[int] | None = None, subscriber: NodeId | None = None) -> Iterator[Held]:
    """The notifications in a value and all that it holds."""
    seen = set() if seen is None else seen
    if isinstance(value, Notification):
        yield str(value.id), subscriber
    elif id(value) not in seen and not isinstance(value, type | Random):
        seen.add(id(value))
        for part, named in _parts(value):
            yield from held(part, seen, subscriber if named is None else named)


def _parts(value: Any) -> Iterator[tuple[Any, NodeId | None]]:
    """The parts of a value, each with the subscriber that the value names, if any."""
    if isinstance(value, Storage):
        yield from ((queue, subscriber) for subscriber, queue in value._queues.items())
    elif isinstance(value, dict):
        yield from ((part, None) for pair in value.items() for part in pair)
    elif isinstance(value, list | set | frozenset | deque) or type(value) is tuple:
        yield from ((part, None) for part in value)
    else:
        named = getattr(value, "subscriber", getattr(value, "destination", None))
        slots = [name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ())]
        parts = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in slots)]
        yield from ((part, named if isinstance(named, int) else None) for part in parts)
