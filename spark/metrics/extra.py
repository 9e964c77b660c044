"""Further metrics: of a study for its own sweeps, or of a user for any sweep.

It is written like the metrics of every run (`roambus.spark.metrics.catalogue`), and reaches tables, figures, reports,
comparisons and exports in the same way. A table of single observations is a function, too, under `table`: it returns a
DataFrame with any number of rows a run, of numbers alone. What is measured is kept run by run, so that a run is read
once, and again only when its trace or the code changes (`roambus.bridge.code`).

Metrics of a user's own are in a Python file, or in an installed package that names its module as an entry point of the
group `roambus.metrics`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from roambus.bridge.code import code_hash, find_source, import_file, import_installed
from roambus.bridge.entry_points import METRICS as GROUP
from roambus.bridge.entry_points import named
from roambus.bridge.errors import UserError
from roambus.python_protocol.settings import unknown
from roambus.spark.metrics.catalogue import METRICS, Metric, metrics_in

if TYPE_CHECKING:
    import pandas as pd

    from roambus.spark.metrics.run import Run


@dataclass(frozen=True, slots=True)
class Table:
    """A table of single observations: `compute` gives any number of rows a run, with these columns of numbers."""

    name: str
    columns: tuple[str, ...]
    compute: Callable[[Run], pd.DataFrame]


def table(*columns: str) -> Callable[[Callable[[Run], pd.DataFrame]], Table]:
    """Makes a table with these columns of a function, under whose name it is written."""
    return lambda compute: Table(compute.__name__, columns, compute)


@dataclass(frozen=True, slots=True)
class Extra:
    """All that is measured beside the metrics of every run."""

    metrics: tuple[Metric, ...] = ()
    tables: tuple[Table, ...] = ()

    def __add__(self, other: Extra) -> Extra:
        """Both together, what the other has already only once."""
        metrics = tuple(dict.fromkeys(self.metrics + other.metrics))
        columns = [one.column for one in metrics]
        if twice := [column for column in columns if columns.count(column) > 1]:
            raise UserError(f"there are two metrics {twice[0]}: give one of them another name")
        return Extra(metrics, tuple(dict.fromkeys(self.tables + other.tables)))

    def modules(self) -> set[str]:
        """The modules in which its functions are written."""
        metrics = {one.compute.__module__ for one in self.metrics if one.compute is not None}
        return metrics | {one.compute.__module__ for one in self.tables}

    def digest(self) -> str:
        """A digest of the names and of the code; empty if there is nothing."""
        if not self.modules():
            return ""
        names = [*(one.column for one in self.metrics), *((one.name, one.columns) for one in self.tables)]
        return digest_of(self.modules(), repr(names))


NOTHING = Extra()


def own_metrics(reference: str) -> Extra:
    """The metrics and tables of a file or of an installed package; raises UserError saying what is wrong with it."""
    what, points = f"metrics {reference!r}", {name: point.value for name, point in named(GROUP).items()}
    if reference.endswith(".py"):
        module = import_file(what, Path(reference))
    elif reference in points:
        module = import_installed(what, points[reference])
    else:
        raise UserError(f"{unknown('metrics', reference, points)}; or give path/to/file.py")
    names = vars(module)
    found = Extra(metrics_in(names), tuple(one for one in names.values() if isinstance(one, Table)))
    if not found.modules():
        raise UserError(f"{what}: no function there is a metric: write @metric(TITLE) over one, with metric of roambus")
    if taken := {one.column for one in found.metrics} & {one.column for one in METRICS}:
        raise UserError(f"{what}: {min(taken)} is a metric of every run: give it another name")
    return found


def all_own_metrics(references: Iterable[str]) -> Extra:
    """The same of several."""
    return sum(map(own_metrics, references), NOTHING)


# Code


def digest_of(modules: Iterable[str], more: str = "") -> str:
    """A digest of these modules, of all that they import of their project and of roambus, and of a text."""
    return sha256(more.encode() + code_hash(files_of(modules))).hexdigest()


def files_of(modules: Iterable[str]) -> list[Path]:
    """The source files of these modules."""
    files = (Path(str(getattr(sys.modules.get(name), "__file__", None) or find_source(name) or "")) for name in modules)
    return sorted(file for file in files if file.suffix == ".py")
