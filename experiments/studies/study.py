"""A study: one or more sweeps, and what is measured, drawn and claimed of each. `roambus.experiments.studies.registry` lists ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.metrics.extra import NOTHING, Extra

if TYPE_CHECKING:  # these need to know the studies
    from roambus.experiments.evidence.claim import ClaimTest
    from roambus.experiments.figures.plans import DotPlan, Plan
    from roambus.experiments.measurements.measurements import Measurements


def no_dots(_: Measurements) -> Iterable[DotPlan]:
    """Nothing is drawn of single observations."""
    return ()


def no_tables(_: Measurements) -> Mapping[str, str]:
    """There are figures only."""
    return {}


@dataclass(frozen=True)
class StudySweep:
    """One of a study's sweeps. Functions are given what was measured of it, all of it or a part."""

    file: str
    """As `roambus sweep` takes it: a name of ours, or the path of a TOML file."""
    plans: Callable[[Measurements], Iterable[Plan]]
    """The figures, in the order of the report."""
    claims: Sequence[ClaimTest] = ()
    extra: Extra = NOTHING
    """What is measured beside the catalogue."""
    dots: Callable[[Measurements], Iterable[DotPlan]] = no_dots
    """Figures of single observations, from `extra`'s tables."""
    tables: Callable[[Measurements], Mapping[str, str]] = no_tables
    """Markdown files beside the figures, by their names."""
    quick: Mapping[str, str] = field(default_factory=dict)
    """What `reproduce --quick` narrows or replaces, as `sweep --set` does."""
    quick_seeds: int | None = None

    @property
    def name(self) -> str:
        """Of the sweep, and of its results' folder if the study has several."""
        return Path(self.file).stem

    @cached_property
    def asked(self) -> Sweep:
        """The whole sweep; raises UserError."""
        return read_sweep(self.file)

    def fits(self, description: Mapping[str, Any]) -> bool:
        """Whether results with this description are of this sweep, or of one like it: same template, same axes.

        `description` is a `sweep.json`; what it does not say does not count.
        """
        template = description.get("template", self.asked.template.name)
        axes = [axis.name for axis in self.asked.axes]
        return bool(template == self.asked.template.name and list(description["axes"]) == axes)


@dataclass(frozen=True, slots=True)
class Study:
    """What `roambus reproduce NAME` runs, and what its report says. Figures of all sweeps have different names."""

    name: str
    source: str
    """Whose claims are checked: "the thesis"."""
    sweeps: tuple[StudySweep, ...]
    notes: Sequence[str] = ()
    """Paragraphs above the figures: what a reader must know to read them."""
    title: str = ""
    """Of the report; left out: the agents, side by side."""


StudyPlace = tuple[Study, StudySweep]
"""A sweep, and the study that it belongs to."""
