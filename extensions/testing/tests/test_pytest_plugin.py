"""The plugin of pytest: what tests of agents say, and that pytest pays nothing for it where nobody uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from roambus import pytest_plugin as public
from roambus.bridge.system.errors import UserError
from roambus.extensions.testing import pytest_plugin
from roambus.extensions.testing.pytest_plugin import Point
from roambus.spark.metrics.catalogue import delivery_rate_all, messages_per_node
from roambus.spark.metrics.metric import Metric

UNUSED = """
import sys

def test_nothing_is_imported():
    plugin = "roambus.extensions.testing.pytest_plugin"
    assert [name for name in sys.modules if name.startswith("roambus.") and not plugin.startswith(name)] == []
"""
USED = """
SMALL = {"nodes": 4, "side": 20, "publish_interval": 1, "time_limit": 3}

def test_it_delivers(roambus_point):
    roambus_point("field", "flooding", settings=SMALL, backend="ideal").at_least("delivery_rate_all", 0.3)

def test_it_sends_nothing(roambus_sweep):
    (point,) = roambus_sweep("field", ["flooding"], settings={**SMALL, "nodes": [4]}, backend="ideal")
    point.at_most("messages_per_node", 1)
"""


def run_pytest(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Pytest in a process of its own, as a stranger's project has it."""
    (folder / "test_agent.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options], cwd=folder, capture_output=True, text=True, check=False
    )


def test_pytest_starts_without_anything_of_it(tmp_path: Path) -> None:
    """The plugin is there in every project: it warns of nothing, and imports nothing else before a fixture is used."""
    done = run_pytest(tmp_path, UNUSED, "-W", "error")
    assert "1 passed" in done.stdout, done.stdout


def test_the_types_have_public_names() -> None:
    """Tests of packages that `roambus new` wrote import them."""
    assert (public.Point, public.PointMaker) == (Point, pytest_plugin.PointMaker)


def test_a_test_passes_and_fails_and_its_command_shows_a_film(tmp_path: Path) -> None:
    """Runs are kept in pytest's cache, so the second time none is made; the command that is printed works."""
    done = run_pytest(tmp_path, USED)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "messages_per_node of flooding on field, nodes 4" in done.stdout
    assert re.search(r"mean \d+\.?\d*, 95 % interval \d+\.?\d* to \d+\.?\d*, of 5 seeds:", done.stdout)
    assert all(f"(seed {seed})" in done.stdout for seed in range(5))
    (command,) = set(re.findall(r"roambus replay (\S+ --again --trust)", done.stdout))  # $CI repeats it in the summary
    film = [sys.executable, "-m", "roambus", "replay", *command.split(), "--export", "film.html"]
    subprocess.run(film, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "film.html").stat().st_size > 10_000
    again = run_pytest(tmp_path, USED, "-rA", "-k", "delivers")
    assert "runs done 0, already there 5, failed 0" in again.stdout


@dataclass(frozen=True)
class Given(Point):
    """A point whose values are given, not measured."""

    given: Sequence[float] = ()

    def values(self, metric: str | Metric, seeds: int) -> dict[int, float]:
        del metric
        return dict(enumerate(self.given[:seeds]))

    def _runs(self, seeds: int) -> list[Path]:
        return [Path(f"seed={seed}") for seed in range(seeds)]


def given(*values: float) -> Given:
    return Given("field", "flooding", Path(), given=values * (60 // len(values)))


def test_the_outcomes() -> None:
    """A mean far from the bound is known after five seeds; one at the bound is undecided, and the test fails."""
    rates = given(0.90, 0.92, 0.94, 0.91, 0.93)
    known = rates.at_least(delivery_rate_all, 0.5)
    assert len(known.values) == 5
    assert 0.88 < known.interval.low < 0.92 < known.interval.high < 0.95
    with pytest.raises(AssertionError, match=r"^delivery_rate_all of flooding on field is at least 0.99: does not"):
        rates.at_least(delivery_rate_all, 0.99)
    undecided = (
        r"is at most 0.92: undecided: 60 seeds, the most that there may be, do not tell\n  mean 0.92, .* 60 seeds:"
    )
    with pytest.raises(AssertionError, match=undecided) as failed:
        rates.at_most(delivery_rate_all, 0.92)
    assert "the worst run, seed 2, as a film:\n    roambus replay seed=2 --again --trust" in str(failed.value)


@pytest.mark.parametrize("confidence", [95, 1, 0, -1, 2, float("nan")])
def test_a_confidence_is_a_share(confidence: float) -> None:
    """It is refused before any run, for means and for shares."""
    for check in (given(50.0).at_most, given(50.0).at_least):
        with pytest.raises(ValueError, match=f"confidence: {confidence:g} is not a share between 0 and 1"):
            check(delivery_rate_all, 60, confidence=confidence)
    with pytest.raises(ValueError, match="confidence"):
        given(0.5).no_worse_than(given(0.5), delivery_rate_all, by=0.1, confidence=confidence)


def test_a_perfect_record_is_judged_by_its_length() -> None:
    """A rate of 1 in each of 60 seeds shows 0.95, not 0.96: what fails in one run of 25 may have failed in none."""
    perfect = given(1.0)
    assert len(perfect.at_least(delivery_rate_all, 0.5).values) == 5
    assert len(perfect.at_least(delivery_rate_all, 0.95).values) == 60
    with pytest.raises(AssertionError, match="undecided"):
        perfect.at_least(delivery_rate_all, 0.96)


def test_a_rate_is_shown_by_as_many_seeds_as_would_meet_worse_runs() -> None:
    """Runs of 0.92 show 0.8 with 27 seeds, and would show 0.9 with 137: five seeds miss a run in three too often."""
    rates = given(0.90, 0.92, 0.94, 0.91, 0.93)
    assert len(rates.at_least(delivery_rate_all, 0.8).values) == 27
    with pytest.raises(AssertionError, match=r"do not tell; 137 would, if their mean were the same \(most=137\)"):
        rates.at_least(delivery_rate_all, 0.9)


def test_no_worse_than_compares_seed_by_seed() -> None:
    """Seeds differ by more than the agents; less is better of a cost, more of a share, unless the test says."""
    costs, more = given(10, 20, 30, 40, 50), given(10.4, 20.6, 30.5, 40.4, 50.6)
    more.no_worse_than(costs, messages_per_node, by=1)
    costs.no_worse_than(more, messages_per_node, by=0.001)
    with pytest.raises(AssertionError, match=r"may be at most 1 % worse than that of flooding on field: does not hold"):
        given(11, 22, 33, 44, 55).no_worse_than(costs, messages_per_node, by="1%")
    with pytest.raises(AssertionError, match="does not hold"):
        costs.no_worse_than(more, messages_per_node, by=0.1, less_is_better=False)
    rates, lower = given(0.9, 0.8, 0.7), given(0.88, 0.79, 0.69)
    lower.no_worse_than(rates, delivery_rate_all, by=0.05)
    with pytest.raises(AssertionError, match="does not hold"):
        lower.no_worse_than(rates, delivery_rate_all, by=0.005)


def test_what_cannot_be_measured() -> None:
    """An unknown metric is named with those that are near; runs without a value leave it undecided."""
    with pytest.raises(UserError, match="delivery_rate_all"):
        Given("field", "flooding", Path()).at_least("delivery_rate_al", 0.5)
    with pytest.raises(AssertionError, match="none of 60 runs has a value"):
        Given("field", "flooding", Path()).at_least("delivery_rate_all", 0.5)


MISTAKEN = """
SMALL = {"nodes": 4, "time_limit": 3}

def test_most(roambus_point):
    roambus_point("field", "flooding", settings=SMALL, backend="ideal", most=0)

def test_by(roambus_point):
    point = roambus_point("field", "flooding", settings=SMALL, backend="ideal")
    point.no_worse_than(point, "messages_per_node", by="-10%")

def test_metric(roambus_point):
    roambus_point("field", "flooding", settings=SMALL, backend="ideal").at_most("message", 1)
"""


def test_a_mistake_is_shown_at_the_line_of_the_test(tmp_path: Path) -> None:
    """With the name of the argument, and without frames of roambus."""
    done = run_pytest(tmp_path, MISTAKEN)
    assert "3 failed" in done.stdout, done.stdout
    assert "most=0: give a whole number from 1 on" in done.stdout
    assert "by=-10%: write a number above 0, such as 0.02 or 2%" in done.stdout
    assert "unknown metric 'message'" in done.stdout
    places = set(re.findall(r"^(\S+\.py):\d+: ", done.stdout, re.M))
    assert places == {"test_agent.py"}
