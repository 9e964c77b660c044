"""How many seeds points get for an interval, or a verdict, as narrow as asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.precision_coverage import (
    ENOUGH,
    INDEPENDENT,
    NORMAL,
    POPULATIONS,
    RATE,
    SKEWED,
    asserted,
    claims,
    naive,
    stein,
)
from roambus.bridge.runs.layout import AGENT, SEED, count_runs, further_runs, read_asked
from roambus.bridge.system.errors import UserError
from roambus.commands import sweeps
from roambus.commands.sweeps import PrecisionOptions, run_until_known
from roambus.experiments.measurements import Measurements
from roambus.experiments.precision import (
    EARLY_ERROR,
    Precision,
    Width,
    for_claims,
    for_metric,
    looks,
    read_width,
    seeds_needed,
    significance_of,
)
from roambus.experiments.studies.thesis.claims import THESIS_CLAIMS
from roambus.experiments.sweeps.request_file import command_of, describe, opened_results
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep import Sweep, count_points, expand, points_of
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.spark.metrics.catalogue import DELAY_MEAN_S
from roambus.spark.metrics.extra import NOTHING
from tests.experiments.measured import measurements

SWEEP = override(read_sweep("thesis"), {"agent": "mft,aodv", "config": "C2,C8", "speed": "2,8"})
PRECISION = Precision(Width(0.02), first=3, most=10)
C2, C8 = "agent=mft/config=C2/speed=2", "agent=aodv/config=C8/speed=8"


def part_of(sweep: Sweep) -> Measurements:
    """What runs of this sweep measure: of each point the seeds that it has."""
    whole = measurements(configs=("C2", "C8"), speeds=("2", "8"), seeds=10)
    there = {(point.agent.label, *(value for _, value in point.axes), point.seed) for point in expand(sweep)}
    rows = whole.runs[[AGENT, "config", "speed", SEED]].itertuples(index=False, name=None)
    return dataclasses.replace(whole, runs=whole.runs[[row in there for row in rows]])


@pytest.mark.parametrize(
    ("text", "width"), [("0.02", Width(0.02)), ("2%", Width(0.02, relative=True)), ("3", Width(3))]
)
def test_a_width_is_a_number_or_a_share_of_the_mean(text: str, width: Width) -> None:
    """And it is shown as it was written, but for a space."""
    assert read_width(text) == width
    assert str(width).replace(" ", "") == text


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "two", "%"])
def test_other_widths_are_refused(text: str) -> None:
    """By one message that names the option."""
    with pytest.raises(UserError, match=r"^--precision "):
        read_width(text)


def test_more_spread_takes_more_seeds() -> None:
    """Five values with a deviation of 1, and t = 2.776: 31 seeds for half a deviation, 124 for a quarter."""
    values = [-1.264911, -0.632456, 0, 0.632456, 1.264911]
    assert seeds_needed(values, Width(0.5)) == 31
    assert seeds_needed(values, Width(0.25)) == 124
    assert seeds_needed(values, Width(5)) == 5
    assert seeds_needed([7, 7], Width(0.1)) == 2
    assert seeds_needed([1], Width(0.1)) == float("inf")


def test_intervals_after_steins_rule_cover_the_mean() -> None:
    """At least 94 % of normal samples; where seeds are added one by one fewer do."""
    for width in (0.5, 1.0):
        assert stein(POPULATIONS[NORMAL], width, 500).covered >= ENOUGH
    assert naive(POPULATIONS[NORMAL], 0.5, 500).usual < ENOUGH


@pytest.mark.parametrize("offset", [0.0, 4.0])
def test_intervals_that_settle_claims_cover_the_mean(offset: float) -> None:
    """Whether the mean is at its threshold, where looking often misleads, or far above it, where few seeds suffice."""
    found = claims(POPULATIONS[NORMAL], offset, 100)
    assert found.covered >= ENOUGH
    assert found.seeds > 9 if offset == 0 else found.seeds < 7


@given(st.integers(min_value=2, max_value=30), st.integers(min_value=0, max_value=300))
def test_looks_go_from_the_first_seeds_to_the_most(first: int, more: int) -> None:
    """They grow, and all but the last err by one per cent together."""
    schedule = looks(first, first + more)
    assert schedule[-1] == first + more
    assert schedule == sorted(set(schedule))
    assert schedule[0] == first
    early = sum(significance_of(look, len(schedule)) for look in range(len(schedule) - 1))
    assert early == pytest.approx(EARLY_ERROR if more else 0)


def test_points_have_seeds_of_their_own() -> None:
    """Above those that all points have; and the description counts and names the same runs."""
    sweep = dataclasses.replace(SWEEP, seeds=(0, 1), more_seeds={C2: 5, C8: 2})
    points = expand(sweep)
    assert [point.seed for point in points if point.name == C2] == [0, 1, 2, 3, 4]
    assert len(points) == 8 * 2 + 3 == count_points(sweep) == count_runs(describe(sweep))
    assert list(further_runs(describe(sweep))) == [(C2, 2), (C2, 3), (C2, 4)]


def test_what_is_asked_later_is_added(tmp_path: Path) -> None:
    """A folder's description keeps the most seeds of each point, whoever asked for them."""
    for more in ({C2: 5}, {C2: 4, C8: 3}):
        with opened_results(dataclasses.replace(SWEEP, seeds=(0, 1), more_seeds=more), tmp_path):
            (tmp_path / "traces").mkdir(exist_ok=True)
    with opened_results(dataclasses.replace(SWEEP, seeds=(0, 1)), tmp_path):
        text = (tmp_path / "sweep.json").read_text()
    assert f'"{C2}": 5' in text
    assert f'"{C8}": 3' in text


def test_the_first_seeds_alone_say_how_many_a_metric_needs() -> None:
    """Runs that are there beyond them change nothing, so that the same command goes on where it was."""
    first = part_of(dataclasses.replace(SWEEP, seeds=(0, 1, 2)))
    wanted = for_metric(SWEEP, first, DELAY_MEAN_S, PRECISION)
    assert for_metric(SWEEP, part_of(SWEEP), DELAY_MEAN_S, PRECISION) == wanted
    assert set(wanted.seeds) == set(points_of(SWEEP))
    assert all(3 <= seeds <= 10 for seeds in wanted.seeds.values())
    with pytest.raises(UserError, match="metric"):
        for_metric(SWEEP, first, "dealy", PRECISION)


def test_points_of_open_claims_get_more_seeds_and_no_others() -> None:
    """One is about C2 at 8 m/s, and one, that brokers send more than clients, about no AODV."""
    first = part_of(dataclasses.replace(SWEEP, seeds=(0, 1, 2)))
    for number, touched in ((7, "config=C2/speed=8"), (9, "agent=mft")):
        wanted = for_claims(SWEEP, first, [THESIS_CLAIMS[number]], dataclasses.replace(PRECISION, width=Width(1e-9)))
        more = [point for point, seeds in wanted.seeds.items() if seeds > 3]
        assert all(touched in point for point in more)
        assert bool(more) != bool(wanted.settled)


@pytest.mark.parametrize("tests", [(), THESIS_CLAIMS[6:8]])
def test_runs_are_made_until_it_is_known(
    tests: Sequence[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is made that is not asked for, each point ends with what it needs, and a second time all is there."""
    made: list[Sweep] = []
    monkeypatch.setattr(sweeps, "_measured", lambda *_: (part_of(made[-1]), []))

    def make(sweep: Sweep) -> list[str]:
        made.append(sweep)
        return []

    asked = PrecisionOptions("0.01", None, None)
    for _ in range(2):
        assert run_until_known(SWEEP, Path("out"), asked, tests, NOTHING, make, "local") == []  # type: ignore[arg-type]
        said = capsys.readouterr().out
        assert said.startswith("seeds for ")
        assert all(point in said for point in made[-1].more_seeds)
    assert max(count_points(sweep) for sweep in made) == count_points(made[-1]) <= count_points(SWEEP)
    assert all(seeds <= 10 for seeds in made[-1].more_seeds.values())


def test_more_first_seeds_than_there_may_be_are_refused() -> None:
    """A point would begin beyond its end."""
    with pytest.raises(UserError, match="--first-seeds"):
        PrecisionOptions("0.1", None, 11).precision(5, range(10))


@pytest.mark.parametrize("seeds", [range(3, 13), (0, 1, 3)])
def test_a_precision_of_other_seeds_than_the_first_is_refused(seeds: Sequence[int]) -> None:
    """It adds seeds from 0 up, to each point as many as that needs."""
    with pytest.raises(UserError, match=r"--precision adds seeds from 0 up, and not .*\.\..*: give --seeds a number"):
        PrecisionOptions("0.1", None, None).precision(5, seeds)


def test_seeds_that_a_folder_has_beyond_the_first_have_no_part_in_a_precision(tmp_path: Path) -> None:
    """Others ask for them in the same folder; every run is counted, and named, once."""
    grown = dataclasses.replace(SWEEP, seeds=(0, 1), more_seeds={C2: 5}, precision="--precision 0.1")
    for sweep in (dataclasses.replace(SWEEP, seeds=(4, 5, 20)), grown):
        with opened_results(sweep, tmp_path):
            (tmp_path / "traces").mkdir(exist_ok=True)
    asked = read_asked(tmp_path)
    assert asked["seeds"] == [0, 1, 4, 5, 20]
    assert list(further_runs(asked)) == [(C2, 2), (C2, 3)]
    assert count_runs(asked) == 8 * 5 + 2
    assert " --seeds 0..5,20..20 --out r" in command_of(asked, "r")
    assert "--precision" not in command_of(asked, "r")


def test_a_metric_that_there_is_not_is_refused_before_any_run_is_made() -> None:
    """A mistyped name would otherwise be told after hours."""

    def make(_: Sweep) -> list[str]:
        raise AssertionError("a run was made")

    with pytest.raises(UserError, match="unknown metric 'hop_mean': did you mean 'hops_mean'"):
        run_until_known(SWEEP, Path("out"), PrecisionOptions("0.01", "hop_mean", None), (), NOTHING, make, "local")


@pytest.mark.parametrize(
    "name", ["two kinds of runs (0.9 and 0.5, 3 to 1)", "1 in 20 runs delivers nothing, others 0.97"]
)
def test_runs_of_two_kinds_do_not_pass_before_both_have_been_seen(name: str) -> None:
    """Where all seeds so far are of the better kind, an interval alone shows too much in 20 and 70 of 100 cases."""
    assert asserted(INDEPENDENT[name], 0.0, 300).passes <= 0.05 + 0.03


@pytest.mark.parametrize("name", [NORMAL, RATE, SKEWED])
def test_a_bounded_test_keeps_its_level_and_has_power(name: str) -> None:
    """With the mean at the bound it passes, and fails, in 5 of 100 cases at most; half a deviation off it knows.

    A rate of 0.94 has to be 0.06 off, or worse runs may have been missed.
    """
    population = POPULATIONS[name]
    at, above = (asserted(population, by, 600) for by in (0.0, 0.06 if name == RATE else 0.5 * population.sigma))
    chance = 0.02  # of 600 trials, more than two standard deviations
    assert max(at.passes, at.fails) <= 0.05 + chance
    assert above.passes >= 0.85
    assert above.fails <= 0.005
