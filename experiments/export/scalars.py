"""A run's metrics as scalars of the network, and what is counted of each node as scalars of the node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from roambus.bridge.trace.schema import ENERGY, EVENT, MESSAGE_TYPE, NODE, RADIO
from roambus.experiments.export.result_file import NETWORK, attributes, node_module, quoted, run_header
from roambus.experiments.export.runs import numbers, rows
from roambus.spark.aggregation.traces import Trace
from roambus.spark.metrics import catalogue
from roambus.spark.metrics.extra import EXTRA
from roambus.spark.metrics.run_metrics import SENT

_ENERGY = "energy_mj"


def scalar_file(trace: Trace, metrics: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the `.sca` of a run; `metrics` is its row of `roambus.spark.aggregation.aggregate.metrics_of`.

    A metric without a value, such as the delay where nothing was delivered, is left out. Raises UserError, OSError.
    """
    yield from run_header(trace)
    for metric in catalogue.METRICS:
        value = metrics[metric.column]
        if not pd.isna(value):
            yield _scalar(NETWORK, metric.column, value)
            yield from attributes({"title": metric.title})
    sent = {f"{catalogue.SENT_PREFIX}{kind}": count for kind, count in metrics[SENT].items()}
    for name, value in sorted({**metrics[EXTRA], **sent}.items()):
        yield _scalar(NETWORK, name, value)
    for row in rows(trace, ENERGY, RADIO):
        name = _ENERGY if row[EVENT] == ENERGY else str(row[MESSAGE_TYPE])
        yield _scalar(node_module(row[NODE]), name, *numbers(trace, row, 1))


def _scalar(module: str, name: str, value: float) -> str:
    return f"scalar {module} {quoted(name)} {float(value):.15g}\n"
