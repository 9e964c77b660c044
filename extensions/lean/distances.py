"""Distances to subscribers, in expected transmissions.

Shadowing changes within a second at walking speed, so nodes keep distances instead of next hops.

- A link's rating is its mean strength over the own radio's edge, in deviations. At the edge only the better half is
  heard, 0.8 deviations above the mean, which is subtracted.
- The edge is learnt: a twentieth of all frames is weaker.
- A missing frame or answer moves the mean towards it.
- Neighbours send theirs in levels of 0.4 transmissions, valid for three intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from math import erf, sqrt

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

LEVEL = 0.4
"""In transmissions: the farthest distance is six, a field's diagonal where a node hears a sixth of all."""
UNKNOWN = 15
"""The level of an unknown node."""
FARTHEST = UNKNOWN * LEVEL
LONGEST_ROW = 120
"""Nodes in one row: 60 of the 102 bytes that IEEE 802.15.4 leaves to a message."""

_SENSITIVITY_DBM, _ACCURACY_DB = -95.0, 6.0
"""Of the CC2420 (Texas Instruments, data sheet SWRS041), typically."""
_WEAKER = 0.05
"""The share of heard frames below the edge."""
_STEP_DB = 0.3
"""The step of the edge; the first frames move it faster."""
_BETTER_HALF = 0.8
"""Mean of the upper half of a normal distribution, in deviations."""
_LEAST_DEVIATION_DB = 2.5
"""Of an unknown link; frames of a CC2420 at rest vary by 1 to 2 dB."""
_NEWEST = 1 / 3
"""The weight of the newest frame: three frames make a link an old one."""
_MOST_TRANSMISSIONS = 6.0
_LIFETIME = 3
"""In the teller's intervals."""


@dataclass(slots=True)
class Link:
    """A neighbour's signal and levels, valid for some of its intervals."""

    mean: float
    heard: SimTime
    interval: SimTime
    gap: float = SECOND
    levels: dict[NodeId, int] = field(default_factory=dict)

    def is_valid(self, now: SimTime) -> bool:
        """Whether it was heard lately."""
        return now - self.heard <= _LIFETIME * self.interval


class Distances:
    """The distances of one node."""

    def __init__(self, node: NodeId, interval: SimTime) -> None:
        """`interval` holds for a neighbour that has sent none."""
        self._node = node
        self._interval = interval
        self._links: dict[NodeId, Link] = {}
        self._edge = _SENSITIVITY_DBM
        self._deviation = 4.0
        self._heard = 0

    # Links

    def hear(self, sender: NodeId, rssi_dbm: float, now: SimTime) -> None:
        """A frame has come, whatever it holds."""
        self._learn_edge(rssi_dbm)
        link = self._links.get(sender)
        if link is None or not link.is_valid(now):
            self._links[sender] = Link(rssi_dbm, now, self._interval)
            return
        self._deviation += 0.01 * (1.25 * abs(rssi_dbm - link.mean) - self._deviation)
        link.mean += _NEWEST * (rssi_dbm - link.mean)
        link.gap += 0.2 * (min(now - link.heard, 4 * SECOND) - link.gap)
        link.heard = now

    def _learn_edge(self, rssi_dbm: float) -> None:
        """Move the edge towards the wanted share of weaker frames (Robbins and Monro, 1951)."""
        self._heard += 1
        step = max(_STEP_DB, 20 / self._heard)
        moved = self._edge + step * (_WEAKER - (rssi_dbm < self._edge))
        self._edge = min(max(moved, _SENSITIVITY_DBM - _ACCURACY_DB), _SENSITIVITY_DBM + _ACCURACY_DB)

    def learn(self, sender: NodeId, levels: Iterable[tuple[NodeId, int]], interval: SimTime = 0) -> None:
        """Take levels, and perhaps the interval, of a neighbour just heard."""
        link = self._links[sender]
        link.levels.update(levels)
        link.interval = interval or link.interval

    @property
    def _spread(self) -> float:
        return max(self._deviation, _LEAST_DEVIATION_DB)

    def transmissions(self, link: Link, now: SimTime) -> float:
        """The expected transmissions of a link."""
        missed = max(0.0, (now - link.heard) / max(link.gap, SECOND / 4) - 1)
        margin = self._weakened(link.mean, missed) - self._edge - _BETTER_HALF * self._spread
        # The next frame differs from the mean of the last ones, which has an error of its own.
        share = (1 + erf(margin / (1.2 * self._spread) / sqrt(2))) / 2
        return 1 / max(share, 1 / _MOST_TRANSMISSIONS)

    def _weakened(self, mean: float, missed: float) -> float:
        lowest = self._edge - self._spread
        return float(lowest + (mean - lowest) * (1 - _NEWEST) ** missed)

    def disappoint(self, subscriber: NodeId) -> None:
        """A subscriber that was sent something has not answered."""
        if (link := self._links.get(subscriber)) is not None:
            link.mean = self._weakened(link.mean, 1)

    def forget_silent(self, now: SimTime) -> None:
        """Forget neighbours that have gone."""
        self._links = {node: link for node, link in self._links.items() if link.is_valid(now)}

    def heard_of(self, nodes: Iterable[NodeId], now: SimTime) -> float:
        """Return how many of these nodes a frame of one of them should reach."""
        links = (self._links.get(node) for node in nodes)
        return sum(1 / self.transmissions(link, now) for link in links if link is not None and link.is_valid(now))

    # Distances

    def of(self, subscriber: NodeId, now: SimTime) -> float:
        """The expected transmissions to a subscriber; `FARTHEST` if unknown."""
        if subscriber == self._node:
            return 0.0
        best = FARTHEST
        for neighbour, link in self._links.items():
            behind = 0 if neighbour == subscriber else link.levels.get(subscriber, UNKNOWN)
            if behind < UNKNOWN and behind * LEVEL + 1 < best and link.is_valid(now):
                best = min(best, behind * LEVEL + self.transmissions(link, now))
        return best

    def levels(self, subscribers: Iterable[NodeId], now: SimTime) -> dict[NodeId, int]:
        """The levels of subscribers with a known distance."""
        announced = {node: level_of(self.of(node, now)) for node in subscribers}
        return {node: level for node, level in announced.items() if level < UNKNOWN}


def level_of(distance: float) -> int:
    """The level nearest to a distance."""
    return min(UNKNOWN, int(distance / LEVEL + 0.5))


# Rows of levels


def pack_levels(levels: Mapping[NodeId, int], begin: NodeId = 0) -> tuple[NodeId, bytes]:
    """Return the first node from `begin` on, or of all, and a row of two levels a byte."""
    nodes = sorted(levels)
    first = next((node for node in nodes if node >= begin), nodes[0] if nodes else 0)
    last = max((node for node in nodes if node < first + LONGEST_ROW), default=first - 1)
    row = [levels.get(node, UNKNOWN) for node in range(first, last + 1)]
    pairs = zip_longest(row[::2], row[1::2], fillvalue=UNKNOWN)
    return first, bytes(high << 4 | low for high, low in pairs)


def unpack_levels(first: NodeId, row: bytes) -> Iterator[tuple[NodeId, int]]:
    """Each node of a row with its level, perhaps `UNKNOWN`."""
    for place, pair in enumerate(row):
        yield first + 2 * place, pair >> 4
        yield first + 2 * place + 1, pair & 15
