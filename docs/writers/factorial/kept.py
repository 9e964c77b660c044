"""Runs that the pages keep: a table for each reading, so that every number can be computed again.

A row is a run: its agent, size, speed and seed, and the metrics that claims are judged by. A reading that has been run
and aggregated is read from its results, and its table is written; any other is read from its table. Numbers are written
so that they are read as the same doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.runs.layout import AGENT, METRICS_FOLDER, SEED
from roambus.bridge.system.errors import UserError
from roambus.experiments.measurements import Measurements, read_measurements
from roambus.experiments.studies.thesis.claims import CONFIG, SPEED
from roambus.spark.aggregation.aggregate import mean_points, natural_order
from roambus.spark.metrics import catalogue as c

RUNS = "runs"
"""The folder of the tables, beside the other tables of the page."""
PLACE = [AGENT, CONFIG, SPEED, SEED]
METRICS = [
    c.EXPECTED,
    c.ATTEMPTED,
    c.DELIVERED,
    c.DELIVERY_RATE_THESIS,
    c.DELAY_MEAN_S,
    c.HOPS_MEAN,
    c.MESSAGES,
    c.MESSAGES_PER_NODE,
    c.MESSAGES_PER_PUBLISHER,
    c.MESSAGES_PER_SUBSCRIBER,
    c.MESSAGES_PER_BROKER,
    f"{c.SENT_PREFIX}ACK",
    f"{c.SENT_PREFIX}RREQ",
]


def is_there(name: str, folder: Path, out: Path) -> bool:
    """Whether the reading's runs are in the results or among the kept."""
    return is_aggregated(folder / "results" / name) or table_of(name, out).is_file()


def is_aggregated(results: Path) -> bool:
    """Whether the results have metrics."""
    return (results / METRICS_FOLDER).is_dir()


def table_of(name: str, out: Path) -> Path:
    """The file of the reading's kept runs."""
    return out / RUNS / f"{name}.csv"


def measured_readings(names: Iterable[str], folder: Path, out: Path) -> Iterator[tuple[str, Measurements]]:
    """Yield each reading's kept runs, which new results replace; raises UserError, OSError."""
    for name in names:
        results = folder / "results" / name
        if is_aggregated(results):
            keep(read_measurements(results), table_of(name, out))
        yield name, read_kept(table_of(name, out), results)


def keep(measured: Measurements, file: Path) -> None:
    """Write the runs' table; raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    runs = measured.runs
    there = [column for column in (*PLACE, *METRICS) if column in runs]
    runs[there].sort_values(PLACE, key=lambda column: column.map(natural_order)).to_csv(file, index=False)


def read_table(file: Path, remedy: str, **options: Any) -> pd.DataFrame:
    """Read a table of the page, with options of pandas; raises UserError, which ends with the remedy."""
    try:
        table: pd.DataFrame = pd.read_csv(file, **options)
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {error}: {remedy}") from None
    return table


def read_kept(file: Path, results: Path) -> Measurements:
    """Read a table of `keep`; raises UserError."""
    try:
        runs = pd.read_csv(file, dtype={AGENT: str, CONFIG: str, SPEED: str}, float_precision="round_trip")
    except (OSError, ValueError) as error:
        raise UserError(f"{results}: no metrics, and no runs are kept ({error}): sweep and aggregate it") from None
    return Measurements(runs, mean_points(runs))
