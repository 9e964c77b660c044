"""Finds studies: ours by their names, one of the user's own by the path of its file (docs/studies.md).

Each study of ours has a folder beside this file; its module `study` holds the study under the name STUDY. Modules are
imported when a study is asked for, so that nothing here depends on any of them.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from roambus.bridge.agents.imports import import_file
from roambus.bridge.errors import UserError
from roambus.experiments.shipped import no_such, shipped_studies
from roambus.experiments.studies.study import Study


def load_study(reference: str) -> Study:
    """The study of that name, or the STUDY of that Python file; raises UserError saying which there are."""
    if reference.endswith(".py"):
        return _study_of(import_file(f"study {reference!r}", Path(reference)), reference)
    ours = shipped_studies()
    if reference not in ours:
        raise no_such("study", reference)
    return _study_of(importlib.import_module(f"{__package__}.{ours[reference].name}.study"), reference)


def _study_of(module: ModuleType, reference: str) -> Study:
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise UserError(f"study {reference!r}: the file has no STUDY, which is a {Study.__module__}.Study")
    return study
