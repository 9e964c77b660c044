"""How a study measures more than the metrics of every run: DataFrame in, DataFrame out, from traces alone.

The frame that comes in has the rows of many traces: the columns of `roambus.bridge.trace.schema`, and `run`, which
tells them apart and must be in every frame that goes out. All that is measured is numbers. They are kept run by run,
so that a run is read once, and again only when its trace or this code changes. Each metric is declared like those of
every run (`roambus.spark.metrics.catalogue`), and its declaration reaches figures, report, comparison and export in
the same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses

from roambus.bridge.errors import UserError
from roambus.spark.metrics.catalogue import Metric
from roambus.spark.metrics.run_metrics import RUN

EXTRA = "extra"
"""The column that maps the names of a study's metrics to their values; those without one are left out."""
OBSERVATIONS = "observations"
"""The column that maps the names of a study's tables to their numbers, row after row."""

Measure = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class ExtraMetrics:
    """Metrics that `measure` computes: at most one row for each run, a column for each metric, and null for nothing."""

    metrics: tuple[Metric, ...]
    measure: Measure


@dataclass(frozen=True, slots=True)
class ExtraTable:
    """A table of single observations: `measure` gives any number of rows a run, with these columns of numbers."""

    name: str
    columns: tuple[str, ...]
    measure: Measure


@dataclass(frozen=True, slots=True)
class Extra:
    """All that a study measures itself."""

    metrics: tuple[ExtraMetrics, ...] = ()
    tables: tuple[ExtraTable, ...] = ()

    @property
    def catalogue(self) -> tuple[Metric, ...]:
        """The metrics, in their order."""
        return tuple(metric for part in self.metrics for metric in part.metrics)

    def digest(self) -> str:
        """A digest of the names and of the files that the functions are written in; empty if there is nothing."""
        parts: tuple[ExtraMetrics | ExtraTable, ...] = (*self.metrics, *self.tables)
        if not parts:
            return ""
        tables = ((table.name, table.columns) for table in self.tables)
        digest = sha256(repr([*(metric.column for metric in self.catalogue), *tables]).encode())
        for file in sorted({inspect.getsourcefile(part.measure) or "" for part in parts}):
            digest.update(Path(file).read_bytes())
        return digest.hexdigest()


NOTHING = Extra()


def measure_extra(traces: DataFrame, extra: Extra) -> dict[int, dict[str, Any]]:
    """EXTRA and OBSERVATIONS of each run that has any, by its number in `run`; raises UserError, PySparkException."""
    found: dict[int, dict[str, Any]] = {}
    for part in extra.metrics:
        for run, values in _metrics(traces, part):
            found.setdefault(run, {}).setdefault(EXTRA, []).extend(values)
    for table in extra.tables:
        for run, numbers in _observations(traces, table):
            found.setdefault(run, {}).setdefault(OBSERVATIONS, []).append((table.name, numbers))
    return found


def _metrics(traces: DataFrame, part: ExtraMetrics) -> Iterator[tuple[int, list[tuple[str, float]]]]:
    names = [metric.column for metric in part.metrics]
    known: set[int] = set()
    for row in part.measure(traces).select(RUN, *(F.col(name).cast("double") for name in names)).collect():
        if row[RUN] in known:
            raise UserError(f"{part.measure.__qualname__} gives a run two rows: group by run what it gives")
        known.add(row[RUN])
        yield row[RUN], [(name, row[name]) for name in names if row[name] is not None]


def _observations(traces: DataFrame, table: ExtraTable) -> Iterator[tuple[int, list[float | None]]]:
    """The rows of each run, in an order that does not depend on Spark's."""
    numbers = F.array(*(F.col(name).cast("double") for name in table.columns))
    for row in table.measure(traces).groupBy(RUN).agg(F.sort_array(F.collect_list(numbers)).alias("rows")).collect():
        yield row[RUN], [number for numbers in row["rows"] for number in numbers]
