"""A study: one or more sweeps, and what is measured, drawn and claimed of each.

`roambus reproduce` runs a study, and the figures, claims and the report of its results are made of what it says. Each
study of ours has a folder beside this file: `study` puts it together from its sweeps (TOML files with their templates),
its metrics (`metrics`) and its claims (`claims`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from roambus.experiments.evidence.claim import Claim, ClaimTest, check
from roambus.experiments.figures.plans import DotPlan, Plan
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.metrics.extra import NOTHING, Extra


def no_dots(_: Measurements) -> Iterable[DotPlan]:
    """Plans nothing: single observations are not drawn."""
    return ()


def no_tables(_: Measurements) -> Mapping[str, str]:
    """Writes nothing: there are figures only."""
    return {}


@dataclass(frozen=True)
class StudySweep:
    """One of a study's sweeps. Functions are given what was measured of it, all of it or a part."""

    file: str
    """The sweep as `roambus sweep` takes it: a name of ours, or the path of a TOML file."""
    plans: Callable[[Measurements], Iterable[Plan]]
    """What gives the figures, in the order of the report."""
    claims: Sequence[ClaimTest] = ()
    extra: Extra = NOTHING
    """What is measured beside the metrics of every run."""
    dots: Callable[[Measurements], Iterable[DotPlan]] = no_dots
    """What gives figures of single observations, from `extra`'s tables."""
    tables: Callable[[Measurements], Mapping[str, str]] = no_tables
    """What gives Markdown files beside the figures, by their names."""
    quick: Mapping[str, str] = field(default_factory=dict)
    """What `reproduce --quick` narrows or replaces, as `sweep --set` does."""
    quick_seeds: int | None = None
    alike: Sequence[str] = ()
    """Other sweeps of the same kind: their results have the same figures and claims."""

    @property
    def name(self) -> str:
        """The name of the sweep, and of its results' folder if the study has several sweeps."""
        return Path(self.file).stem

    @cached_property
    def asked(self) -> Sweep:
        """The whole sweep; raises UserError."""
        return read_sweep(self.file)


@dataclass(frozen=True, slots=True)
class Study:
    """What `roambus reproduce NAME` runs, and what its report says. Figures of all sweeps have different names."""

    name: str
    source: str
    """The text whose claims are checked, such as "the thesis"."""
    sweeps: tuple[StudySweep, ...]
    notes: Sequence[str] = ()
    """Paragraphs above the figures: what a reader must know to read them."""
    title: str = ""
    """The title of the report; if it is left out, the agents, side by side."""

    def asked(self, sweep: StudySweep) -> Sweep:
        """The whole of one of its sweeps, under the study's name; raises UserError."""
        return replace(sweep.asked, study=self.name)

    def check_claims(self, sweep: StudySweep, measured: Measurements) -> list[Claim]:
        """The verdict on each claim about one of its sweeps, of which this was measured.

        Claims are numbered through the study, also those about sweeps that were not run.
        """
        before = self.sweeps[: self.sweeps.index(sweep)]
        return check(sweep.claims, measured, 1 + sum(len(other.claims) for other in before))
