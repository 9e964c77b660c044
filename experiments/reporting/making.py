"""What a report says of how its results were made: whole or in small, with which code, when, on which machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from roambus.bridge.runs.layout import LOG_FILE, TRACES
from roambus.bridge.runs.log import Maker, read_maker
from roambus.experiments.studies.reading import StudyResults, SweepResults
from roambus.experiments.sweeps.sweep import Sweep, override
from roambus.python_protocol.settings import plain

FEW_SEEDS = 5
"""With fewer seeds a point, an interval is so wide that only large differences are seen."""
_MOST_NAMED = 3
WHOLE, QUICK, PART = "The whole study.", "The study in small (--quick).", "A part of the study."


def scope(found: StudyResults) -> str:
    """Whether these results are the whole study, the study in small, or something else."""
    if found.study is None:
        return "One sweep."
    kinds = {_kind(sweep) for sweep in found.sweeps}
    if len(found.sweeps) < len(found.study.sweeps) or len(kinds) > 1:
        return PART
    return kinds.pop()


def _kind(found: SweepResults) -> str:
    if found.origin is None:
        return PART
    own, study = found.origin.sweep, found.origin.study
    asked = study.asked(own)
    wanted = {WHOLE: asked, QUICK: override(asked, own.quick, own.quick_seeds)}
    return next((kind for kind, sweep in wanted.items() if _is_covered(found, sweep)), PART)


def _is_covered(found: SweepResults, sweep: Sweep) -> bool:
    """Whether there are all values and seeds that the sweep has, with the same fixed settings."""
    measured = found.measured
    fixed = {name: plain(value) for name, value in measured.sweep.get("set", {}).items()}
    return (
        fixed == {name: plain(value) for name, value in sweep.fixed.items()}
        and all(set(axis.values) <= set(measured.values(axis.name)) for axis in sweep.axes)
        and {choice.label for choice in sweep.agents} <= set(measured.agents)
        and len(sweep.seeds) <= measured.seeds
    )


def reproduction(found: StudyResults) -> str:
    """The command that makes these results, if one does."""
    name = found.study.name if found.study else ""
    return {WHOLE: f"roambus reproduce {name}", QUICK: f"roambus reproduce {name} --quick"}.get(scope(found), "")


def making(found: StudyResults) -> list[tuple[str, str]]:
    """Pairs of texts: code, dates and machines, as the logs of the runs tell; none if they tell nothing."""
    makers = {maker for sweep in found.sweeps if sweep.folder for maker in _makers(sweep.folder)}
    if not makers:
        return []
    dates = sorted({maker.date for maker in makers})
    return [
        ("made with", _named({maker.code for maker in makers})),
        ("made on", dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"),
        ("machine", _named({maker.machine for maker in makers})),
    ]


def _makers(folder: Path) -> Iterator[Maker]:
    for log in sorted((folder / TRACES).glob(f"**/{LOG_FILE}")):
        maker = read_maker(log.read_text(encoding="utf-8", errors="replace"))
        if maker:
            yield maker


def _named(texts: set[str]) -> str:
    """The texts, or the first of them with the number of the others."""
    first = sorted(texts)[:_MOST_NAMED]
    more = len(texts) - len(first)
    return "; ".join(first) + (f" and {more} more" if more else "")
