"""OMNeT++'s result files for its tools and notebooks: scalars in `.sca`, vectors in `.vec`.

Files are of version 2 (simulation manual, appendix "Result File Formats"), which OMNeT++ 4 to 6 read. Axes are
iteration variables, prefixed if OMNeT++ uses the name. Scalars are a run's metrics and each node's counts. Vectors are
values at each node: `published` (interested subscribers), `deliveryDelay` (s), `deliveryHops`, `duplicate` (hops),
`sent:TYPE` (bytes), `received:TYPE` (sender, level full), `dropped:TYPE` (destination, 65535 for all), `x` and `y`
(way-points, m).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import SEED, levels_of
from roambus.bridge.trace.parquet import read_footer
from roambus.bridge.trace.schema import (
    BYTES,
    DETAIL,
    EVENT,
    HOPS,
    MESSAGE_TYPE,
    NODE,
    NOTIFICATION_ID,
    PEER,
    RUN_KEY,
    TIME_S,
)
from roambus.extensions.export.runs import Row, numbers, rows
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.trace_rows import (
    DELIVER,
    DROP,
    ENERGY,
    LIST_SEPARATOR,
    MOVE,
    PUBLISH,
    RADIO,
    RECEIVE,
    SEND,
)
from roambus.spark.aggregation.computation import EXTRA, SENT
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX, sent_metric
from roambus.spark.metrics.metric import Metric

NETWORK = "SN"
VERSION = 2

_OMNETPPS_OWN = {
    *("configname", "datetime", "experiment", "inifile", "iterationvars", "iterationvars2", "measurement", "network"),
    *("processid", "repetition", "replication", "resultdir", "runnumber", "seedset"),
}
_AXIS_PREFIX = "axis_"

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\"})


_PLAIN = re.compile(r"[\w.$:+-]+")
"""A word that needs no quotes."""


def quoted(text: str) -> str:
    """Return the text as one word of a line, with question marks for unprintables."""
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return f'"{printable.translate(_ESCAPES)}"'


def node_module(node: int) -> str:
    """Return OMNeT++'s name for a node."""
    return f"{NETWORK}.node[{node}]"


def run_header(trace: Trace) -> Iterator[str]:
    """Return version, run and place in the sweep; agent and axes are iteration variables."""
    variables = {
        f"{_AXIS_PREFIX}{name}" if name in _OMNETPPS_OWN else name: value
        for name, value in levels_of(trace.run).items()
    }
    seed = variables.pop(SEED)
    values = ", ".join(f"${name}={value}" for name, value in variables.items())
    yield f"version {VERSION}\n"
    key = read_footer(trace.file).metadata.get(RUN_KEY, "")
    yield f"run {quoted(f'{run_label(trace)}-{key[:12]}')}\n"
    named = {"configname": "General", "experiment": "General", "inifile": "run.ini", "network": NETWORK}
    place = {"iterationvars": values, "iterationvars2": f"{values}, $repetition={seed}", "measurement": values}
    yield from attributes({**named, **place, "replication": f"#{seed}", "repetition": seed, "seedset": seed})
    yield from attributes(variables)
    yield "\n"


def run_label(trace: Trace) -> str:
    """Return the run's place as one word for file names."""
    return trace.run.replace("/", ",")


def attributes(values: Mapping[str, str]) -> Iterator[str]:
    """Return lines that detail the preceding declaration."""
    for name, value in values.items():
        yield f"attr {name if _PLAIN.fullmatch(name) else quoted(name)} {quoted(value)}\n"


_ENERGY = "energy_mj"


def scalar_file(trace: Trace, measured: Mapping[str, Any], extra: Sequence[Metric] = ()) -> Iterator[str]:
    """Return the lines of a run's `.sca`; `measured` is its row of `metrics_of`.

    `extra` declares its study's metrics. A metric without a value is left out. Raise UserError, OSError.
    """
    yield from run_header(trace)
    sent = {f"{SENT_PREFIX}{kind}": count for kind, count in sorted(measured[SENT].items())}
    values = {**measured, **measured[EXTRA], **sent}
    declared = {metric.column: metric for metric in (*METRICS, *extra, *map(sent_metric, sent))}
    for column in dict.fromkeys([*declared, *sorted(measured[EXTRA])]):
        value = values.get(column)
        if not pd.isna(value):
            yield _scalar(NETWORK, column, value)
            yield from attributes({"title": declared[column].axis_title} if column in declared else {})
    for row in rows(trace, ENERGY, RADIO):
        name = _ENERGY if row[EVENT] == ENERGY else str(row[MESSAGE_TYPE])
        yield _scalar(node_module(row[NODE]), name, *numbers(trace, row, 1))


def _scalar(module: str, name: str, value: float) -> str:
    return f"scalar {module} {quoted(name)} {float(value):.15g}\n"


Values = Iterable[tuple[str, float | None]]
"""Names of vectors and their values; None where there is none."""

_UNITS = {"deliveryDelay": "s", "x": "m", "y": "m", "sent": "B"}
_LINEAR = {"x", "y"}


def vector_file(trace: Trace) -> Iterator[str]:
    """Return the lines of a run's `.vec`, row by row; raise UserError, OSError.

    Only notifications and their deliveries stay in memory.
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
    """Reads each kind of row for the vectors of its node."""

    def __init__(self, trace: Trace) -> None:
        self._published: dict[str, float] = {}
        self._delivered: set[tuple[str, int]] = set()
        self._by_event: dict[str, Callable[[Row], Values]] = {
            PUBLISH: self._publish,
            DELIVER: self._deliver,
            SEND: lambda row: _of_type("sent", row, row[BYTES]),
            RECEIVE: lambda row: _of_type("received", row, row[PEER]),
            DROP: lambda row: _of_type("dropped", row, BROADCAST if row[PEER] is None else row[PEER]),
            MOVE: lambda row: zip(("x", "y"), numbers(trace, row, 2), strict=True),
        }

    @property
    def events(self) -> tuple[str, ...]:
        """Return the row kinds that vectors need."""
        return tuple(self._by_event)

    def values(self, row: Row) -> Values:
        """Return a row's values."""
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


def _of_type(what: str, row: Row, value: float | None) -> Values:
    yield f"{what}:{row[MESSAGE_TYPE]}", value
