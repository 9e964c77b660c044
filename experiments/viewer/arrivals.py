"""Tells which send a receive belongs to."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ANYBODY = -1
"""The peer of a broadcast."""


def match_arrivals(rows: pd.DataFrame) -> NDArray[np.int64]:
    """For each row the index of the send that arrived there; -1 for a row that is no receive, or whose send is unknown.

    The columns are `is_send`, `is_receive`, `node`, `peer` (ANYBODY for a broadcast) and `content`, which is equal for
    equal messages; rows are in the order of time. A receive belongs to the last send of that content from that
    neighbour to this node, or to all: a trace does not tell which copy of a message arrived that was sent again before.
    """
    rows = rows.assign(row=np.arange(len(rows)))
    sends = rows[rows["is_send"]]
    receives = rows[rows["is_receive"]]
    directly = _last_before(receives, sends[sends["peer"] != ANYBODY], to_all=False)
    broadcast = _last_before(receives, sends[sends["peer"] == ANYBODY], to_all=True)
    matched = np.full(len(rows), -1, np.int64)
    matched[receives["row"]] = np.maximum(directly, broadcast)
    return matched


def _last_before(receives: pd.DataFrame, sends: pd.DataFrame, *, to_all: bool) -> NDArray[np.int64]:
    """The index of the last fitting send for each receive, or -1."""
    left = pd.DataFrame({"row": receives["row"], "sender": receives["peer"], "content": receives["content"]})
    right = pd.DataFrame({"row": sends["row"], "sender": sends["node"], "content": sends["content"]})
    keys = ["sender", "content"]
    if not to_all:
        left["receiver"], right["receiver"] = receives["node"], sends["peer"]
        keys.append("receiver")
    right["sent"] = right["row"]
    found = pd.merge_asof(left, right, on="row", by=keys)
    return found["sent"].fillna(-1).to_numpy(np.int64)
