"""What happens at each node over time, as vectors of the node.

| vector          | a value for each                                 | value                                     |
|-----------------|--------------------------------------------------|-------------------------------------------|
| `published`     | notification published                           | subscribers that want it                  |
| `deliveryDelay` | first delivery of a notification                 | s since its publication                   |
| `deliveryHops`  | first delivery of a notification                 | radio hops                                |
| `duplicate`     | further delivery                                 | radio hops                                |
| `sent:TYPE`     | message of that type handed to the network stack | its bytes                                 |
| `received:TYPE` | message of that type received (level full)       | its sender                                |
| `dropped:TYPE`  | message of that type that was not taken          | whom it was for, 65535 for all              |
| `x`, `y`        | way-point                                        | m; between two of them it goes straight   |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from roambus.bridge.trace.schema import (
    BYTES,
    DELIVER,
    DETAIL,
    DROP,
    EVENT,
    HOPS,
    LIST_SEPARATOR,
    MESSAGE_TYPE,
    MOVE,
    NODE,
    NOTIFICATION_ID,
    PEER,
    PUBLISH,
    RECEIVE,
    SEND,
    TIME_S,
)
from roambus.experiments.export.result_file import attributes, node_module, quoted, run_header
from roambus.experiments.export.runs import Row, numbers, rows
from roambus.python_protocol.roles import BROADCAST
from roambus.spark.aggregation.traces import Trace

Values = Iterator[tuple[str, float | None]]
"""The names of vectors, and the value that each gets; None where there is none."""

_UNITS = {"deliveryDelay": "s", "x": "m", "y": "m", "sent": "B"}
_LINEAR = {"x", "y"}


def vector_file(trace: Trace) -> Iterator[str]:
    """The lines of the `.vec` of a run, row by row; raises UserError, OSError.

    In memory are the notifications published, and to whom each was delivered; nothing else grows with the run.
    """
    yield from run_header(trace)
    readers = _Readers(trace)
    declared: dict[tuple[int, str], int] = {}
    for row in rows(trace, *readers.events):
        for name, value in readers.values(row):
            if value is None:
                continue
            vector = row[NODE], name
            if vector not in declared:
                declared[vector] = len(declared)
                yield from _declaration(declared[vector], *vector)
            yield f"{declared[vector]}\t{row[TIME_S]:.9f}\t{value:.12g}\n"


def _declaration(number: int, node: int, name: str) -> Iterator[str]:
    yield f"vector {number} {node_module(node)} {quoted(name)} TV\n"
    kind = name.partition(":")[0]
    if kind in _UNITS:
        yield from attributes({"unit": _UNITS[kind]})
    yield from attributes({"interpolationmode": "linear" if name in _LINEAR else "none"})


class _Readers:
    """Reads what each kind of row means for the vectors of its node."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._published: dict[str, float] = {}
        self._delivered: set[tuple[str, int]] = set()
        self._by_event: dict[str, Callable[[Row], Values]] = {
            PUBLISH: self._publish,
            DELIVER: self._deliver,
            SEND: lambda row: _of_type("sent", row, row[BYTES]),
            RECEIVE: lambda row: _of_type("received", row, row[PEER]),
            DROP: lambda row: _of_type("dropped", row, BROADCAST if row[PEER] is None else row[PEER]),
            MOVE: self._move,
        }

    @property
    def events(self) -> tuple[str, ...]:
        """The kinds of rows that vectors are made of."""
        return tuple(self._by_event)

    def values(self, row: Row) -> Values:
        """The values that a row adds."""
        return self._by_event[row[EVENT]](row)

    def _publish(self, row: Row) -> Values:
        self._published.setdefault(row[NOTIFICATION_ID], row[TIME_S])
        yield "published", len(list(filter(None, (row[DETAIL] or "").split(LIST_SEPARATOR))))

    def _deliver(self, row: Row) -> Values:
        pair = row[NOTIFICATION_ID], row[NODE]
        if pair in self._delivered:
            yield "duplicate", row[HOPS]
            return
        self._delivered.add(pair)
        published = self._published.get(row[NOTIFICATION_ID])
        yield "deliveryDelay", None if published is None else row[TIME_S] - published
        yield "deliveryHops", row[HOPS]

    def _move(self, row: Row) -> Values:
        yield from zip(("x", "y"), numbers(self._trace, row, 2), strict=True)


def _of_type(what: str, row: Row, value: float | None) -> Values:
    yield f"{what}:{row[MESSAGE_TYPE]}", value
