"""Everything that there is can be listed, and everything that is listed can be shown."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.commands.inventory import document_of, lines_of
from roambus.experiments.inventory import (
    KINDS,
    first_sentence,
    own_entries,
    shipped_files,
    shipped_studies,
    shipped_study,
    shown_first,
    summaries,
)
from roambus.experiments.studies.study import load_study
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import find_template
from roambus.reference import everything, find
from roambus.spark.metrics.catalogue import METRICS


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_name_and_a_sentence(kind: str) -> None:
    """Which is what a line of the list consists of."""
    things = everything(kind)
    assert things
    assert all(thing.name and len(thing.summary) > len("A thing.") for thing in things)
    assert not [thing.name for thing in things if "roambus run" in thing.summary or not thing.summary.endswith(".")]


def test_two_studies_of_one_folder_have_sentences_of_their_own() -> None:
    """The docstring below a study's definition comes before that of its module."""
    sentences = summaries("studies")
    assert "802.15.4" in sentences["thesis-acknowledged"]
    assert len(set(sentences.values())) == len(sentences)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_from_the_source_is_what_is_loaded(kind: str) -> None:
    """The list imports nothing, and says the same as the things themselves."""
    assert summaries(kind) == {thing.name: thing.summary for thing in everything(kind)}


def test_a_list_imports_nothing_slow() -> None:
    """It has to be there at once, also while a shell completes a name."""
    code = "import sys; from roambus.experiments.inventory import KINDS, summaries; [*map(summaries, KINDS)]; "
    slow = "{'numpy', 'pandas', 'scipy', 'pyspark', 'pyarrow', 'numba', 'matplotlib', 'jinja2'}"
    program = [sys.executable, "-c", f"{code}print({slow} & sys.modules.keys())"]
    assert subprocess.run(program, capture_output=True, check=True).stdout == b"set()\n"


def test_a_file_is_shown_as_what_it_is(tmp_path: Path) -> None:
    """A template or a sweep by its ending."""
    file = tmp_path / "own.toml"
    file.write_text('# My sweep.\ntemplate = "thesis"\n[agents]\nmft = {}\n')
    assert [(thing.kind, thing.summary) for thing in find(str(file))] == [("sweep", "My sweep.")]
    assert [thing.kind for thing in find(str(shipped_files(".ini.j2")["tree"]))] == ["template"]


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


def test_nothing_is_left_out() -> None:
    """What is shipped, and the metrics of all runs, are all in the lists."""
    assert {thing.name for thing in everything("templates")} == set(shipped_files(".ini.j2"))
    assert {thing.name for thing in everything("sweeps")} == set(shipped_files(".toml"))
    assert {thing.name for thing in everything("studies")} == set(shipped_studies())
    assert {metric.column for metric in METRICS} < {thing.name for thing in everything("metrics")}


def test_a_name_that_several_kinds_have_is_shown_for_all_of_them() -> None:
    """Unless one kind is asked for."""
    assert [thing.kind for thing in find("thesis")] == ["template", "sweep", "study"]
    assert [thing.kind for thing in find("thesis", "sweeps")] == ["sweep"]


def test_a_variable_is_shown_with_its_default_and_meaning_and_what_it_takes() -> None:
    """From the declaration at the template's head."""
    (template,) = find("thesis", "templates")
    assert "  brokers = 2  Nodes that are brokers; a whole number, at least 1" in list(lines_of(template))
    assert "  config=C8  publishers=2 subscribers=8 brokers=8 side=60" in list(lines_of(template))


def test_a_sweep_is_shown_with_its_axes_agents_and_number_of_runs() -> None:
    """2 agents x 5 sizes x 5 speeds x 10 seeds."""
    (sweep,) = find("thesis", "sweeps")
    lines = list(lines_of(sweep))
    assert {"  runs: 1000", "  speed  2, 4, 6, 8, 10", "  aodv-thesis  aodv; profile=thesis"} <= set(lines)


def test_a_list_begins_with_sweeps_that_no_study_has_and_one_of_each_study() -> None:
    """The others are listed under their study, and every name stays known."""
    first = shown_first("sweeps")
    assert {"beacon", "testbed", "thesis"} <= first.keys() < summaries("sweeps").keys()
    assert not [name for name in first if name.startswith("explain-")]
    (study,) = find("thesis", "studies")
    behind = {row["name"] for row in study.tables["further sweeps"]}
    assert {"explain-mft", "flooding", "thesis-bare", "unicast"} <= behind
    assert not behind & first.keys()
    assert find("explain-mft")[0].kind == "sweep"


def test_a_metric_is_shown_with_its_definition_and_unit() -> None:
    """Those of a study, too, with the study."""
    (delay,) = find("end_to_end_delay_mean_s")
    assert list(lines_of(delay))[:3] == [
        "metric end_to_end_delay_mean_s: Time from publication to first delivery, mean over delivered pairs.",
        "  title: end-to-end delay",
        "  unit: s",
    ]
    assert find("mac_retransmissions")[0].facts["study"] == "thesis-acknowledged"


def test_a_thing_as_json_has_all_that_its_text_has() -> None:
    """Tables are lists of objects."""
    (template,) = find("thesis", "templates")
    brokers = {
        "name": "brokers",
        "default": "2",
        "meaning": "Nodes that are brokers.",
        "takes": "a whole number, at least 1",
    }
    assert brokers in json.loads(json.dumps(document_of(template)))["variables"]


def test_a_name_that_nothing_has_is_refused_with_the_nearest_one() -> None:
    """The list itself would be too long for a message."""
    with pytest.raises(
        UserError,
        match="sweep, study or metric 'hops_maxx': did you mean metric 'hops_max'",
    ):
        find("hops_maxx")


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


def test_an_agent_in_a_file_is_shown_with_its_parameters(tmp_path: Path) -> None:
    """As is one of a module; a file with a STUDY is shown as a study."""
    file = tmp_path / "mine.py"
    file.write_text("from roambus.python_protocol.baselines import Flooding\n\nclass Mine(Flooding):\n    'Floods.'\n")
    (mine,) = find(str(file))
    assert (mine.kind, mine.summary, find(f"{file}:Mine")[0].summary) == ("agent", "Floods.", "Floods.")
    assert mine.tables["parameters"]
    study = tmp_path / "study.py"
    study.write_text(
        '"""Mine."""\nfrom roambus.experiments.studies.study import Study\nSTUDY = Study("mine", "me", ())\n'
    )
    assert [(thing.kind, thing.summary) for thing in find(str(study))] == [("study", "Mine.")]


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
