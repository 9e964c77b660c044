"""Snapshots of a network, which are equal in a search and in a run if the agents do the same.

A snapshot is text by name: each node's deliveries and timers, each link's messages, and the violated properties. So it
can go from process to process, and a difference can be named.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from roambus.bridge.backends.ideal.graph import Link
from roambus.extensions.exploring.properties import PROPERTIES, Property, View
from roambus.extensions.exploring.world import World
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.simtime import SimTime, format_time

Snapshot = dict[str, tuple[str, ...]]
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""In the text of an object without a text of its own."""
_NOT_COMPARED = {PROPERTIES["probes arrive"].name}
"""A probe needs a copy of the network."""


def snapshot(
    names: Sequence[str],
    world: World,
    timers: Iterable[Iterable[tuple[SimTime, Hashable]]],
    messages: Mapping[Link, Iterable[Message]],
    wrong: Iterable[str],
) -> Snapshot:
    """Return the parts that are not empty; `timers` are each node's, with the time left."""
    parts = {
        f"{names[node]} has delivered": tuple(str(given) for given in delivered)
        for node, delivered in enumerate(world.delivered)
    }
    parts |= {"deliveries that nobody wants": tuple(sorted(map(str, world.unwanted)))}
    parts |= {
        f"under way {names[a]} -> {names[b]}": tuple(_text(message) for message in under_way)
        for (a, b), under_way in messages.items()
    }
    parts |= {
        f"timers of {names[node]}": tuple(f"{_text(key)} in {format_time(left)}" for left, key in its)
        for node, its in enumerate(timers)
    }
    parts["violations"] = tuple(wrong)
    return {name: part for name, part in parts.items() if part}


def _text(value: object) -> str:
    return _ADDRESS.sub("", repr(value))


def compared(must: Iterable[Property], view: View, *, is_quiet: bool) -> list[str]:
    """Return the violations of properties that a run can judge as a search does, in a state that may be quiet."""
    asked = [
        property_
        for property_ in must
        if property_.name not in _NOT_COMPARED and not property_.counts and (is_quiet or not property_.waits_for_quiet)
    ]
    return [f"{property_.name}: {text}" for property_ in asked if (text := property_.evaluate(view))]


def difference(searched: Snapshot, fresh: Snapshot) -> str | None:
    """Return the first difference as a sentence."""
    for name in dict.fromkeys((*searched, *fresh)):
        ours, theirs = searched.get(name, ()), fresh.get(name, ())
        if ours != theirs:
            return f"{name} {_shown(theirs)} in a fresh run, and {_shown(ours)} in the search"
    return None


def _shown(part: tuple[str, ...]) -> str:
    return ", ".join(part) or "nothing"
