"""Takes of a recording what a run plays: one channel, from some time on, at some pace, for so many nodes.

A row holds from its time until the link's next row; before its first row a link is as its first row says. So nothing is
made up between rows, and `roambus.bridge.k7.gaps` names where a row holds longer than is usual.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.k7.recording import EVERY_CHANNEL, Recording


class Choice(NamedTuple):
    """Rows of a recording, and how the time of a run goes over them."""

    rows: NDArray[Any]
    """ROW[row] of one channel and the nodes that the run has, in the order of time"""
    nodes: int
    start: int
    """ns into the recording"""
    pace: float
    lasting: int
    """ns of the run"""

    @property
    def links(self) -> NDArray[np.int64]:
        """The link of each row: `source * nodes + target`."""
        links: NDArray[np.int64] = self.rows["source"] * self.nodes + self.rows["target"]
        return links

    @property
    def end(self) -> float:
        """The ns into the recording at which the run ends."""
        return float(self.start + self.pace * self.lasting)


def choose(recording: Recording, channel: int | None, nodes: int) -> NDArray[Any]:
    """The rows of a channel (None: the first) between the first `nodes` nodes; raises ValueError if there are none."""
    channels = recording.channels
    channel = next((one for one in channels if one != EVERY_CHANNEL), channels[0]) if channel is None else channel
    if channel not in channels:
        there = ", ".join("the mean over all" if one == EVERY_CHANNEL else str(one) for one in channels)
        raise ValueError(f"there is no row of this channel; there are {there}")
    if nodes > len(recording.ids):
        raise ValueError(f"{nodes} nodes are wanted, and the recording has {len(recording.ids)}")
    rows: NDArray[Any] = recording.rows
    rows = rows[(rows["channel"] == channel) & (rows["source"] < nodes) & (rows["target"] < nodes)]
    if not len(rows):
        raise ValueError(f"no link between its first {nodes} nodes has a row of this channel")
    return rows


def at_first(choice: Choice) -> NDArray[np.int64]:
    """Index[link]: the row that each link begins with, the last one up to the start or else its first."""
    links = choice.links
    _, first = np.unique(links, return_index=True)
    before = np.flatnonzero(choice.rows["at"] <= choice.start)
    holding = dict(zip(links[first].tolist(), first.tolist(), strict=True))
    holding.update(zip(links[before].tolist(), before.tolist(), strict=True))
    return np.array(sorted(holding.values()), np.int64)


def later(choice: Choice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index[change] of the rows that come into force during the run, and the ns[change] of the run when they do."""
    at = choice.rows["at"]
    if choice.pace == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    changes = np.flatnonzero((at > choice.start) & (at < choice.end))
    times = np.ceil((at[changes] - choice.start) / choice.pace).astype(np.int64)
    return changes, times
