"""A study: one or more sweeps, with their metrics, figures and claims.

`roambus reproduce` runs a study. The module `study` in its folder defines STUDY; a user's study is a file's path.
Results name their study and sweep in `sweep.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from roambus.bridge.runs.layout import MEASURE, STUDY, SWEEP, SWEEP_FILE, read_asked
from roambus.bridge.system.code import STUDIES, named
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.imports import import_file, import_installed
from roambus.experiments.claims import Claim, ClaimTest, StandIns, check
from roambus.experiments.figures.figure import OwnFigure, Plan
from roambus.experiments.inventory import SWEEP_SUFFIX, no_such
from roambus.experiments.measurements import Measurements, read_measurements
from roambus.experiments.sweeps.request_file import is_chosen
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.metrics.extra import NOTHING, Extra, all_own_metrics


@dataclass(frozen=True)
class StudySweep:
    """One of a study's sweeps. Functions get its measurements, whole or in part."""

    file: str
    """The sweep as `roambus sweep` takes it: a name or a TOML path."""
    plans: Callable[[Measurements], Iterable[Plan]]
    """Plans the figures, in the order of the report."""
    claims: Sequence[ClaimTest] = ()
    extra: Extra = NOTHING
    """Metrics beside those of every run."""
    drawings: Callable[[Measurements], Iterable[OwnFigure]] = lambda _: ()
    """Makes figures of the study's own kinds; they come first."""
    tables: Callable[[Measurements], Mapping[str, str]] = lambda _: {}
    """Makes Markdown files beside the figures, by their names."""
    quick: Mapping[str, str] = field(default_factory=dict)
    """The settings of `reproduce --quick`, as for `sweep --set`; `--precision` takes its agents, too."""
    quick_seeds: int | None = None
    """The number of the sweep's first seeds that `--quick` has."""
    alike: Sequence[str] = ()
    """Sweeps of the same kind: their results have the same figures and claims."""
    stand_ins: StandIns = field(default_factory=dict)
    """Further groups of agents about which the claims are judged."""

    @property
    def name(self) -> str:
        """The sweep's name, and its results' folder if there are several."""
        return Path(self.file).stem

    @cached_property
    def asked(self) -> Sweep:
        """The whole sweep; raises UserError."""
        return read_sweep(self.file)


@dataclass(frozen=True, slots=True)
class Study:
    """The sweeps of `roambus reproduce NAME` and its report. All figures have different names."""

    name: str
    source: str
    """The text whose claims are checked, such as "the thesis"."""
    sweeps: tuple[StudySweep, ...]
    notes: Sequence[str] = ()
    """Paragraphs above the figures that a reader needs."""
    title: str = ""
    """The report's title; by default the agents, side by side."""
    file: Path | None = None
    """The user's file that defines it, if one does."""

    def asked(self, sweep: StudySweep) -> Sweep:
        """The whole of one of its sweeps, under the study's name; raises UserError."""
        return replace(sweep.asked, study=self.name, study_file=self.file)

    def check_claims(self, sweep: StudySweep, measured: Measurements) -> list[Claim]:
        """The verdict on each claim about a sweep, numbered through the study."""
        before = self.sweeps[: self.sweeps.index(sweep)]
        return check(sweep.claims, measured, 1 + sum(len(other.claims) for other in before), sweep.stand_ins)


def load_study(reference: str) -> Study:
    """The study of that name, or a Python file's STUDY; raises UserError with the choices."""
    if reference.endswith(".py"):
        study = _study_of(import_file(f"study {reference!r}", Path(reference)), reference)
        return replace(study, file=Path(reference).resolve())
    point = named(STUDIES).get(reference)
    if reference.endswith(SWEEP_SUFFIX):
        out = f"results/{Path(reference).stem}"
        again = f"roambus sweep {reference}, roambus aggregate {out}, and roambus replay {out} for its report"
        raise UserError(f"{reference} is a sweep and no study: {again}")
    if point is None:
        raise no_such("studies", reference)
    return _study_of(import_installed(f"study {reference!r}", point.module), reference, point.attr or "STUDY")


def _study_of(module: ModuleType, reference: str, name: str = "STUDY") -> Study:
    study = getattr(module, name, None)
    if not isinstance(study, Study):
        raise UserError(f"study {reference!r}: the file has no {name}, which is a {Study.__module__}.Study")
    return study


@dataclass(frozen=True, slots=True)
class StudyOrigin:
    """A study, and the sweep that results are of, or like."""

    study: Study
    sweep: StudySweep


def find_origin(description: Mapping[str, Any], folder: str, own: Study | None = None) -> StudyOrigin | None:
    """The study and sweep of this request's results, or None; raises UserError if `own` did not make them."""
    if not description:
        return StudyOrigin(own, own.sweeps[0]) if own and len(own.sweeps) == 1 else None
    found = next(_recorded(description, own), None)
    if own and found is None:
        sweep, sweeps = description.get(SWEEP) or folder, ", ".join(sweep.name for sweep in own.sweeps)
        raise UserError(f"results {sweep!r} are not of study {own.name!r}, whose sweeps are {sweeps}")
    return found


def _recorded(description: Mapping[str, Any], own: Study | None) -> Iterator[StudyOrigin]:
    """The sweep that results name; a user's study may have changed its name."""
    name = description.get(STUDY)
    study = own or (load_study(name) if name in named(STUDIES) else None)
    for sweep in study.sweeps if study else ():
        if study and description.get(SWEEP) in (sweep.name, *sweep.alike):
            yield StudyOrigin(study, sweep)


@dataclass(frozen=True, slots=True)
class SweepResults:
    """A sweep's measurements, with its study and sweep (or None) and folder."""

    measured: Measurements
    origin: StudyOrigin | None = None
    folder: Path | None = None

    def claims(self) -> list[Claim]:
        """The claims about one sweep with their verdicts; none without a study."""
        return self.origin.study.check_claims(self.origin.sweep, self.measured) if self.origin else []


@dataclass(frozen=True, slots=True)
class StudyResults:
    """The measurements in the study's order; `study` is None without one."""

    study: Study | None
    sweeps: tuple[SweepResults, ...]


def existing_folder(results: Path) -> Path:
    """The folder; raises UserError if it is missing."""
    if not results.is_dir():
        raise UserError(f"{results}: there is no such folder; make one with roambus sweep --out {results}")
    return results


def sweep_folder(results: Path, study: Study, sweep: StudySweep) -> Path:
    """The folder of the runs of a study's sweep."""
    return results if len(study.sweeps) == 1 else results / sweep.name


def sweep_folders(results: Path) -> list[Path]:
    """The folders with a sweep's results: this one, or else those in it."""
    is_one = (results / SWEEP_FILE).is_file()
    return (not is_one and sorted(file.parent for file in results.glob(f"*/{SWEEP_FILE}"))) or [results]


def origin_of(folder: Path, own: Study | None = None) -> StudyOrigin | None:
    """The study and sweep of this folder's results, if any; raises UserError."""
    return find_origin(read_asked(folder), folder.name, own)


def find_extra(folder: Path, own: Study | None = None, measure: Sequence[str] = ()) -> Extra:
    """The metrics of a sweep beside every run's; raises UserError.

    They come from its study, `measure`, and the sweep: installed packages, and files that the user's own sweep named.
    """
    chosen = [name for name in measured_by(folder) if is_chosen(folder, name)]
    return extra_of(origin_of(folder, own)) + all_own_metrics(dict.fromkeys([*measure, *chosen]))


def measured_by(folder: Path) -> list[str]:
    """The metric files and packages that these results name."""
    named: list[str] = read_asked(folder).get(MEASURE, [])
    return named


def extra_of(origin: StudyOrigin | None) -> Extra:
    """The metrics of that origin's results beside every run's."""
    return origin.sweep.extra if origin else NOTHING


def read_results(results: Path, own: Study | None = None) -> StudyResults:
    """Read the measurements of every sweep in the folder; raises UserError."""
    origins = {folder: origin_of(folder, own) for folder in sweep_folders(results)}
    found = [
        SweepResults(read_measurements(folder, extra_of(origin)), origin, folder) for folder, origin in origins.items()
    ]
    study = next((candidate.origin.study for candidate in found if candidate.origin), None)
    order = study.sweeps if study else ()
    found.sort(
        key=lambda results: (
            order.index(results.origin.sweep) if results.origin and results.origin.sweep in order else len(order)
        )
    )
    return StudyResults(study, tuple(found))
