"""Plans: timed changes of links, tree places and nodes in a scenario, and their notation.

A plan is a comma-separated list. An item begins with its time ("12s"); times never decrease, which reveals mistyped
ones. Items of one time keep their order. Readers take a key's text in quotes and raise ValueError; the ini's reader
checks node numbers and roles. Times are SimTime.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from roambus.bridge import keys
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time


@dataclass(frozen=True, slots=True)
class ParentChange:
    """From `at` on, the parent of `node` in the given tree is the broker `parent`, or none (None)."""

    at: SimTime
    node: NodeId
    parent: NodeId | None


class FaultKind(Enum):
    """Faults of a node; its agent gets `Crashed`, `Stopped` or `Recovered`."""

    CRASH = "crash"
    FREEZE = "freeze"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Fault:
    """At `at`, `node` crashes, freezes or recovers."""

    at: SimTime
    node: NodeId
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class LinkChange:
    """At `at`, the ideal link between `a` and `b` changes; going down loses frames under way.

    With `one_way` from `a` to `b` only.
    """

    at: SimTime
    a: NodeId
    b: NodeId
    up: bool
    one_way: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """From `at` on, no link carries between different groups; without groups, all merge.

    All unnamed nodes form one group.
    """

    at: SimTime
    groups: tuple[frozenset[NodeId], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkDelay:
    """The ideal link between `a` and `b` has its own delay."""

    a: NodeId
    b: NodeId
    delay: SimTime


@dataclass(frozen=True, slots=True)
class LinkLoss:
    """The ideal link from `sender` to `receiver` silently loses this share."""

    sender: NodeId
    receiver: NodeId
    share: float


Pair = tuple[NodeId, NodeId]

Away = tuple[SimTime, SimTime | None, NodeId | None]
"""A client's departure, its return (None: never), and the broker of its return (None: the same)."""

_PAIR = re.compile(r"(\d+)([->])(\d+)")
_SHARE = re.compile(r"\d(?:\.\d{1,9})?")
_PARENT = re.compile(r"(\d+):(\d+|-)")
_MEMBERS = re.compile(r"(\d+)(?:\.\.(\d+))?")
_SPAN = re.compile(r"(\d+)\.\.(\d+)")
MOST_NAMED = 1_000_000
"""The most nodes that ranges of one plan name: a hundred partitions of ten thousand."""
_KINDS = {kind.value: kind for kind in FaultKind}


def links(text: str) -> tuple[Pair, ...]:
    """Read links such as "0-1 1-2"; raises ValueError."""
    return tuple(map(_pair, keys.string(text).split()))


def share(text: str) -> float:
    """Reads "0.25"; raises ValueError."""
    if not _SHARE.fullmatch(text) or float(text) > 1:
        raise ValueError(f"{text!r} is not a share from 0 to 1, such as 0.25")
    return float(text)


def link_losses(text: str) -> tuple[LinkLoss, ...]:
    """Read "0-1 1-2 0.1, 2>3 0.5", where 2>3 is one-way."""
    found = {}
    for item in _items(text):
        *ways, lost = item.split()
        if not ways:
            raise ValueError(f"{item.strip()!r} names no link; write 0-1 0.1, or 0>1 0.1 for one way only")
        for sender, receiver in (pair for way in ways for pair in _both_ways(*_way(way))):
            if (sender, receiver) in found:
                raise ValueError(f"{text} gives the link from {sender} to {receiver} two losses")
            found[sender, receiver] = LinkLoss(sender, receiver, share(lost))
    return tuple(found.values())


def _both_ways(a: NodeId, b: NodeId, one_way: bool) -> tuple[Pair, ...]:  # as `_way` returns it
    return ((a, b),) if one_way else ((a, b), (b, a))


def link_delays(text: str) -> tuple[LinkDelay, ...]:
    """Read "0-1 1-2 5ms, 2-3 20ms"."""
    found = []
    for item in _items(text):
        *pairs, delay = item.split()
        found += [LinkDelay(*_pair(pair), keys.duration(delay)) for pair in pairs]
        if pairs and found[-1].delay == 0:
            raise ValueError(f"{delay} is not above 0")
    if len({frozenset((change.a, change.b)) for change in found}) < len(found):
        raise ValueError(f"{text} gives a link two delays")
    return tuple(found)


def link_changes(text: str) -> tuple[LinkChange, ...]:
    """Read "12s 0-1 1-2 down, 15s 0-1 up, 17s 0>1 down", where 0>1 is one-way."""
    changes = []
    for at, (*pairs, state) in _timed(text):
        if state not in ("up", "down") or not pairs:
            raise ValueError(f"{' '.join([*pairs, state])!r} is not a change of links such as 0-1 1-2 down")
        ways = map(_way, pairs)
        changes += [LinkChange(at, a, b, state == "up", one_way) for a, b, one_way in ways]
    return tuple(changes)


def partitions(text: str) -> tuple[Partition, ...]:
    """Read "12s 0..2 | 3 4, 20s merge"."""
    _check_ranges(text)
    return tuple(_partition(at, words) for at, words in _timed(text))


def tree(text: str) -> tuple[ParentChange, ...]:
    """Read "1:0 2:0 3:1, 12s 2:1, 15s 2:-": parents; no time means the start, - means none."""
    return tuple(_parent(at, word) for at, words in _timed(text, first=0) for word in words)


def faults(text: str) -> tuple[tuple[SimTime, FaultKind], ...]:
    """Read "12s crash, 20s recover", of one node."""
    planned: list[tuple[SimTime, FaultKind]] = []
    for at, words in _timed(text):
        if len(words) != 1 or words[0] not in _KINDS:
            raise ValueError(f"{' '.join(words)!r} is not a fault; there is {', '.join(_KINDS)}")
        if planned and at == planned[-1][0]:
            raise ValueError(f"there are two faults at {format_time(at)}")
        planned.append((at, _KINDS[words[0]]))
    return tuple(planned)


class Order(NamedTuple):
    """At `at`, the application of `node` carries out the words."""

    at: SimTime
    node: NodeId
    words: tuple[str, ...]


def commands(text: str) -> tuple[Order, ...]:
    """Read "12s 7 subscribe, 15s 7 detach, 20s 7 attach 5, 21s 9 publish, 30s 7 unsubscribe"."""
    return tuple(_order(at, words) for at, words in _timed(text))


def absences(text: str) -> tuple[Away, ...]:
    """Read "15s detach, 20s attach 5, 40s detach", of one node."""
    return away(_timed(text))


def away(timed: Iterable[tuple[SimTime, Sequence[str]]]) -> tuple[Away, ...]:
    """One node's absences in the order of time; raises ValueError.

    Departures and returns alternate, so that a second `detach` in a row is located in the text.
    """
    found: list[Away] = []
    for at, words in timed:
        is_back = not found or found[-1][1] is not None
        match words:
            case ["detach"] if is_back:
                found.append((at, None, None))
            case ["attach", *broker] if not is_back and len(broker) <= 1:
                found[-1] = found[-1][0], at, keys.integer(broker[0]) if broker else None
            case _:
                example = "'15s detach, 20s attach 5'" if is_back else "'20s attach', or '20s attach 5'"
                raise ValueError(f"{' '.join(words)!r} at {format_time(at)} is out of place: write {example}")
    return tuple(found)


def _items(text: str) -> Iterator[str]:
    return filter(str.strip, keys.string(text).split(","))


def _timed(text: str, first: SimTime | None = None) -> Iterator[tuple[SimTime, list[str]]]:
    """Each item's time and words; `first` is the default of the first."""
    last: SimTime = 0
    for place, item in enumerate(_items(text)):
        time, *words = item.split()
        if place == 0 and first is not None and _PARENT.fullmatch(time):
            at, words = first, item.split()
        else:
            at = keys.duration(time)
        if not words:
            raise ValueError(f"{item.strip()!r} does not say what happens then")
        if at < last:
            raise ValueError(f"{format_time(at)} comes after {format_time(last)}; put them in the order of time")
        last = at
        yield at, words


def _order(at: SimTime, words: list[str]) -> Order:
    match words:
        case [node, ("subscribe" | "unsubscribe" | "publish" | "detach" | "attach")] | [node, "attach", _]:
            return Order(at, keys.integer(node), tuple(words[1:]))
    raise ValueError(f"{' '.join(words)!r} is not a command such as '7 subscribe', '7 publish' or '7 attach 5'")


def _pair(word: str) -> Pair:
    a, b, one_way = _way(word)
    if one_way:
        raise ValueError(f"{word!r} is not a link such as {a}-{b}")
    return a, b


def _way(word: str) -> tuple[NodeId, NodeId, bool]:
    """Read "0-1", or "0>1" for one way."""
    match = keys.matched(_PAIR, word, "link such as 0-1")
    a, b = int(match[1]), int(match[3])
    if a == b:
        raise ValueError(f"{word} links node {a} to itself")
    return a, b, match[2] == ">"


def _parent(at: SimTime, word: str) -> ParentChange:
    node, parent = keys.matched(_PARENT, word, "node with its parent such as 3:1, or 3:- for none").groups()
    return ParentChange(at, int(node), None if parent == "-" else int(parent))


def _partition(at: SimTime, words: list[str]) -> Partition:
    if words == ["merge"]:
        return Partition(at)
    example = '"12s 0..2 | 3 4", or "20s merge"'
    groups = tuple(frozenset(_members(group, example)) for group in " ".join(words).split("|"))
    if sum(map(len, groups)) > len(frozenset[NodeId]().union(*groups)):
        raise ValueError(f"{' '.join(words)!r} has a node in two groups")
    return Partition(at, groups)


def _check_ranges(text: str) -> None:
    """Raise ValueError for ranges of too many nodes: a few characters can ask for any number."""
    named = sum(max(int(last) - int(first) + 1, 0) for first, last in _SPAN.findall(text))
    if named > MOST_NAMED:
        raise ValueError(
            f"its ranges such as 0..2 name {named:,} nodes in all, and no plan names more than {MOST_NAMED:,}"
        )


def _members(text: str, example: str) -> list[NodeId]:
    found: list[NodeId] = []
    for word in text.split():
        first, last = keys.matched(_MEMBERS, word, f"node; write groups as in {example}").groups()
        found += range(int(first), int(last or first) + 1)
    return found
