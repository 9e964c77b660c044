"""Results of a study under other conditions say so, and name each condition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.runs.layout import LACKING
from roambus.experiments.comparing.comparison import CompareOptions, draw_compared
from roambus.experiments.figures.style import FigureStyle
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed
from roambus.experiments.reporting.figure_files import all_figures, draw_figures
from roambus.experiments.studies.conditions import (
    ALONE,
    OTHER,
    PART,
    QUICK,
    WHOLE,
    conditions,
    conditions_of,
    differences,
    heads,
    scope,
)
from roambus.experiments.studies.study import Study, StudyOrigin, StudyResults, SweepResults, load_study, sweep_folders
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements, of_thesis, write_measurements
from tests.experiments.studies.test_studies import results  # noqa: F401  # a fixture

ALL_AGENTS = ("mft", "aodv", "mft-as-published", "aodv-thesis")
DEFINED = {"mft-as-published": ["mft", {"profile": "as_published"}], "aodv-thesis": ["aodv", {"profile": "thesis"}]}


def whole(**changes: Any) -> Measurements:
    """The whole study in the study's own words, with these keys of the request changed."""
    return requested(measurements(seeds=10, agents=ALL_AGENTS), time_limit=700, publish_until=500, **changes)


def requested(measured: Measurements, /, time_limit: object, publish_until: object, **changes: Any) -> Measurements:
    agents = {label: DEFINED.get(label, [label, {}]) for label in measured.sweep["agents"]}
    fixed = {"time_limit": time_limit, "publish_until": publish_until, **changes.pop("set", {})}
    sweep = {**measured.sweep, "agents": agents, "set": fixed, "backend": "radio"}
    return replace(measured, sweep={**sweep, **changes})


def quick(**changes: Any) -> Measurements:
    small = measurements(configs=("C2", "C4", "C8"), speeds=("2", "8"), seeds=3)
    return requested(small, time_limit=200, publish_until=143, **changes)


def scope_of(measured: Measurements) -> str:
    return scope(StudyResults(load_study("thesis"), (of_thesis(measured),)))


def test_the_study_itself_has_no_other_conditions() -> None:
    """More seeds, and times in other units, are none; figures then have nothing to add."""
    assert scope_of(whole()) == WHOLE
    assert (differences(of_thesis(whole())), conditions(of_thesis(whole()))) == ([], "")
    twice = requested(measurements(seeds=11, agents=ALL_AGENTS), time_limit="700000ms", publish_until="500s")
    assert conditions(of_thesis(twice)) == ""
    assert not any("onditions" in figure.caption for figure in all_figures(of_thesis(whole())))


CHANGES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"set": {"mac": "802.15.4"}}, "mac 802.15.4 (study: TunableMAC)"),
    ({"set": {"crash_share": 0.2, "crash_at": 60}}, "crash share 0.2 (study: 0); crash at 60 s (study: not set)"),
    ({"set": {"time_limit": "11min"}}, "time limit 11min (study: 700 s)"),
    ({"set": {}, "backend": "ideal"}, "backend ideal (study: radio)"),
    ({"template": "thesis2.ini.j2"}, "template thesis2.ini.j2 (study: thesis.ini.j2)"),
)


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[words.split(" (")[0] for _, words in CHANGES])
def test_each_condition_is_named_with_the_studys(change: dict[str, Any], words: str) -> None:
    """Settings, also those that the study leaves at their defaults, the back-end and the template."""
    found = of_thesis(whole(**change))
    assert conditions(found) == f"Conditions differ from those of study thesis: {words}."
    assert scope_of(whole(**change)) == OTHER


def test_a_setting_at_its_default_is_no_other_condition() -> None:
    """The study has it, too, without a line."""
    assert conditions(of_thesis(whole(set={"mac": "TunableMAC", "crash_share": 0.0}))) == ""


def test_an_agent_of_the_same_name_is_another_one() -> None:
    """Other parameters, or another class: the claims are about the study's own."""
    agents = {"mft": ["mft", {"link_layer": "false"}], "aodv": ["aodv", {}], **DEFINED}
    words = "agent mft is mft with link_layer=false (study: is mft)"
    assert conditions(of_thesis(whole(agents=agents))).endswith(f": {words}.")


def test_a_parameter_as_an_axis_is_another_condition() -> None:
    """The study does not vary it."""
    measured = whole()
    runs = measured.runs.copy()
    runs.insert(3, "rate", [LACKING if agent == "aodv" else "2" for agent in runs["agent"]])
    varied = replace(measured, runs=runs)
    assert "rate 2 (study: not varied)" in conditions(of_thesis(varied))


def test_more_values_than_the_studys_are_another_condition() -> None:
    """A claim about all speeds is then about other ones."""
    more = requested(measurements(speeds=("2", "4", "6", "8", "10", "30"), seeds=10, agents=ALL_AGENTS), 700, 500)
    assert "speed 2, 4, 6, 8, 10, 30 (study: 2, 4, 6, 8, 10)" in conditions(of_thesis(more))


def test_a_part_is_told_by_its_values_agents_and_seeds() -> None:
    """It has the study's settings, but less of it."""
    part = requested(measurements(configs=("C2", "C16"), speeds=("8",), seeds=4), 700, 500)
    assert scope_of(part) == PART
    words = "agents mft, aodv; config C2, C16; speed 8; seeds 4 of 10"
    assert conditions(of_thesis(part)) == f"Only a part of study thesis was run: {words}."


def test_fresh_seeds_are_named_beside_the_studys() -> None:
    """No command of the study makes these runs; those that are the study's in part are still fewer."""
    fresh = whole()
    fresh.runs["seed"] += 10
    assert conditions(of_thesis(fresh)) == "Conditions differ from those of study thesis: seeds 10..19 (study: 0..9)."
    assert scope_of(fresh) == OTHER
    some = whole()
    kept = replace(some, runs=some.runs[some.runs["seed"] >= 7])
    assert "seeds 3 of 10;" in conditions(of_thesis(kept))
    assert scope_of(kept) == PART


def test_runs_that_are_missing_make_a_part() -> None:
    """Also of the whole study, and one seed less at a single point."""
    measured = whole()
    found = of_thesis(replace(measured, runs=measured.runs.iloc[:-1]))
    assert conditions(found).endswith(": seeds 9 to 10 of 10; runs 999 of 1,000.")
    assert scope(StudyResults(load_study("thesis"), (found,))) == PART


def test_quick_is_a_kind_of_its_own() -> None:
    """Its shorter runs are named; with one further setting it is under other conditions."""
    assert scope_of(quick()) == QUICK
    first, second = conditions(of_thesis(quick())).split(". ")
    assert first.endswith(": time limit 200 s (study: 700 s); publish until 143 s (study: 500 s)")
    assert second.startswith("Only a part of study thesis was run: agents mft, aodv; config C2, C4, C8")
    assert scope_of(quick(set={"crash_share": 0.2})) == OTHER


def test_quick_has_the_first_seeds_of_a_study_that_does_not_begin_at_0() -> None:
    """So they are fewer of the study's, and not others."""
    thesis = load_study("thesis")
    own = next(sweep for sweep in thesis.sweeps if sweep.name == "thesis")
    later = replace(own)
    later.__dict__["asked"] = replace(own.asked, seeds=tuple(range(10, 20)))
    small = quick()
    small.runs["seed"] += 10
    found = SweepResults(small, StudyOrigin(thesis, later))
    assert scope(StudyResults(replace(thesis, sweeps=(later,)), (found,))) == QUICK
    assert conditions(found).endswith("seeds 3 of 10.")


def test_results_without_a_study_or_a_request() -> None:
    """The first have their own conditions; those of the second are unknown."""
    assert (conditions(SweepResults(quick())), scope(StudyResults(None, (SweepResults(quick()),)))) == ("", ALONE)
    assert "settings not recorded (study: its own)" in conditions(of_thesis(replace(quick(), sweep={})))


def test_every_caption_names_the_conditions(tmp_path: Path) -> None:
    """Those of the study's figures, and of a comparison's picture; files have the sentence, too."""
    other = quick(set={"crash_share": 0.2})
    figures = all_figures(of_thesis(other))
    assert len(figures) > 10
    assert all("crash share 0.2 (study: 0)" in figure.caption for figure in figures)
    write_measurements(other, tmp_path)
    style = FigureStyle(formats=("svg",))
    files = [file for file in draw_figures(tmp_path, style=style) if file.suffix == ".txt"]
    asked = CompareOptions(metrics=(c.MESSAGES_PER_NODE,), against="speed")
    files += [
        file
        for file in draw_compared(other, asked, tmp_path / "compared", style, conditions_of(other, tmp_path))
        if file.suffix == ".txt"
    ]
    assert len(files) == len(figures) + 1
    assert all("crash share 0.2 (study: 0)" in file.read_text() for file in files)


def test_tables_of_a_study_begin_with_the_conditions(results: tuple[Study, Path]) -> None:  # noqa: F811  # the fixture
    """They lie beside the figures, and go into papers as well."""
    study, folder = results
    first = replace(study.sweeps[0], tables=lambda _: {"numbers.md": "| a |\n"})
    draw_figures(folder / "thesis", replace(study, sweeps=(first, study.sweeps[1])), FigureStyle(formats=("svg",)))
    text = (folder / "thesis" / "figures" / "numbers.md").read_text()
    assert text.startswith("Conditions differ from those of study sizes: time limit 200 s (study: 700 s)")
    assert text.endswith("\n\n| a |\n")


def test_heads_of_several_sweeps(results: tuple[Study, Path]) -> None:  # noqa: F811  # the fixture
    """Each has its sweep's name; sweeps of the study that were not run are named."""
    study, folder = results
    (place, *_) = sweep_folders(folder)
    assert place.name in ("thesis", "flooding")
    found = StudyResults(study, (SweepResults(quick(), StudyOrigin(study, study.sweeps[0])),))
    first, second = heads(found)
    assert first.startswith("Sweep thesis: Conditions differ from those of study sizes: ")
    assert second == "These sweeps of the study were not run: flooding."


def test_a_claim_says_what_was_not_run() -> None:
    """A size outside the request differs from a size without deliveries."""
    with pytest.raises(NotMeasuredError, match=r"^not run: config C32$"):
        by_seed(quick(), c.DELIVERED, agent="mft", config="C32", speed="8")
    runs = quick().runs
    gone = replace(quick(), runs=runs[(runs["config"] != "C2") | (runs["speed"] != "8")])
    with pytest.raises(NotMeasuredError, match=r"^there is no run at agent mft, config C2, speed 8$"):
        by_seed(gone, c.DELIVERED, agent="mft", config="C2", speed="8")
    silent = replace(quick(), runs=runs.drop(columns=c.DELIVERED))
    with pytest.raises(NotMeasuredError, match=r"^no run has delivered at agent mft, config C2, speed 8$"):
        by_seed(silent, c.DELIVERED, agent="mft", config="C2", speed="8")
