"""Further metrics: of a study for its sweeps, or of a user for any sweep.

They look like those of `roambus.spark.metrics.catalogue`, in a Python file or a package with an entry point of the
group `roambus.metrics`. Values are kept until the trace, the file or its project's imports change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from roambus.bridge.system.code import METRICS as GROUP
from roambus.bridge.system.code import code_hash, find_source, named
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.imports import import_file, import_installed
from roambus.python_protocol.settings import unknown
from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX
from roambus.spark.metrics.metric import Metric, metrics_in

RESERVED = frozenset(("agent", "seed", "metric", "mean", "low", "high", "half_width", "n"))
"""The names of result columns."""
AXIS_PREFIX = "axis_"
"""Begins the column of an axis with a metric's name."""


@dataclass(frozen=True, slots=True)
class Extra:
    """All measured beside the metrics of every run."""

    metrics: tuple[Metric, ...] = ()

    def __add__(self, other: Extra) -> Extra:
        """Return both, without duplicates."""
        metrics = tuple(dict.fromkeys(self.metrics + other.metrics))
        columns = [metric.column for metric in metrics]
        if twice := [column for column in columns if columns.count(column) > 1]:
            raise UserError(f"there are two metrics {twice[0]}: give one of them another name")
        return Extra(metrics)

    def modules(self) -> set[str]:
        """The modules in which its functions are written."""
        return {metric.compute.__module__ for metric in self.metrics if metric.compute is not None}

    def digest(self) -> str:
        """A digest of names and code; empty without any."""
        if not self.modules():
            return ""
        return digest_of(self.modules(), repr([metric.column for metric in self.metrics]))


NOTHING = Extra()


def check_reference(where: str, reference: str) -> None:
    """Raise UserError beginning with `where` for a missing file or package."""
    if reference.endswith(".py"):
        if not Path(reference).is_file():
            raise UserError(f"{where}: there is no file {reference}")
    elif reference not in (known := named(GROUP)):
        raise UserError(f"{where}: {unknown('metrics', reference, known)}; or give path/to/file.py")


def own_metrics(reference: str) -> Extra:
    """Return a file's or package's metrics; raise UserError."""
    what, points = f"metrics {reference!r}", {name: point.value for name, point in named(GROUP).items()}
    if reference.endswith(".py"):
        module = import_file(what, Path(reference))
    elif reference in points:
        module = import_installed(what, points[reference])
    else:
        raise UserError(f"{unknown('metrics', reference, points)}; or give path/to/file.py")
    found = Extra(metrics_in(vars(module)))
    if not found.modules():
        raise UserError(f"{what}: no function there is a metric: write @metric(TITLE) over one, with metric of roambus")
    _check_names(what, found)
    return found


def _check_names(what: str, found: Extra) -> None:
    if taken := {metric.column for metric in found.metrics} & {metric.column for metric in METRICS}:
        raise UserError(f"{what}: {min(taken)} is a metric of every run: give it another name")
    for name in (metric.column for metric in found.metrics):
        if name in RESERVED or name.startswith((SENT_PREFIX, AXIS_PREFIX)):
            raise UserError(f"{what}: results have {name} for something else: give it another name")


def all_own_metrics(references: Iterable[str]) -> Extra:
    """The same of several."""
    return sum(map(own_metrics, references), NOTHING)


# Code


def digest_of(modules: Iterable[str], more: str = "") -> str:
    """Return a digest of these modules, their imports, and a text."""
    return sha256(more.encode() + code_hash(files_of(modules))).hexdigest()


def files_of(modules: Iterable[str]) -> list[Path]:
    """The source files of these modules."""
    files = (Path(str(getattr(sys.modules.get(name), "__file__", None) or find_source(name) or "")) for name in modules)
    return sorted(file for file in files if file.suffix == ".py")
