"""Everything that there is can be listed, and everything that is listed can be shown."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import (
    KINDS,
    first_sentence,
    own_entries,
    shipped_files,
    shipped_study,
    summaries,
)
from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import find_template


def test_two_studies_of_one_folder_have_sentences_of_their_own() -> None:
    """The docstring below a study's definition comes before that of its module."""
    sentences = summaries("studies")
    assert "802.15.4" in sentences["thesis-acknowledged"]
    assert len(set(sentences.values())) == len(sentences)


def test_a_list_imports_nothing_slow() -> None:
    """It has to be there at once, also while a shell completes a name."""
    code = "import sys; from roambus.experiments.inventory import KINDS, summaries; [*map(summaries, KINDS)]; "
    slow = "{'numpy', 'pandas', 'scipy', 'pyspark', 'pyarrow', 'numba', 'matplotlib', 'jinja2'}"
    program = [sys.executable, "-c", f"{code}print({slow} & sys.modules.keys())"]
    assert subprocess.run(program, capture_output=True, check=True).stdout == b"set()\n"


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            lambda: find_template("thesis-bare"),
            "unknown template 'thesis-bare': .*sweep 'thesis-bare' .roambus sweep ",
        ),
        (lambda: read_sweep("field"), "unknown sweep 'field': .*template 'field' .roambus run field"),
        (lambda: load_study("mft"), "unknown study 'mft': .*agent 'mft' .roambus run field --agent mft"),
    ],
)
def test_a_name_of_another_kind_is_answered_with_that_kind(load: Callable[[], object], message: str) -> None:
    """And with the command that takes it."""
    with pytest.raises(UserError, match=message):
        load()


def test_the_first_sentence_ends_at_a_full_stop_and_not_in_a_number() -> None:
    """Lines are joined."""
    assert first_sentence("Section 4.5 of\nthe thesis. And more.") == "Section 4.5 of the thesis."


OWN = {
    "ferry.py": 'from roambus import Agent\n\nclass Ferry(Agent):\n    """Carries. Far."""\n\nraise SystemExit\n',
    "two.py": "import roambus\n\nclass A(roambus.Agent): ...\n\nclass B(roambus.Agent): ...\n",
    "mine.py": '"""My study."""\nSTUDY = load()\n',
    "own.toml": '# My sweep.\ntemplate = "field"\n',
    "pyproject.toml": "[project]\n",
    "town.ini.j2": "# A town.\n",
    "_part.ini.j2": "# A part.\n",
    "broken.py": "class (:\n",
}


def test_files_of_ones_own_are_listed_without_being_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what commands take; what is a part, or nothing of this, or cannot be read is left out."""
    for name, text in OWN.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert {kind: own_entries(kind) for kind in KINDS} == {
        "agents": {"ferry.py": "Carries.", "two.py:A": "", "two.py:B": ""},
        "templates": {"town.ini.j2": "A town."},
        "sweeps": {"own.toml": "My sweep."},
        "studies": {"mine.py": "My study."},
        "metrics": {},
    }


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
