"""Makes columns of the happenings of a trace: texts become numbers, with 0 for a null where there can be one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.trace.schema import (
    BYTES,
    DELIVER,
    DETAIL,
    EVENT,
    HOPS,
    MESSAGE_TYPE,
    NODE,
    NOTIFICATION_ID,
    PEER,
    RECEIVE,
    SEND,
    TIME_S,
)
from roambus.experiments.viewer.arrivals import ANYBODY, match_arrivals
from roambus.experiments.viewer.columns import Column
from roambus.experiments.viewer.witness import Testimony
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND


class Coded(NamedTuple):
    """Texts, and the number of each row's text, counted from 1; 0 where there is none."""

    numbers: Column
    texts: list[str]


class Happenings(NamedTuple):
    """`columns` has a value for each row, `texts` what their numbers stand for."""

    columns: dict[str, Column]
    texts: dict[str, list[str]]


def happenings_of(rows: pa.Table, nodes: int, testimony: Testimony | None = None) -> Happenings:
    """Rows in the order of time; with a testimony `hops` numbers sends and receives. Raises UserError.

    The columns: `wait` since the row before (ns), `kind`, `node`, `peer`, `type`, `note`, `detail`, `size` (bytes),
    `hops` (one more than there are, 0: null), `content`, and `origin`: how many rows before a receive its send is (0:
    unknown).
    """
    events, types = _coded(rows[EVENT]), _coded(rows[MESSAGE_TYPE])
    notes, details = _coded(rows[NOTIFICATION_ID]), _coded(rows[DETAIL])
    names = np.array(["", *events.texts])[events.numbers]
    contents = types.numbers if testimony is None else _contents(rows, names, testimony)
    node, peer = _nodes(rows[NODE], nodes), _nodes(rows[PEER], nodes)
    columns = {
        "wait": _waits(rows[TIME_S]),
        "kind": events.numbers - 1,
        "node": node - 1,
        "peer": peer,
        "type": types.numbers,
        "note": notes.numbers,
        "detail": details.numbers,
        "size": _numbers(rows[BYTES], 0),
        "hops": np.where(names == DELIVER, _numbers(rows[HOPS], -1) + 1, 0),
        "content": np.zeros_like(node) if testimony is None else contents,
        "origin": _origins(names, node - 1, peer - 1, contents),
    }
    texts = {"kinds": events.texts, "types": types.texts, "notifications": notes.texts, "details": details.texts}
    return Happenings(columns, texts)


def _coded(column: pa.ChunkedArray) -> Coded:
    encoded = column.combine_chunks().dictionary_encode()
    numbers = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return Coded(numbers + 1, encoded.dictionary.to_pylist())


def _numbers(column: pa.ChunkedArray, null: int) -> Column:
    """The column, in which values below the null's are the null's: no run leaves them."""
    values: Column = pc.fill_null(column.cast(pa.int64()), null).to_numpy()
    return np.maximum(values, null)


def _nodes(column: pa.ChunkedArray, nodes: int) -> Column:
    """Nodes counted from 1, and 0 for none or for all: the drop of a broadcast names BROADCAST."""
    values = _numbers(column, -1)
    values = np.where(values == BROADCAST, -1, values)
    least = pc.min(column).as_py()
    if (least is not None and least < 0) or values.max(initial=-1) >= nodes:
        raise UserError(f"the trace names a node that is none of the run's, 0 to {nodes - 1}; make the run again")
    return values + 1


def _waits(column: pa.ChunkedArray) -> Column:
    seconds: NDArray[np.float64] = column.to_numpy()
    if not (np.isfinite(seconds).all() and (seconds >= 0).all() and (np.diff(seconds) >= 0).all()):
        raise UserError("the trace's rows are not in the order of time; make the run again")
    times = np.round(seconds * SECOND).astype(np.int64)
    return np.diff(times, prepend=0)


def _contents(rows: pa.Table, names: NDArray[np.str_], testimony: Testimony) -> Column:
    """The number of what each send and receive carries, counted from 1; 0 for other rows."""
    which = _numbers(rows[HOPS], 0)
    contents = np.zeros(len(which), np.int64)
    for event, known in ((SEND, testimony.sent), (RECEIVE, testimony.heard)):
        these = names == event
        contents[these] = np.array(known, np.int64)[which[these]] + 1
    return contents


def _origins(names: NDArray[np.str_], node: Column, peer: Column, contents: Sequence[int] | Column) -> Column:
    is_send = names == SEND
    frame = pd.DataFrame(
        {
            "is_send": is_send,
            "is_receive": names == RECEIVE,
            "node": node,
            "peer": np.where(is_send & (peer < 0), ANYBODY, peer),
            "content": contents,
        }
    )
    matched = match_arrivals(frame)
    return np.where(matched < 0, 0, np.arange(len(matched)) - matched)
