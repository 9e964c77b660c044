"""Everything that is listed can be shown, with all that it declares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roambus.bridge.system.errors import UserError
from roambus.commands.inventory import document_of, everything, find, lines_of
from roambus.experiments.inventory import KINDS, shipped_files, shipped_studies, summaries, sweeps_of_studies
from roambus.spark.metrics.catalogue import METRICS
from tests.roambus.conftest import Roambus


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_name_and_a_sentence(kind: str) -> None:
    """Which is what a line of the list consists of."""
    entries = everything(kind)
    assert entries
    assert all(entry.name and len(entry.summary) > len("A entry.") for entry in entries)
    assert not [entry.name for entry in entries if "roambus run" in entry.summary or not entry.summary.endswith(".")]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_from_the_source_is_what_is_loaded(kind: str) -> None:
    """The list imports nothing, and says the same as the entries themselves."""
    assert summaries(kind) == {entry.name: entry.summary for entry in everything(kind)}


def test_a_file_is_shown_as_what_it_is(tmp_path: Path) -> None:
    """A template or a sweep by its ending."""
    file = tmp_path / "own.toml"
    file.write_text('# My sweep.\ntemplate = "thesis"\n[agents]\nmft = {}\n')
    assert [(entry.kind, entry.summary) for entry in find(str(file))] == [("sweep", "My sweep.")]
    assert [entry.kind for entry in find(str(shipped_files(".ini.j2")["tree"]))] == ["template"]


@pytest.mark.parametrize(("seeds", "shown"), [("4", "4"), ('"3..5,9..9"', "3..5,9..9"), ('"0..3"', "4")])
def test_the_seeds_of_a_sweep_are_shown_as_the_command_line_takes_them(seeds: str, shown: str, tmp_path: Path) -> None:
    """How many there are says nothing about a range."""
    file = tmp_path / "own.toml"
    file.write_text(f'template = "thesis"\nseeds = {seeds}\n[agents]\nmft = {{}}\n')
    (sweep,) = find(str(file))
    assert f"  seeds: {shown}" in list(lines_of(sweep))


def test_nothing_is_left_out() -> None:
    """All shipped files, and the metrics of all runs, are in the lists."""
    assert {entry.name for entry in everything("templates")} == set(shipped_files(".ini.j2"))
    assert {entry.name for entry in everything("sweeps")} == set(shipped_files(".toml"))
    assert {entry.name for entry in everything("studies")} == set(shipped_studies())
    assert {metric.column for metric in METRICS} < {entry.name for entry in everything("metrics")}


def test_a_name_that_several_kinds_have_is_shown_for_all_of_them() -> None:
    """Unless one kind is asked for."""
    assert [entry.kind for entry in find("thesis")] == ["template", "sweep", "study"]
    assert [entry.kind for entry in find("thesis", "sweeps")] == ["sweep"]


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


def test_a_list_begins_with_five_sweeps_of_the_core(roambus: Roambus) -> None:
    """Files of one's own come after them; the sweeps behind a study are named in a line with it."""
    first, _, behind = roambus("list", "sweeps").out.partition("sweeps behind a study:\n")
    names = [line.split()[0] for line in first.splitlines()]
    assert names == ["backends", "beacon", "testbed", "thesis", "thesis-acknowledged", "mine.toml"]
    lines = (line.replace(",", "").split() for line in behind.splitlines())
    found = {study: sweeps for study, *sweeps in lines}
    assert found == sweeps_of_studies()
    assert {*names[:-1], *(name for sweeps in found.values() for name in sweeps)} == shipped_files(".toml").keys()


def test_a_list_tells_the_metrics_of_a_study_from_those_of_every_run(roambus: Roambus) -> None:
    """The latter come first; those of a study are below its name."""
    first, _, thesis = roambus("list", "metrics").out.partition("metrics of the study thesis only:\n")
    every = [line.split()[0] for line in first.partition("metrics of the study")[0].splitlines()]
    assert every == sorted(metric.column for metric in METRICS)
    assert thesis.startswith("  mac_acknowledgements ")


def test_a_list_as_json_has_the_sweeps_behind_studies_as_well(roambus: Roambus) -> None:
    """Each with its summary."""
    listed = json.loads(roambus("list", "sweeps", "--json").out)
    assert {row["name"]: row["summary"] for row in listed} == summaries("sweeps") | {"mine.toml": ""}


def test_the_sweeps_behind_a_study_are_shown_with_it() -> None:
    """Those that `roambus reproduce` does not make are further ones."""
    (study,) = find("thesis", "studies")
    behind = {row["name"] for row in study.tables["further sweeps"]}
    assert {"explain-mft", "flooding", "thesis-bare", "unicast"} <= behind
    assert "thesis" not in behind
    for name, sweeps in sweeps_of_studies().items():
        shown = [row["name"] for table in find(name, "studies")[0].tables.values() for row in table]
        assert len(shown) == len(set(shown))
        assert set(sweeps) <= set(shown)
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
    assert [(entry.kind, entry.summary) for entry in find(str(study))] == [("study", "Mine.")]
