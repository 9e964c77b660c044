"""Reads results together with the study that they are of: one sweep's folder, or one with a folder for each sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import SWEEP_FILE, read_asked
from roambus.experiments.evidence.claim import Claim
from roambus.experiments.measurements.measurements import Measurements, read_measurements
from roambus.experiments.studies.origin import Origin, find_origin
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics.extra import NOTHING, Extra


@dataclass(frozen=True, slots=True)
class SweepResults:
    """What a sweep measured, and the study and sweep that it is of; `origin` is None for a sweep of no study.

    `folder` is where its results lie, if they lie anywhere.
    """

    measured: Measurements
    origin: Origin | None = None
    folder: Path | None = None

    def claims(self) -> list[Claim]:
        """The claims about this sweep with their verdicts; none for a sweep of no study."""
        return self.origin.study.check_claims(self.origin.sweep, self.measured) if self.origin else []


@dataclass(frozen=True, slots=True)
class StudyResults:
    """What was measured, in the study's order; `study` is None for the sweep of no study."""

    study: Study | None
    sweeps: tuple[SweepResults, ...]


def existing_folder(results: Path) -> Path:
    """The folder itself; raises UserError if it is not there."""
    if not results.is_dir():
        raise UserError(f"{results}: there is no such folder; make one with roambus sweep --out {results}")
    return results


def sweep_folder(results: Path, study: Study, sweep: StudySweep) -> Path:
    """Where the runs of one of a study's sweeps go."""
    return results if len(study.sweeps) == 1 else results / sweep.name


def sweep_folders(results: Path) -> list[Path]:
    """The folders in which there are a sweep's results: this one, or else those in it, if there are any."""
    below = [] if (results / SWEEP_FILE).is_file() else sorted(file.parent for file in results.glob(f"*/{SWEEP_FILE}"))
    return below or [results]


def origin_of(folder: Path, own: Study | None = None) -> Origin | None:
    """The study and the sweep that the results in this folder are of, if any; raises UserError.

    `own` is the study that the results are of, if it is none of ours.
    """
    return find_origin(read_asked(folder), folder.name, own)


def find_extra(folder: Path, own: Study | None = None) -> Extra:
    """What the study of a sweep's results measures beside the metrics of every sweep; raises UserError."""
    return extra_of(origin_of(folder, own))


def extra_of(origin: Origin | None) -> Extra:
    """What is measured of results of that origin beside the metrics of every sweep."""
    return origin.sweep.extra if origin else NOTHING


def read_sweep_results(folder: Path, own: Study | None = None) -> SweepResults:
    """What was measured of one sweep; raises UserError if there are no metrics."""
    origin = origin_of(folder, own)
    return SweepResults(read_measurements(folder, extra_of(origin)), origin, folder)


def read_results(results: Path, own: Study | None = None) -> StudyResults:
    """What was measured, of every sweep that there is; raises UserError."""
    found = [read_sweep_results(folder, own) for folder in sweep_folders(results)]
    study = next((one.origin.study for one in found if one.origin), None)
    order = study.sweeps if study else ()
    found.sort(
        key=lambda one: order.index(one.origin.sweep) if one.origin and one.origin.sweep in order else len(order)
    )
    return StudyResults(study, tuple(found))
