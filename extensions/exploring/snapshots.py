"""Snapshots of a network, which are equal in a search and in a run if the agents do the same.

A snapshot is text: each node's deliveries and timers, each link's messages, and the violated properties. So it can go
from process to process. Each item has an exact text, which is compared, and one with the names of the scenario.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from random import Random
from typing import NamedTuple

from roambus.bridge.backends.ideal.graph import Link
from roambus.extensions.exploring.copies import VALUES, parts
from roambus.extensions.exploring.properties import PROPERTIES, Property, View
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime, format_time


class Item(NamedTuple):
    """Something that is compared by its exact text, and shown in the words of the scenario."""

    exact: str
    shown: str


Snapshot = dict[str, tuple[Item, ...]]
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""In the text of an object without a text of its own."""
_WHOLE = {*VALUES, str, bytes, int, float, bool, type(None)}
"""Classes of values without parts."""
_NOT_COMPARED = {PROPERTIES["probes arrive"].name}
"""A walk ends with a probe instead (`repetition`)."""


class _Called(Names):
    """The names of nodes and notifications in a view."""

    def __init__(self, view: View) -> None:
        self._view = view

    def node(self, node: NodeId | None) -> str:
        return super().node(node) if node is None or node == BROADCAST else self._view.name(node)

    def notification_id(self, identifier: str) -> str:
        return self._view.called(identifier)


def snapshot(
    view: View,
    timers: Iterable[Iterable[tuple[SimTime, Hashable]]],
    messages: Mapping[Link, Iterable[Message]],
    wrong: Iterable[tuple[str, str]],
) -> Snapshot:
    """Return the parts that are not empty; `timers` are each node's, with the time left."""
    world, names = view.world, _Called(view)
    parts = {
        f"{view.name(node)} has delivered": [Item(str(given), view.called(given)) for given in delivered]
        for node, delivered in enumerate(world.delivered)
    }
    parts |= {"deliveries that nobody wants": [_item(unwanted) for unwanted in sorted(world.unwanted, key=str)]}
    parts |= {
        f"under way {view.name(a)} -> {view.name(b)}": [
            Item(_text(message), message.describe(names)) for message in under_way
        ]
        for (a, b), under_way in messages.items()
    }
    parts |= {
        f"timers of {view.name(node)}": [_item(key, f" in {format_time(left)}") for left, key in its]
        for node, its in enumerate(timers)
    }
    parts["violations"] = [Item(*[f"{name}: {text}"] * 2) for name, text in wrong]
    return {name: tuple(part) for name, part in parts.items() if part}


def _item(value: object, behind: str = "") -> Item:
    return Item(*[_text(value) + behind] * 2)


def _text(value: object) -> str:
    return _ADDRESS.sub("", repr(value))


def state_text(value: object, around: frozenset[int] = frozenset()) -> str:
    """Return the state of an object as text: its parts, without sharing, chance and addresses."""
    if type(value) in _WHOLE:
        return _text(value)
    if isinstance(value, Random) or id(value) in around:
        return ""
    around |= {id(value)}
    inner = [f"{step}={state_text(part, around)}" for step, part in parts(value)]
    if isinstance(value, set | frozenset):
        inner = sorted(state_text(part, around) for part in value)
    return f"{type(value).__name__}({', '.join(inner)})" if inner else _text(value)


def compared(must: Iterable[Property], view: View, is_quiet: bool | None) -> list[tuple[str, str]]:
    """Return the violations of properties that a run can judge as a search does.

    The state may be quiet; None of a probe, in which no property is asked.
    """
    asked = [
        property_
        for property_ in must
        if property_.name not in _NOT_COMPARED and not property_.counts and (is_quiet or not property_.waits_for_quiet)
    ]
    return [(it.name, text) for it in asked if is_quiet is not None and (text := it.evaluate(view))]


def difference(searched: Snapshot, fresh: Snapshot) -> str | None:
    """Return the first difference as a sentence, in the words of the fresh run."""
    for name in dict.fromkeys((*searched, *fresh)):
        ours, theirs = searched.get(name, ()), fresh.get(name, ())
        if [item.exact for item in ours] != [item.exact for item in theirs]:
            words = {item.exact: item.shown for item in (*ours, *theirs)}
            shown = [", ".join(words[item.exact] for item in part) or "nothing" for part in (theirs, ours)]
            if shown[0] == shown[1]:
                shown = [", ".join(item.exact for item in part) for part in (theirs, ours)]
            return f"{name} {shown[0]} in a fresh run, and {shown[1]} in the search"
    return None
