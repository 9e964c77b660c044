"""Our studies by name, and the study that results belong to. One of your own is given as a file: docs/studies.md."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from roambus.bridge.agents.imports import import_file
from roambus.bridge.errors import UserError
from roambus.experiments.studies.study import Study, StudyPlace
from roambus.python_protocol.parameters import unknown

MODULES = {
    "thesis": "roambus.experiments.studies.thesis.study",
    "migration-cost": "roambus.experiments.studies.migration_cost.study",
    "caching": "roambus.experiments.studies.caching.study",
    "skip-ring": "roambus.experiments.studies.skip_ring.study",
    "returning": "roambus.experiments.studies.returning.study",
    "replicated": "roambus.experiments.studies.replicated.study",
}
"""Where each study is: every module has one, called STUDY."""


def load_study(reference: str) -> Study:
    """The study of that name, or the STUDY of that Python file; raises UserError saying which there are."""
    if reference.endswith(".py"):
        return _study_of(import_file(f"study {reference!r}", Path(reference)), reference)
    if reference not in MODULES:
        raise UserError(f"{unknown('study', reference, MODULES)}; or give the path of a file")
    return _study_of(importlib.import_module(MODULES[reference]), reference)


def find_study(description: Mapping[str, Any], folder: str = "", own: Study | None = None) -> StudyPlace | None:
    """The study and its sweep that results with this `sweep.json` are of; None if they are of no study.

    Of several sweeps with the same template and axes it is the one that the results' `folder` is called like, or the
    first. `own` is the only study to choose from, if there is one.
    """
    studies = [own] if own else [load_study(name) for name in MODULES]
    fitting = [(study, sweep) for study in studies for sweep in study.sweeps if sweep.fits(description)]
    return next((one for one in fitting if one[1].name == folder), fitting[0] if fitting else None)


def _study_of(module: ModuleType, reference: str) -> Study:
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise UserError(
            f"study {reference!r}: the file has no STUDY, which is an roambus.experiments.studies.study.Study"
        )
    return study
