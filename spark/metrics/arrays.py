"""A run's tables as NumPy arrays, with which the metrics of every run compute: for a small run much faster than pandas.

A missing number is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roambus.bridge.system.errors import mistakes_at
from roambus.bridge.system.limits import TRACE_LISTED
from roambus.bridge.trace import schema
from roambus.bridge.trace.parquet import GREATEST_NODE, DamagedTraceError, read_footer
from roambus.bridge.trace.schema import AIR, AIR_BYTES, AIR_FRAMES, AIR_NS, END, MIGRATION_MESSAGES, USUAL_AIR, WARM_UP
from roambus.spark.metrics.reasons import DELIVERED
from roambus.spark.metrics.rows import Floats, Integers, Rows
from roambus.spark.metrics.whereabouts import FOLLOWED, Whereabouts

ROLES = ("publisher", "subscriber", "broker")
"""A node with several roles counts as the last of them."""


class Arrays:
    """The tables of a trace, for reading; they raise DamagedTraceError."""

    def __init__(self, file: Path) -> None:
        footer = read_footer(file)
        self.file, self.row_count = file, footer.rows
        self.warm_up_s = _warm_up_of(file, footer.metadata)
        self._given_end_s = _end_of(file, footer.metadata)
        self.air = _air_of(file, footer.metadata)
        """Bytes of headers of each packet on the air, and bit/s."""
        self.migration_messages = tuple(footer.metadata.get(MIGRATION_MESSAGES, "").split())
        """The message types that migrations cause, as the agent declares them."""

    @cached_property
    def end_s(self) -> float:
        """The run's time limit; in a trace of an earlier version, the time of the last row."""
        if self._given_end_s < math.inf:
            return self._given_end_s
        return max(self.rows.packets.end_s, float(self.rows.numbers(schema.TIME_S).max(initial=0.0)))

    @cached_property
    def packets(self) -> SimpleNamespace:
        """The columns of `run.sends`; `message_type` is a place in `types`."""
        return SimpleNamespace(**self.rows.packets.since(self.warm_up_s))

    @cached_property
    def rows(self) -> Rows:
        """The rows, read on first use."""
        return Rows(self.file, self.row_count)

    @property
    def types(self) -> list[str]:
        """The message types."""
        return self.rows.packets.types

    def sent(self) -> dict[str, int]:
        """Return the packets of each type."""
        counts = np.bincount(self.packets.message_type, minlength=len(self.types)).tolist()
        return {kind: count for kind, count in zip(self.types, counts, strict=True) if count}

    # Pairs

    @cached_property
    def pairs(self) -> SimpleNamespace:
        """The columns of `run.pairs`; `notification` is a code of `notifications`."""
        return self._pairs[0]

    @property
    def unexpected(self) -> int:
        """The number of pairs delivered to unintended receivers."""
        return self._pairs[1]

    @property
    def lost_for_good(self) -> int:
        """The number of pairs that are none, because the subscriber was down and stayed so."""
        return self._pairs[2]

    def notifications(self, codes: Integers) -> npt.NDArray[np.object_]:
        """The identifiers."""
        return self.rows.every_text(schema.NOTIFICATION_ID)[codes]

    @cached_property
    def _pairs(self) -> tuple[SimpleNamespace, int, int]:
        publisher, is_early = self._publishers()
        # A publisher's own notification is no delivery.
        published, routed, delivered = (
            listing.at(publisher[listing.keys >> 16] != listing.keys & GREATEST_NODE)
            for listing in (self._listed(schema.PUBLISH), self._listed(schema.ROUTE), self._delivered())
        )
        keys, where = np.unique(published.keys, return_index=True)
        ranks = np.argsort(np.argsort(where))
        of_published, of_routed, of_delivered = (
            _places(keys, ranks, listing.keys) for listing in (published, routed, delivered)
        )
        where.sort()
        keys, count = published.keys[where], len(where)
        is_wanted, early, is_routed = of_delivered >= 0, np.zeros(count, bool), np.zeros(count, bool)
        at = of_delivered[is_wanted]
        early[of_published[published.time_s < self.warm_up_s]] = True
        early[at[delivered.time_s[is_wanted] < self.warm_up_s]] = True
        is_routed[of_routed[of_routed >= 0]] = True
        columns = {
            "notification": keys >> 16,
            "subscriber": keys & GREATEST_NODE,
            "published_s": published.time_s[where],
            "routed": is_routed,
            "deliveries": np.bincount(at, minlength=count),
            "delivered_s": _firsts(at, delivered.time_s[is_wanted], count),
            "hops": _firsts(at, delivered.hops[is_wanted], count),
        }
        columns["delay_s"] = difference_s(columns["delivered_s"], columns["published_s"])
        others, is_late = delivered.keys[~is_wanted], delivered.time_s[~is_wanted] >= self.warm_up_s
        before = np.isin(others, others[~is_late]) | is_early[others >> 16]
        gone = columns["published_s"] >= self._down_since()[columns["subscriber"]]
        gone &= columns["deliveries"] == 0
        pairs = SimpleNamespace(**{name: column[~early & ~gone] for name, column in columns.items()})
        return pairs, len(np.unique(others[~before])), int((gone & ~early).sum())

    def _down_since(self) -> Floats:
        """Return the time of each node's last failure or death, infinite for a node that is up at the end."""
        rows, since = self.rows, np.full(GREATEST_NODE + 1, math.inf)
        where = rows.of(schema.CRASH, schema.FREEZE, schema.RECOVER)
        recoveries = rows.of(schema.RECOVER)
        node, time_s = rows.numbers(schema.NODE), rows.numbers(schema.TIME_S)
        # Of a node's several rows the last is written last, and stays.
        since[node[where]] = np.where(np.isin(where, recoveries), math.inf, time_s[where])
        deaths = rows.of(schema.DIE)
        np.fmin.at(since, node[deaths], time_s[deaths])
        return since

    @cached_property
    def whereabouts(self) -> SimpleNamespace:
        """Where each of `pairs` went: `where`, `reason` and `node`, the last two of what was not delivered."""
        is_missing = np.isnan(self.pairs.delivered_s)
        names, subscribers = self.notifications(self.pairs.notification), self.pairs.subscriber.tolist()
        expected: dict[str, set[int]] = {}
        for name, subscriber, missing in zip(names.tolist(), subscribers, is_missing.tolist(), strict=True):
            if missing:
                expected.setdefault(name, set()).add(subscriber)
        found = Whereabouts(expected)
        if expected:
            found.follow(self.rows.coded(FOLLOWED).to_pylist())
        ends = [
            found.end((name, subscriber), self.end_s) if missing else None
            for name, subscriber, missing in zip(names.tolist(), subscribers, is_missing.tolist(), strict=True)
        ]
        return SimpleNamespace(
            where=np.array([end.where if end else DELIVERED for end in ends], object),
            reason=np.array([end.reason if end else None for end in ends], object),
            node=np.array([end.node if end else -1 for end in ends], "int64"),
        )

    def _publishers(self) -> tuple[Integers, npt.NDArray[np.bool_]]:
        rows = self.rows
        published, count = rows.of(schema.PUBLISH), rows.count(schema.NOTIFICATION_ID) + 1
        codes = rows.codes(schema.NOTIFICATION_ID)[published]
        publisher, is_early = np.full(count, -1), np.zeros(count, bool)
        publisher[codes[::-1]] = rows.numbers(schema.NODE)[published[::-1]]  # the first publication stays
        is_early[codes[rows.numbers(schema.TIME_S)[published] < self.warm_up_s]] = True
        return publisher, is_early

    def _listed(self, event: str) -> _Keyed:
        rows = self.rows
        where = rows.of(event)
        row, word, words = self._lists(schema.DETAIL, where)
        number = np.array([_node_of(text) for text in words], "int64")[word]
        row, number = where[row[number >= 0]], number[number >= 0]
        if np.any(number > GREATEST_NODE):
            raise self._invalid_detail(event)
        return _Keyed(
            rows.codes(schema.NOTIFICATION_ID)[row].astype("int64") << 16 | number, rows.numbers(schema.TIME_S)[row]
        )

    def _lists(self, column: str, where: Integers) -> tuple[Integers, Integers, list[str]]:
        """Return each word's place in `where` and in the returned list."""
        texts, place = self.rows.texts(column, where)
        lists = [[] if text is None else text.split(schema.LIST_SEPARATOR) for text in texts]
        lengths, numbers = np.array([len(words) for words in lists], "int64"), dict[str, int]()
        word = np.array([numbers.setdefault(word, len(numbers)) for words in lists for word in words], "int64")
        counts = lengths[place]
        with mistakes_at(self.file):
            TRACE_LISTED.check(int(counts.sum()))
        begins = (np.cumsum(lengths) - lengths)[place] - (np.cumsum(counts) - counts)
        return (
            np.repeat(np.arange(len(where)), counts),
            word[np.repeat(begins, counts) + np.arange(counts.sum())],
            list(numbers),
        )

    def _delivered(self) -> _Keyed:
        rows = self.rows
        where = rows.of(schema.DELIVER)
        time_s, hops = rows.numbers(schema.TIME_S)[where], rows.numbers(schema.HOPS)[where].astype(float)
        order = np.lexsort((np.nan_to_num(hops, nan=-1.0), time_s))
        where = where[order]
        keys = rows.codes(schema.NOTIFICATION_ID)[where].astype("int64") << 16 | rows.numbers(schema.NODE)[where]
        return _Keyed(keys, time_s[order], hops[order])

    def _invalid_detail(self, event: str) -> InvalidDetailError:
        return InvalidDetailError(self.file, f"a {event} row whose {schema.DETAIL} holds no numbers: correct its agent")

    # Nodes

    @cached_property
    def nodes(self) -> SimpleNamespace:
        """The columns of `run.nodes`, and `node`."""
        rows = self.rows
        (of_role, roles), (of_energy, energies), (of_death, deaths) = (
            (where := rows.of(event), rows.numbers(schema.NODE)[where])
            for event in (schema.ROLE, schema.ENERGY, schema.DIE)
        )
        sending = np.flatnonzero(np.bincount(rows.packets.since(0.0)[schema.NODE]))
        known = np.unique(np.concatenate((sending, roles, energies)))
        node = np.union1d(known, deaths)
        role, died_s = np.full(len(node), -1), np.full(len(node), math.nan)
        np.maximum.at(role, np.searchsorted(node, roles), self._each(of_role, _last_role).astype(int))
        np.fmin.at(died_s, np.searchsorted(node, deaths), rows.numbers(schema.TIME_S)[of_death])
        spent = self._measured(schema.ENERGY, of_energy)
        energy_mj = np.full(len(node), math.nan)
        at = np.searchsorted(node, energies)
        energy_mj[at] = np.bincount(at, np.rint(spent * 1e6), len(node))[at] / 1e6
        frames, air_bytes = self._on_air(node, known)
        return SimpleNamespace(
            node=node.astype("int64"),
            role=np.array([*ROLES, math.nan], object)[role],
            messages=self._sums(node, known),
            air_frames=frames,
            air_bytes=air_bytes,
            energy_mj=energy_mj,
            died_s=died_s,
        )

    def _on_air(self, nodes: Integers, known: Integers) -> tuple[Any, Any]:
        """Return each node's frames and bytes: what its radio counted, or its packets with headers."""
        if len(counted := self._counted(AIR_FRAMES)):
            return counted[nodes], self._counted(AIR_BYTES)[nodes]
        return self._sums(nodes, known), self._sums(nodes, known, self.packets.bytes + self.air[0])

    def air_s(self) -> float:
        """Return how long all frames were on the air; NaN if no radio counted and nothing was sent."""
        if len(counted := self._counted(AIR_NS)):
            return float(np.nansum(counted)) / 1e9
        sizes = self.nodes.air_bytes[~np.isnan(self.nodes.air_bytes)]
        return float(sizes.sum()) * 8 / self.air[1] if len(sizes) else math.nan

    def _counted(self, name: str) -> Floats:
        """Return a radio's count by node, NaN where there is none; empty if no node has it."""
        rows = self.rows
        where = rows.of(schema.RADIO)
        names, place = rows.texts(schema.MESSAGE_TYPE, where)
        where = where[np.array([text == name for text in names], bool)[place]]
        counts = np.full(GREATEST_NODE + 1, math.nan)
        counts[rows.numbers(schema.NODE)[where]] = self._measured(schema.RADIO, where)
        return counts if len(where) else np.empty(0)

    def _sums(self, nodes: Integers, known: Integers, values: Integers | None = None) -> Any:
        sums = np.bincount(self.packets.node, values, minlength=GREATEST_NODE + 1)[nodes]
        return sums if len(nodes) == len(known) else np.where(np.isin(nodes, known), sums, math.nan)

    def _measured(self, event: str, where: Integers) -> Floats:
        """Return the finite numbers in these rows of an event."""
        with suppress(ValueError, TypeError):
            found = self._each(where, float)
            if np.isfinite(found).all():
                return found
        raise self._invalid_detail(event)

    def _each(self, where: Integers, read: Callable[[Any], float]) -> Floats:
        texts, place = self.rows.texts(schema.DETAIL, where)
        return np.array([read(text) for text in texts], float)[place]

    @cached_property
    def parents(self) -> SimpleNamespace:
        """The columns of `run.migrations`."""
        rows = self.rows
        where = rows.of(schema.MIGRATE)
        peer = rows.table[schema.PEER].take(where).to_numpy()
        where, peer = where[~np.isnan(peer)], peer[~np.isnan(peer)]
        node, time_s = rows.numbers(schema.NODE)[where], rows.numbers(schema.TIME_S)[where]
        late = time_s >= self.warm_up_s
        before = np.unique(node[~late])  # its last parent of the warm-up counts as a node's first
        is_further = np.ones(len(before) + late.sum(), bool)
        is_further[np.unique(np.concatenate((before, node[late])), return_index=True)[1]] = False
        further = np.flatnonzero(late)[is_further[len(before) :]]
        return SimpleNamespace(time_s=time_s[further], node=node[further], peer=peer[further])

    @cached_property
    def migration_sizes(self) -> Integers:
        """The bytes of each message that migrations cause."""
        wanted = np.array([text in self.migration_messages for text in self.types], bool)
        if not len(self.parents.time_s) or not wanted.any():
            return np.empty(0, "int64")
        chosen = wanted[self.packets.message_type] & (self.packets.time_s >= self.parents.time_s.min())
        sizes: Integers = self.packets.bytes[chosen]
        return sizes

    @cached_property
    def heard(self) -> SimpleNamespace:
        """Receptions, at level full: `node`, `notification` (a number)."""
        rows = self.rows
        where = rows.of(schema.RECEIVE)
        row, notification, _ = self._lists(schema.NOTIFICATION_ID, where)
        is_late = rows.numbers(schema.TIME_S)[where][row] >= self.warm_up_s
        node = rows.numbers(schema.NODE)[where][row]
        return SimpleNamespace(node=node[is_late], notification=notification[is_late])

    def count_heard(self) -> int:
        """Return the number of different pairs in `heard`."""
        return len(np.unique(self.heard.node.astype("int64") << 32 | self.heard.notification))


class InvalidDetailError(DamagedTraceError):
    """An intact trace has impossible contents."""


def billionths(seconds: Any) -> Any:
    """Return the nearest integers of billionths: nanoseconds for seconds."""
    return np.rint(seconds * 1e9).astype("int64")


def difference_s(later: Any, earlier: Any) -> Any:
    """Return the time between both, to the nanosecond; missing if one is."""
    return ((later * 1e9).round() - (earlier * 1e9).round()) / 1e9


def _warm_up_of(file: Path, metadata: Mapping[str, str]) -> float:
    """The warm-up in seconds; raises DamagedTraceError."""
    with suppress(ValueError):
        warm_up_s = float(metadata.get(WARM_UP, "0"))
        if 0 <= warm_up_s < math.inf:
            return warm_up_s
    raise DamagedTraceError(file, "damaged (its warm-up is not a time)")


def _end_of(file: Path, metadata: Mapping[str, str]) -> float:
    """The end in seconds; infinite if not given. Raises DamagedTraceError."""
    if END not in metadata:
        return math.inf
    with suppress(ValueError):
        end_s = float(metadata[END])
        if 0 <= end_s < math.inf:
            return end_s
    raise DamagedTraceError(file, "damaged (it does not say when it ends)")


def _air_of(file: Path, metadata: Mapping[str, str]) -> tuple[int, int]:
    """Header bytes and bit/s of a frame; raises DamagedTraceError."""
    if AIR not in metadata:
        return USUAL_AIR
    with suppress(ValueError):
        headers, rate = map(int, metadata[AIR].split())
        if 0 <= headers < 1 << 16 and rate > 0:
            return headers, rate
    raise DamagedTraceError(file, "damaged (it does not say what its headers are)")


class _Keyed(NamedTuple):
    """Rows about pairs: key (notification's number and subscriber) and time."""

    keys: Integers
    time_s: Floats
    hops: Floats = np.empty(0)

    def at(self, chosen: npt.NDArray[np.bool_]) -> _Keyed:
        """Return the chosen rows."""
        return _Keyed(self.keys[chosen], self.time_s[chosen], self.hops[chosen] if len(self.hops) else self.hops)


def _places(ordered: Integers, ranks: Integers, wanted: Integers) -> Integers:
    """Return each key's rank, or -1."""
    if not len(ordered):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[at] == wanted, ranks[at], -1)


def _firsts(at: Integers, values: Floats, size: int) -> Floats:
    found = np.full(size, np.nan)
    found[at[::-1]] = values[::-1]  # of several values for one place the last that is written stays
    return found


def _node_of(word: str) -> int:
    """Return the node; -1 for an empty word, too great a number for any other."""
    if not word:
        return -1
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 5 else GREATEST_NODE + 1


def _last_role(roles: str | None) -> int:
    named = (roles or "").split(schema.LIST_SEPARATOR)
    return max((place for place, role in enumerate(ROLES) if role in named), default=-1)
