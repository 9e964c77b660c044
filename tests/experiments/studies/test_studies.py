"""Studies: ours are in order, results are known as theirs, and several sweeps have one report."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Picture

from roambus.bridge.system.errors import UserError
from roambus.experiments.claims import ClaimTest, Side, Verdict, make_part
from roambus.experiments.figures.figure import Figure, OwnFigure, Plan, agent_lines
from roambus.experiments.figures.style import FigureStyle, read_style
from roambus.experiments.inventory import shipped_studies
from roambus.experiments.measurements import Measurements, by_seed
from roambus.experiments.reporting.figure_files import all_figures, draw_figures
from roambus.experiments.studies.study import (
    Study,
    StudyOrigin,
    StudySweep,
    SweepResults,
    find_extra,
    find_origin,
    load_study,
    read_results,
    sweep_folder,
)
from roambus.experiments.sweeps.request_file import describe
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep import expand
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.aggregation.aggregate import mean_points
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.extra import Extra
from roambus.spark.metrics.metric import Metric
from tests.experiments.measured import measurements, write_measurements

OURS = [(name, sweep) for name in shipped_studies() for sweep in load_study(name).sweeps]


# Ours


@pytest.mark.parametrize("name", shipped_studies())
def test_a_study_is_called_like_its_entry(name: str) -> None:
    """So that its results' folder and its name on the command line are one."""
    assert load_study(name).name == name


@pytest.mark.parametrize(("name", "sweep"), OURS, ids=[f"{name}-{sweep.name}" for name, sweep in OURS])
def test_every_sweep_of_ours_can_be_run_in_small(name: str, sweep: StudySweep) -> None:
    """With less than the whole of it, and results that are known as the study's again."""
    quick = override(sweep.asked, sweep.quick, sweep.quick_seeds)
    assert len(expand(quick)) < len(expand(sweep.asked))
    origin = StudyOrigin(load_study(name), sweep)
    assert find_origin(describe(origin.study.asked(sweep)), "elsewhere") == origin


def test_sweeps_that_look_alike_have_different_names() -> None:
    """Else nothing could tell whose results are whose."""
    for (_, metric), (_, other) in itertools.combinations(OURS, 2):
        assert metric.name != other.name


def test_an_unknown_study_is_named_with_those_that_there_are() -> None:
    """And the nearest."""
    with pytest.raises(
        UserError, match=r"unknown study 'tesis': did you mean 'thesis'\? there is .*; or give the path"
    ):
        load_study("tesis")


def test_a_file_without_a_study_is_refused(tmp_path: Path) -> None:
    """As is one that is not there."""
    file = tmp_path / "mine.py"
    with pytest.raises(UserError, match=r"study '.*mine.py': there is no file"):
        load_study(str(file))
    file.write_text("STUDY = 3\n")
    with pytest.raises(
        UserError, match=r"mine.py': the file has no STUDY, which is a roambus.experiments.studies.study.Study"
    ):
        load_study(str(file))


# Whose results are whose


def test_results_of_no_study() -> None:
    """A sweep of the user's own names no study, even if it has the template and axes of one of ours."""
    sweep = load_study("thesis").sweeps[0].asked
    mine = describe(replace(sweep, name="mine", study=None))
    assert find_origin(mine, "thesis") is None
    assert SweepResults(measurements()).claims() == []


@pytest.mark.parametrize("name", ["thesis-bare", "flooding"])
def test_a_sweep_like_that_of_a_study_has_its_figures_and_claims(name: str) -> None:
    """The same evaluation with other agents, or without a link layer."""
    thesis = load_study("thesis")
    assert find_origin(describe(read_sweep(name)), "elsewhere") == StudyOrigin(thesis, thesis.sweeps[0])


def test_results_say_which_sweep_they_are_of_wherever_they_lie() -> None:
    """Two sweeps of a study may have the same template and axes."""
    study = two_sweeps("thesis", "flooding")
    for sweep in study.sweeps:
        assert find_origin(describe(study.asked(sweep)), "elsewhere", study) == StudyOrigin(study, sweep)


def test_a_study_of_the_users_own_that_did_not_make_the_results_is_an_error() -> None:
    """The message names its sweeps."""
    asked = load_study("thesis-acknowledged").sweeps[0].asked
    with pytest.raises(
        UserError, match="'thesis-acknowledged' are not of study 'sizes', whose sweeps are thesis, flooding"
    ):
        find_origin(describe(asked), "elsewhere", two_sweeps("thesis", "flooding"))


# A study of two sweeps

SIZE = Metric("size_b", "size (B)", "How large messages are.")


def never(traces: Any) -> Any:
    """Nothing is computed here."""
    raise AssertionError(traces)


class Blank(OwnFigure):
    """An empty picture."""

    intervals = "nothing was measured"

    def picture(self, style: FigureStyle) -> Picture:
        return Picture(figsize=style.size)


def plans(name: str) -> Any:
    def planned(measured: Measurements) -> list[Plan]:
        return [Plan(name, f"Sizes of {name}", SIZE.column, "config", agent_lines(measured, {"speed": "2"}))]

    return planned


def larger(than: float) -> ClaimTest:
    def parts(measured: Measurements) -> list[Any]:
        values = by_seed(measured, SIZE.column, agent="mft", config="C2", speed="2")
        return [make_part("size", values, Side.ABOVE, than)]

    return ClaimTest(f"Messages are larger than {than:g} bytes.", "Of mft at C2.", parts)


def two_sweeps(first: str, second: str) -> Study:
    first_sweep = StudySweep(first, plans("first"), claims=(larger(1), larger(100)), extra=Extra((SIZE,)))
    other = StudySweep(second, plans("second"), claims=(larger(10),), extra=Extra((SIZE,)))
    return Study("sizes", "nobody", (first_sweep, other), notes=("Sizes are <made up>.",))


@pytest.fixture
def results(tmp_path: Path) -> tuple[Study, Path]:
    """Made-up results of both, with the metric."""
    study = two_sweeps("thesis", "flooding")
    for sweep in study.sweeps:
        folder = sweep_folder(tmp_path, study, sweep)
        folder.mkdir()
        measured = measurements(configs=("C2", "C4"), speeds=("2",), seeds=3)
        runs = measured.runs.assign(**{SIZE.column: 20.0 + measured.runs["seed"]})
        sizes = replace(measured, runs=runs, points=mean_points(runs), sweep={**measured.sweep, "sweep": sweep.name})
        write_measurements(sizes, folder)
    return study, tmp_path


def test_the_sweeps_of_a_study_lie_below_its_results(results: tuple[Study, Path]) -> None:
    """They are read in the study's order; a single one lies there itself."""
    study, folder = results
    found = read_results(folder, study)
    assert found.study == study
    assert [sweep.origin and sweep.origin.sweep.name for sweep in found.sweeps] == ["thesis", "flooding"]
    assert sweep_folder(folder, replace(study, sweeps=study.sweeps[:1]), study.sweeps[0]) == folder


def test_a_study_has_its_metrics_figures_and_its_own_kinds(results: tuple[Study, Path]) -> None:
    """A metric of its own has its title; figures of the study's own kinds come first."""
    study, folder = results
    made = Blank("blank", "Nothing", "", "")
    own = replace(study, sweeps=(replace(study.sweeps[0], drawings=lambda _: (made,)), study.sweeps[1]))
    drawn, figure = all_figures(read_results(folder / "thesis", own).sweeps[0])
    assert drawn == made.with_remark(drawn.remark)
    assert isinstance(figure, Figure)
    assert (figure.name, figure.y_title, figure.series[0].label) == ("first", "size (B)", "MFT-PubSub")


def test_a_study_that_plans_no_figure_has_those_of_its_metrics(results: tuple[Study, Path], tmp_path: Path) -> None:
    """Beside the main ones; where its metrics were not computed, and nothing else is there, that is an error."""
    study, folder = results
    silent = replace(study, sweeps=(replace(study.sweeps[0], plans=lambda _: ()), study.sweeps[1]))
    drawn = {path.stem for path in draw_figures(folder / "thesis", silent, read_style("svg", "screen", "colour"))}
    assert {"size-b", "delivery-rate-all"} < drawn
    measured = measurements(configs=("C2",), speeds=("2",), seeds=3)
    alone = replace(silent, sweeps=study.sweeps[:1])
    write_measurements(replace(measured, sweep={**measured.sweep, "sweep": "thesis"}), tmp_path / "other")
    with pytest.raises(UserError, match=r"no figure has a value: roambus aggregate .*other --study FILE computes"):
        draw_figures(tmp_path / "other", alone)


def test_claims_are_numbered_through_the_sweeps(results: tuple[Study, Path]) -> None:
    """Each is about the runs of its own sweep."""
    study, folder = results
    claims = [claim for sweep in read_results(folder, study).sweeps for claim in sweep.claims()]
    assert [(claim.number, claim.verdict) for claim in claims] == [
        (1, Verdict.HOLDS),
        (2, Verdict.DOES_NOT_HOLD),
        (3, Verdict.HOLDS),
    ]


def test_what_aggregation_is_to_measure_is_found_by_the_results(results: tuple[Study, Path]) -> None:
    """Of a study of one's own, or of ours; of any other folder nothing."""
    study, folder = results
    assert find_extra(folder / "thesis", study) == study.sweeps[0].extra
    assert find_extra(folder / "thesis") == load_study("thesis").sweeps[0].extra
    assert find_extra(folder) == Extra()


def test_a_claim_about_runs_that_are_not_there_is_not_measured(results: tuple[Study, Path]) -> None:
    """It says which are missing."""
    _, folder = results
    study = two_sweeps("thesis", "flooding")
    found = read_results(folder / "thesis", study).sweeps[0]
    runs = found.measured.runs.drop(columns=SIZE.column)
    claim = replace(found, measured=replace(found.measured, runs=runs)).claims()[0]
    assert claim.verdict is Verdict.NOT_MEASURED
    assert claim.evidence == (f"no run has {SIZE.column} at agent mft, config C2, speed 2",)


def test_ordinary_metrics_keep_their_titles() -> None:
    """Whatever the study."""
    assert measurements().title(c.MESSAGES) == "messages"


def test_a_sweep_is_no_study() -> None:
    """The message has the commands that make its report."""
    with pytest.raises(UserError, match=r"mine.toml is a sweep and no study: roambus sweep mine.toml, .* results/mine"):
        load_study("mine.toml")
