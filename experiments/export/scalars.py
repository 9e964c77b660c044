"""Writes a run's metrics as scalars of the network, and what is counted of each node as scalars of the node.

A metric has the title that figures and tables give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from roambus.bridge.trace.schema import ENERGY, EVENT, MESSAGE_TYPE, NODE, RADIO
from roambus.experiments.export.result_file import NETWORK, attributes, node_module, quoted, run_header
from roambus.experiments.export.runs import numbers, rows
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX, Metric, sent_metric
from roambus.spark.metrics.extra import EXTRA
from roambus.spark.metrics.run_metrics import SENT

_ENERGY = "energy_mj"


def scalar_file(trace: Trace, measured: Mapping[str, Any], extra: Sequence[Metric] = ()) -> Iterator[str]:
    """The lines of the `.sca` of a run; `measured` is its row of `roambus.spark.aggregation.aggregate.metrics_of`.

    `extra` declares what a study measures beside the metrics of every run; what it does not declare has no title.

    A metric without a value, such as the delay where nothing was delivered, is left out. Raises UserError, OSError.
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
