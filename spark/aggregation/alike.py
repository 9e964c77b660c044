"""The runs of a folder are of one experiment: their traces say the same of template, back-end, level and settings.

Only axes may differ. Copies of other sweeps' runs would otherwise stand in one table, and one line of a figure would be
of two scenarios. Traces of earlier versions, which say nothing of themselves, pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from roambus.bridge.runs.layout import AGENT, SEED, SET, levels_of, read_asked
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import DamagedTraceError, read_about
from roambus.bridge.trace.schema import About
from roambus.spark.aggregation.traces import Trace

_REMEDY = "keep them in two folders, or merge sweeps that fit with roambus aggregate A B --out C"


def check_axes(traces: Sequence[Trace]) -> None:
    """Raise UserError unless all runs lie in folders of the same axes."""
    for trace in traces:
        if list(levels_of(trace.run)) != list(levels_of(traces[0].run)):
            raise UserError(f"{trace.file}: has other axes than {traces[0].file}: {_REMEDY}")


def check_alike(results: Path, traces: Sequence[Trace]) -> None:
    """Raise UserError for a trace whose metadata differs from the request, or from another's at the same point."""
    fixed = read_asked(results).get(SET, {})
    first: tuple[Trace, About] | None = None
    of_points: dict[str, tuple[Trace, About]] = {}
    for trace, about in _abouts(traces):
        first = first or (trace, about)
        _refuse(trace, first[0], {key: (getattr(about, key), getattr(first[1], key)) for key in _OF_ALL})
        asked = {name: (about.settings[name], value) for name, value in fixed.items() if name in about.settings}
        _refuse(trace, results / "sweep.json", asked)
        other = of_points.setdefault(_point(trace.run), (trace, about))
        names = about.settings.keys() | other[1].settings.keys()
        _refuse(trace, other[0], {name: (about.settings.get(name), other[1].settings.get(name)) for name in names})


_OF_ALL = ("template", "backend", "level")


def _abouts(traces: Sequence[Trace]) -> Iterator[tuple[Trace, About]]:
    for trace in traces:
        with suppress(DamagedTraceError):  # it is reported with its run
            if about := read_about(trace.file):
                yield trace, about


def _point(run: str) -> str:
    return "/".join(level for level in run.split("/") if not level.startswith((f"{AGENT}=", f"{SEED}=")))


def _refuse(trace: Trace, other: Trace | Path, pairs: Mapping[str, tuple[Any, Any]]) -> None:
    for name, (own, others) in sorted(pairs.items()):
        if own != others and _name(own) != _name(others):
            place = other.file if isinstance(other, Trace) else other
            raise UserError(f"{trace.file}: its {name} is {own}, and {others} in {place}: {_REMEDY}")


def _name(value: Any) -> Any:
    """A value; of a file its name, since traces do not keep where it lies."""
    return PurePosixPath(value).name if isinstance(value, str) else value
