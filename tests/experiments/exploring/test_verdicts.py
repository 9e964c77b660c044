"""What an exploration says of each property: only what it has seen all of holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.experiments.exploring.exploration import Report
from roambus.experiments.exploring.parallel import Request, explore_all
from roambus.experiments.exploring.search import Bounds
from tests.experiments.exploring.exploring import AGENTS

OUTCOMES = "64 outcomes of chance for one event"
ALL = "everything was explored"
PUBLISHED = "links n1-n2\nsetup\n  n1 subscribes f1\n  n2 subscribes f1\nmay n1 publishes e1\n"


def explored(folder: Path, agent: str, rest: str, jobs: int = 1, **options: Any) -> Report:
    """The report on one network in which an event is published that all want."""
    (folder / "question.txt").write_text(f"agent {AGENTS}:{agent}\n{PUBLISHED}{rest}\n")
    (found,) = explore_all(Request(folder / "question.txt", enough=1, **options), jobs)
    return found


def undecided(cut: str) -> str:
    """The verdict on a property that was not seen in all states."""
    return f"not decided: the search was cut at {cut}"


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_of_chance_that_were_not_tried_leave_it_undecided(tmp_path: Path, jobs: int) -> None:
    """Of the 128 outcomes of seven throws the last delivers twice, and 64 are tried."""
    found = explored(tmp_path, "Gambler", "must nothing twice", jobs)
    assert found.verdicts == {"nothing twice": undecided(OUTCOMES)}
    assert (found.is_complete, found.extent) == (False, f"cut at {OUTCOMES}")


def test_exactly_as_many_outcomes_as_are_tried_are_all(tmp_path: Path) -> None:
    """Six throws have 64."""
    found = explored(tmp_path, "CautiousGambler", "must nothing twice")
    assert found.verdicts == {"nothing twice": "holds"}
    assert (found.is_complete, found.extent) == (True, "everything was explored")


def test_a_search_that_goes_on_knows_still_where_it_was_cut(tmp_path: Path) -> None:
    """What was kept has the outcomes that were tried, and not those that were left out."""
    keep = tmp_path / "kept"
    explored(tmp_path, "Gambler", "must nothing twice", keep=keep)
    found = explored(tmp_path, "Gambler", "must nothing twice", keep=keep)
    assert found.verdicts == {"nothing twice": undecided(OUTCOMES)}


@pytest.mark.parametrize(
    ("agent", "line", "extent"),
    [
        ("Drawing", "chance least", f"{ALL}, with chance at the least value of each range"),
        ("Drawing", "chance ends", f"{ALL}, with chance at the ends of each range"),
        ("Tossing", "chance least", f"{ALL}, with chance at the least value of each range"),
        ("Tossing", "chance ends", ALL),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_values_that_stand_for_a_range_are_told(tmp_path: Path, agent: str, line: str, extent: str, jobs: int) -> None:
    """A 1 from 0, 1 and 2 would deliver twice, and is not tried; of 0 and 1 both are the ends."""
    assert explored(tmp_path, agent, f"{line}\nmust nothing twice", jobs).extent == extent


@pytest.mark.parametrize("jobs", [1, 2])
def test_without_a_quiet_state_nothing_is_said_of_what_is_asked_there(tmp_path: Path, jobs: int) -> None:
    """A timer is always set; what is asked at any time was asked in all states."""
    found = explored(tmp_path, "Beating", "must everything delivered\nmust nothing twice", jobs)
    assert found.quiet_states == 0
    assert found.verdicts == {
        "everything delivered": "says nothing: no quiet state was reached",
        "nothing twice": "holds",
    }
    assert (found.is_complete, found.extent) == (False, "all states were explored, and no quiet state was reached")


def test_nothing_is_eventually_quiet_that_never_was(tmp_path: Path) -> None:
    """No messages go to and fro, and yet there is no rest."""
    found = explored(tmp_path, "Beating", "must eventually quiet")
    assert found.verdicts == {"eventually quiet": "says nothing: no quiet state was reached"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_that_it_was_quiet_before_anything_happened_says_nothing(tmp_path: Path, jobs: int) -> None:
    """Nothing was published then, so that all of it was delivered."""
    found = explored(tmp_path, "LateBeating", "must everything delivered", jobs)
    assert found.quiet_states == 1
    assert found.verdicts == {"everything delivered": "says nothing: no quiet state was reached but the first"}


def test_a_network_in_which_nothing_may_happen_is_seen_in_its_only_state(tmp_path: Path) -> None:
    """It is quiet."""
    (tmp_path / "question.txt").write_text(f"agent {AGENTS}:Told\nlinks n1-n2\nmust everything delivered\n")
    (found,) = explore_all(Request(tmp_path / "question.txt"), 1)
    assert (found.states, found.verdicts) == (1, {"everything delivered": "holds"})


def test_timers_that_are_left_when_the_time_is_over_leave_it_undecided(tmp_path: Path) -> None:
    """A beat goes on after three seconds; an agent without timers is seen whole."""
    found = explored(tmp_path, "Beating", "for 3s\nmust nothing twice")
    assert found.verdicts == {"nothing twice": undecided("the time of the line 'for 3s'")}
    assert explored(tmp_path, "Told", "for 3s\nmust nothing twice").verdicts == {"nothing twice": "holds"}


def test_a_bound_and_no_quiet_state_are_both_told(tmp_path: Path) -> None:
    """Neither hides the other."""
    found = explored(tmp_path, "Beating", "must everything delivered", bounds=Bounds(depth=1))
    (verdict,) = found.verdicts.values()
    assert verdict == f"{undecided('the bound of 1 steps')}, and no quiet state was reached"


def test_what_was_not_looked_at_after_something_wrong_is_undecided(tmp_path: Path) -> None:
    """The search has ended; with `keep_on` it goes on, and knows."""
    rest = "must nothing twice\nmust everything delivered"
    found = explored(tmp_path, "Told", rest)
    assert found.verdicts["nothing twice"] == undecided("the first thing that is wrong")
    assert found.verdicts["everything delivered"].startswith("does not hold: ")
    assert explored(tmp_path, "Told", rest, keep_on=True).verdicts["nothing twice"] == "holds"
