"""Reads the reference's tables of what testbeds measured: `pdr_vs_rssi.csv` and `links.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.hardware.statistics import Curve
from roambus.bridge.system.errors import UserError

CURVES, LINKS = "pdr_vs_rssi.csv", "links.csv"
DATASET = "dataset"
_CURVE_COLUMNS = ("mean_rssi_dbm", "samples", "mean_pdr", "median")

NAMES = {
    "share_dead_below_0.1": "dead, below 0.1",
    "share_gray_0.1_to_0.9": "gray, 0.1 to 0.9",
    "share_good_above_0.9": "good, above 0.9",
    "asymmetry_mean_abs_pdr": "mean difference of delivery",
    "asymmetry_rssi_sd_db": "difference of strength, sd, dB",
    "sd_over_time_of_gray_pdr": "delivery of gray links, sd",
    "rssi_sd_over_time_db": "strength of all links, sd, dB",
}
"""The columns of `links.csv`, and what the same quantity is called here."""


def read_curves(folder: Path) -> dict[str, Curve]:
    """The curve of each recording; raises UserError naming file and line, OSError."""
    found: dict[str, list[list[float]]] = {}
    for name, values in _rows(folder / CURVES, _CURVE_COLUMNS):
        found.setdefault(name, []).append(values)
    return {name: _curve(rows) for name, rows in found.items()}


def _curve(rows: list[list[float]]) -> Curve:
    dbm, bursts, mean, median = np.array(sorted(rows)).T
    return Curve(dbm.astype(np.int64), bursts.astype(np.int64), mean, median)


def read_links(folder: Path) -> dict[str, dict[str, float]]:
    """The quantities of each recording, by the names they have here; raises UserError naming file and line, OSError."""
    return {
        name: dict(zip(NAMES.values(), values, strict=True)) for name, values in _rows(folder / LINKS, tuple(NAMES))
    }


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, list[float]]]:
    with path.open(newline="", encoding="utf-8") as text:
        reader = csv.DictReader(text)
        if missing := {DATASET, *columns} - set(reader.fieldnames or ()):
            raise UserError(f"{path}:1: no column {', '.join(sorted(missing))}")
        for row in reader:
            try:
                yield row[DATASET], [float(row[name]) for name in columns]
            except (TypeError, ValueError):
                raise UserError(f"{path}:{reader.line_num}: numbers were expected in {', '.join(columns)}") from None
