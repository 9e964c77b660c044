"""The results of a study: one sweep's folder, or a folder with one for each of its sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import SWEEP_FILE
from roambus.experiments.measurements.measurements import Measurements, read_description, read_measurements
from roambus.experiments.studies.registry import find_study
from roambus.experiments.studies.study import Study, StudySweep
from roambus.spark.metrics.extra import NOTHING, Extra


@dataclass(frozen=True, slots=True)
class StudyResults:
    """What was measured, in the study's order; `study` is None for the sweep of no study."""

    study: Study | None
    sweeps: tuple[Measurements, ...]


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


def find_extra(folder: Path, own: Study | None = None) -> Extra:
    """What the study of a sweep's results measures beside the catalogue; raises UserError."""
    description = read_description(folder)
    place = find_study(description, folder.name, own) if description else None
    return place[1].extra if place else NOTHING


def read_results(results: Path, own: Study | None = None) -> StudyResults:
    """What was measured, of every sweep that there is; raises UserError."""
    measured = [read_measurements(folder, own) for folder in sweep_folders(results)]
    places = [one.study for one in measured]
    study = next((place[0] for place in places if place), None)
    order = study.sweeps if study else ()
    measured.sort(key=lambda one: order.index(one.study[1]) if one.study and one.study[1] in order else len(order))
    return StudyResults(study, tuple(measured))
