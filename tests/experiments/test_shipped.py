"""Files that are shipped belong to the study in whose folder they lie."""

from __future__ import annotations

import shutil
from pathlib import Path

from roambus.experiments.shipped import shipped_files, shipped_study


def test_a_file_belongs_to_the_study_of_its_name_and_otherwise_to_the_first_of_its_folder() -> None:
    """The folder of the thesis has two studies and many sweeps."""
    sweeps = shipped_files(".toml")
    known = {
        "thesis": "thesis",
        "thesis-acknowledged": "thesis-acknowledged",
        "flooding": "thesis",
    }
    assert {name: shipped_study(sweeps[name]) for name in known} == known


def test_a_file_outside_the_folders_of_studies_belongs_to_none(tmp_path: Path) -> None:
    """Its name alone does not make it a study's."""
    copy = Path(shutil.copy(shipped_files(".toml")["thesis-acknowledged"], tmp_path))
    assert shipped_study(copy) is None
    assert shipped_study(shipped_files(".ini.j2")["field"]) is None
