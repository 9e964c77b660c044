"""The metrics that account for expected pairs that were not delivered: with those delivered they add up to all of them.

`whereabouts` finds the end of each pair, and `reasons` names the ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roambus.spark.metrics.metric import Kind, metric, metrics_in
from roambus.spark.metrics.reasons import (
    CHANNEL,
    CRASH,
    LIMIT,
    LOST,
    NOT_ATTEMPTED,
    OTHER,
    QUEUE,
    SILENCE,
    STORED,
    UNDER_WAY,
    UNSEEN,
    WAY,
    group_of,
)

if TYPE_CHECKING:
    from roambus.spark.metrics.run import Run


@metric("stored at the end", kind=Kind.COUNT)
def stored(run: Run) -> float:
    """Expected pairs that were not delivered, and that a node had at the end, stored for them or kept for all."""
    return _ended(run, STORED)


@metric("under way at the end", kind=Kind.COUNT)
def under_way(run: Run) -> float:
    """Expected pairs that were not delivered, and of which a row says within 10 s of the end that they were sent on."""
    return _ended(run, UNDER_WAY)


@metric("unseen", kind=Kind.COUNT)
def unseen(run: Run) -> float:
    """Expected pairs that were sent on, and of which no row says anything later."""
    return _ended(run, UNSEEN)


@metric("not attempted", kind=Kind.COUNT)
def not_attempted(run: Run) -> float:
    """Expected pairs that were not delivered, and that no node but the publisher has a row of."""
    return _ended(run, NOT_ATTEMPTED)


@metric("lost to a full MAC queue", kind=Kind.COUNT)
def lost_to_queue(run: Run) -> float:
    """Expected pairs that were given up last because the node's own MAC or radio had no room."""
    return _ended(run, LOST, QUEUE)


@metric("lost to a busy channel", kind=Kind.COUNT)
def lost_to_channel(run: Run) -> float:
    """Expected pairs that were given up last because the MAC found no clear channel."""
    return _ended(run, LOST, CHANNEL)


@metric("lost without acknowledgement", kind=Kind.COUNT)
def lost_to_acknowledgement(run: Run) -> float:
    """Expected pairs that were given up last without an acknowledgement."""
    return _ended(run, LOST, SILENCE)


@metric("lost without a way", kind=Kind.COUNT)
def lost_to_way(run: Run) -> float:
    """Expected pairs that were given up last for lack of a route, a link, a broker, or hops to go."""
    return _ended(run, LOST, WAY)


@metric("lost to a full agent", kind=Kind.COUNT)
def lost_to_limit(run: Run) -> float:
    """Expected pairs that were given up last because a storage or queue of an agent was full."""
    return _ended(run, LOST, LIMIT)


@metric("lost to crashes", kind=Kind.COUNT)
def lost_to_crash(run: Run) -> float:
    """Expected pairs that were given up last because a node crashed, or lost its energy, that had them."""
    return _ended(run, LOST, CRASH)


@metric("lost for other reasons", kind=Kind.COUNT)
def lost_to_other(run: Run) -> float:
    """Expected pairs that were given up last for another reason, which `run.whereabouts` has."""
    return _ended(run, LOST, OTHER)


def _ended(run: Run, where: str, group: str | None = None) -> float:
    found = run.arrays.whereabouts
    chosen = found.where == where
    return sum(group_of(reason) == group for reason in found.reason[chosen]) if group else int(chosen.sum())


ENDS = metrics_in(globals())
"""The metrics of pairs that were not delivered, in the order of tables."""
