"""A metric: a function of a `Run` under `metric`, with what tables and figures need to know of it.

Its name is the column, its docstring the meaning. It returns a number, or NaN if unmeasurable.
`roambus.spark.metrics.run` brings pandas, so it is imported only to compute.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roambus.spark.metrics.run import Run


class Scale(Enum):
    """How the axis of a metric is drawn."""

    FROM_ZERO = "from 0"
    """A linear axis that begins at 0."""
    CUT = "cut"
    """A linear axis around values that differ by less than a line's width."""
    SHARE = "share"
    """A linear axis from 0 to 1."""
    LOGARITHMIC = "logarithmic"


class Kind(Enum):
    """A metric's type of values, and its value for nothing to measure."""

    COUNT = "count"
    """A whole number, 0 without an occurrence."""
    WHOLE = "whole"
    """A whole number, unknown without a measurement."""
    REAL = "real"
    """A number, unknown without a measurement."""


class Support(Enum):
    """The range of values, which decides the interval's scale."""

    ANY = "any"
    """Anywhere: the scale is the values' own."""
    POSITIVE = "positive"
    """Non-negative with a long right tail: the scale is the logarithm."""
    SHARE = "share"
    """From 0 to 1: the scale is the logit."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure of a run; a call computes it."""

    column: str
    """The name in tables, exports and commands."""
    title: str
    """The name for readers, without the unit."""
    meaning: str
    unit: str = ""
    """Empty for counts and shares."""
    scale: Scale = Scale.FROM_ZERO
    kind: Kind = Kind.REAL
    skewed: bool = False
    """Non-negative with a long right tail."""
    is_main: bool = False
    """Whether agents are compared by it by default."""
    of: str = ""
    """For a share of counted things, such as pairs, the column of their number."""
    compute: Callable[[Run], float] | None = None
    """None for shown values, such as packets of a type."""

    def __call__(self, run: Run) -> float:
        """Return the run's value; NaN if unmeasurable."""
        return math.nan if self.compute is None else self.compute(run)

    @property
    def support(self) -> Support:
        """Where its values can be."""
        if self.scale is Scale.SHARE:
            return Support.SHARE
        is_skewed = self.skewed or self.scale is Scale.LOGARITHMIC or self.kind is not Kind.REAL
        return Support.POSITIVE if is_skewed else Support.ANY

    @property
    def axis_title(self) -> str:
        """The title with the unit, for axes, tables and exports."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def metric(title: str, unit: str = "", **options: Any) -> Callable[[Callable[[Run], float]], Metric]:
    """Make a metric with `scale`, `kind`, `skewed`, `is_main` and `of` of `Metric`."""
    for name, kind in (("scale", Scale), ("kind", Kind)):
        if not isinstance(given := options.get(name, next(iter(kind))), kind):
            raise TypeError(f"{name}={given!r} is not a {kind.__name__}: write {kind.__name__}.{next(iter(kind)).name}")

    def declare(compute: Callable[[Run], float]) -> Metric:
        meaning = " ".join((inspect.getdoc(compute) or "").split())
        return Metric(compute.__name__, title, meaning, unit, compute=compute, **options)

    return declare


def metrics_in(names: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return a module's metrics in order; `names` are its `vars`."""
    here = str(names["__name__"]).partition(".")[0]
    found = (name for name in names.values() if isinstance(name, Metric) and name.compute is not None)
    return tuple(entry for entry in found if entry.compute.__module__.partition(".")[0] == here)


DECLARED = "roambus.metrics"
"""The metadata key of a table's further metrics."""


def declarations(metrics: Iterable[Metric]) -> str:
    """The declarations of these metrics as JSON."""
    named = ("column", "title", "meaning", "unit")
    texts = ({name: getattr(entry, name) for name in named} for entry in metrics)
    words = ({"scale": entry.scale.value, "kind": entry.kind.value, "skewed": entry.skewed} for entry in metrics)
    return json.dumps([{**text, **word} for text, word in zip(texts, words, strict=True)])


def declared(text: str) -> tuple[Metric, ...]:
    """Read the text of `declarations`; raises ValueError, TypeError, KeyError."""
    found = json.loads(text)
    return tuple(Metric(**{**entry, "scale": Scale(entry["scale"]), "kind": Kind(entry["kind"])}) for entry in found)
