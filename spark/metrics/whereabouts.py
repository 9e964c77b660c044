"""Where each expected pair of a notification and a subscriber went, from the rows of one run: the sum is all of them.

A pair that was not delivered is where its last row says:

- *stored*: a node has stored it, and since then neither sent it on, nor dropped it, nor crashed or run out of energy.
  Some protocols keep a notification for all nodes. All its pairs are stored while a node keeps it;
- *lost*, with the reason of a drop row of it, or a crash or death of the node that stored it;
- *under way*: a row says that it was sent on, and the run ended within UNDER_WAY_S;
- *unseen*: the same, longer before the end. Frames without acknowledgement are lost on the air without a row. So are
  frames at a node that is down if its MAC acknowledges them all the same, as ns-3's does;
- *not attempted*: nobody but its publisher has a row of it.

A drop row without a subscriber, as of a frame for many, concerns the pairs of its notifications that have no later row
of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from roambus.bridge.trace import schema
from roambus.spark.metrics.reasons import CRASH, DEATH, LOST, NOT_ATTEMPTED, STORED, UNDER_WAY, UNSEEN

UNDER_WAY_S = 10.0
"""So long before the end a pair without further rows is under way: longer than a MAC or link works at a frame."""

FOLLOWED = (
    *(schema.ROUTE, schema.STORE, schema.KEEP, schema.RELEASE, schema.REPLAY, schema.DROP),
    *(schema.CRASH, schema.DIE),
)
"""The rows that locate pairs."""

Pair = tuple[str, int]
"""Notification and subscriber."""


class End(NamedTuple):
    """The last knowledge of a pair: `where`, the reason if it is lost, and which node says so."""

    where: str
    reason: str | None
    node: int
    time_s: float


@dataclass(slots=True)
class Whereabouts:
    """Follows the expected pairs through the rows of a run."""

    pairs: Mapping[str, set[int]]
    """The subscribers that did not get a notification that they were expected to get."""
    last: dict[Pair, End] = field(default_factory=dict)
    holders: dict[Pair, dict[int, float]] = field(default_factory=dict)
    """The nodes that store a pair."""
    keepers: dict[str, dict[int, float]] = field(default_factory=dict)
    """The nodes that keep a notification for all."""
    drops: dict[str, End] = field(default_factory=dict)
    """The last drop of each notification that names no subscriber."""

    def follow(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows in the order of the trace."""
        for row in rows:
            if row[schema.EVENT] in (schema.CRASH, schema.DIE):
                reason = CRASH if row[schema.EVENT] == schema.CRASH else DEATH
                self._fail(End(LOST, reason, row[schema.NODE], row[schema.TIME_S]))
            else:
                for name in (row[schema.NOTIFICATION_ID] or "").split(schema.LIST_SEPARATOR):
                    if name in self.pairs:
                        self._take(name, row)

    def _take(self, name: str, row: Mapping[str, Any]) -> None:
        event, node, peer, time_s = row[schema.EVENT], row[schema.NODE], row[schema.PEER], row[schema.TIME_S]
        if event == schema.ROUTE:
            for word in (row[schema.DETAIL] or "").split(schema.LIST_SEPARATOR):
                self._set(name, int(word or -1), End(UNDER_WAY, None, node, time_s))
        elif event == schema.STORE:
            if self._set(name, peer, End(STORED, None, node, time_s)):
                self.holders.setdefault((name, peer), {})[node] = time_s
        elif event == schema.KEEP:
            self.keepers.setdefault(name, {})[node] = time_s
        elif event == schema.RELEASE:
            self._release(name, End(LOST, row[schema.DETAIL] or "", node, time_s))
        elif event == schema.REPLAY:
            self._set(name, peer, End(UNDER_WAY, None, node, time_s))
            self.holders.get((name, peer), {}).pop(node, None)
        else:
            self._drop(name, End(LOST, row[schema.DETAIL] or "", node, time_s), peer)

    def _release(self, name: str, end: End) -> None:
        """Take a notification from a node that kept it; the last one ends the pairs of it."""
        keepers = self.keepers.get(name, {})
        if keepers.pop(end.node, None) is not None and not keepers:
            self.drops[name] = end

    def _drop(self, name: str, end: End, peer: int | None) -> None:
        if peer is None:
            self._release(name, end)
        is_clients = peer is None and end.node in self.pairs[name]  # which drops what it gets itself
        subscriber = end.node if is_clients else peer
        if subscriber is not None and self._set(name, subscriber, end):
            self.holders.get((name, subscriber), {}).pop(end.node, None)
        else:
            self.drops[name] = end

    def _set(self, name: str, subscriber: int | None, end: End) -> bool:
        """Say where a pair is; return whether it is one."""
        if subscriber is None or subscriber not in self.pairs[name]:
            return False
        self.last[name, subscriber] = end
        return True

    def _fail(self, end: End) -> None:
        for name in self.keepers:
            self._release(name, end)
        for pair, holders in self.holders.items():
            is_last = holders.pop(end.node, None) is not None and not holders
            if is_last and self.last[pair].time_s <= end.time_s:  # rows of deaths stand at the end of a trace
                self.last[pair] = end

    def end(self, pair: Pair, end_s: float) -> End:
        """Return where a pair is that was not delivered."""
        name, _ = pair
        last, dropped = self.last.get(pair), self.drops.get(name)
        if holders := self.holders.get(pair):
            node, since = next(iter(holders.items()))
            return End(STORED, None, node, since)
        if keepers := self.keepers.get(name):
            node, since = next(iter(keepers.items()))
            return End(STORED, None, node, since)
        if last is not None and last.where == LOST:
            return last
        if dropped is not None and (last is None or dropped.time_s >= last.time_s):
            return dropped
        if last is None:
            return End(NOT_ATTEMPTED, None, -1, 0.0)
        return last._replace(where=UNDER_WAY if end_s - last.time_s <= UNDER_WAY_S else UNSEEN)
