"""Real runs judge a search: they end where it does, and show it if it lacks something."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.agents import load_agent, own_agents
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import GIVEN_TREE, Overrides, follow
from roambus.extensions.exploring.checker import REPEATS, Bounds, Violation
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.instants import Instants
from roambus.extensions.exploring.model import Model
from roambus.extensions.exploring.property_checker import PropertyChecker
from roambus.extensions.exploring.real_runs import Judge
from roambus.extensions.exploring.scenario_file import parse_question
from roambus.extensions.exploring.tests.exploring import AGENTS, explored
from roambus.extensions.exploring.tests.random_agents import question

DECEIVING = Path(__file__).parent / "deceiving"
LINE = "links n1-n2\nsetup\n  n2 subscribes f1\n"
RING = "links n1-n2 n2-n3 n1-n3\nsetup\n  n3 subscribes f1\nmay n1 publishes e1\n"
LATE = f"agent {DECEIVING / 'late_failure.py'}\n{LINE}  link n2->n1 down\nmay 2 times n1 publishes e1\n"
FLOODING = "agent flooding jitter=0s\n"


def judged(text: str, runs: int, states: int = 3000) -> tuple[Judge, list[Violation]]:
    """A judge after so many runs, and the violations that only these have found."""
    exploration = Exploration(parse_question(Path("question.txt"), text), Overrides(), keep_on=True)
    exploration.checker.run(Bounds(states=states))
    judge = Judge(exploration.checker, Writer(exploration.initial), exploration._fresh)
    known = {violation.name for violation in exploration.checker.violations}
    found = [judge.judge(1) for _ in range(runs)]
    return judge, [violation for violation in found if violation is not None and violation.name not in known]


def seeds_of_untimed(count: int) -> Iterator[int]:
    """Random agents that go by no times."""
    return (seed for seed in range(count) if seed % 4 != 1)


@pytest.mark.parametrize("faults", ["", "may 1 link changes\nmay 1 crash\nmay 1 recovery\n"])
def test_runs_of_random_agents_end_where_the_search_does(faults: str) -> None:
    """With all deliveries, and the states of all agents."""
    runs = 0
    for seed in seeds_of_untimed(8):
        judge, found = judged(f"{question(seed)}\n{faults}", runs=3)
        assert found == [], seed
        runs += judge.runs * judge.is_complete
    assert runs >= 6


@pytest.mark.slow
@pytest.mark.parametrize("faults", ["", "may 1 link changes\nmay 1 crash\nmay 1 recovery\n"])
def test_a_thousand_runs_of_random_agents_end_where_the_search_does(faults: str) -> None:
    """On random networks."""
    runs = 0
    for seed in seeds_of_untimed(100):
        judge, found = judged(f"{question(seed)}\n{faults}", runs=20)
        assert found == [], seed
        runs += judge.runs * judge.is_complete
    assert runs > 500


ON_A_FIELD = {"geocast", "gpsr"}
SETTINGS = {
    "replicated": "sites=a:0/0;b@a:1/1",
    "skip-ring": "supervisor=0",
}


@pytest.mark.parametrize("name", sorted(set(own_agents()) - ON_A_FIELD - SETTINGS.keys()))
def test_runs_of_a_shipped_agent_end_where_the_search_does(name: str) -> None:
    """Or, of agents that go by times, violate nothing."""
    own = {parameter.name for parameter in fields(load_agent(name).parameters_type)}
    is_tree = own >= GIVEN_TREE.keys() or name == "simple"
    network = "tree\n  b1/p1\n    b2/s2\nmay 1 tree changes\n" if is_tree else "links n1-n2 n2-n3\nmay 1 link changes\n"
    likes = "may 1 subscription to f1\nmay 1 publication of e1\nmay 1 crash\nmay 1 recovery\n"
    head = f"agent {name}{' jitter=0s' * ('jitter' in own)}\n"
    judge, found = judged(f"{head}{network}{likes}must nothing unwanted\nmust probes arrive\n", runs=5, states=1000)
    assert (judge.runs >= 4, found) == (True, [])


def lacking(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Have the search lack something."""
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))


def test_a_search_that_lacks_an_order_at_one_instant_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the search says that the property holds."""
    lacking(monkeypatch, Instants, "pending", lambda _: lambda *_: None)
    found = explored(f"{LATE}must nothing twice\n").report("late")
    assert found.verdicts["nothing twice"].startswith("does not hold: e1#2 was delivered to n2 2 times")
    (shown,) = found.counterexamples
    assert shown.transcript == follow(parse_document(Path("late.txt"), shown.transcript))
    assert shown.transcript.count("n2 delivers e1#2") == 2


def first_only(arrivals: Any) -> Any:
    """Only the first link's message arrives."""

    def first(self: Model, state: Any, soonest: Any = None) -> Iterator[Any]:
        links: set[Any] = set()
        for step, after in arrivals(self, state, soonest):
            command: Any = self.steps[step].command
            links |= set() if links else {(command.sender, command.receiver)}
            if (command.sender, command.receiver) in links:
                yield step, after

    return first


def test_a_search_that_lacks_an_order_of_arrivals_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counterexample is a run, which `trace` repeats."""
    lacking(monkeypatch, Model, "arrivals", first_only)
    found = explored(f"agent {DECEIVING / 'repeats_later.py'}:Wrong\n{RING}must nothing twice\n").report("ring")
    (shown,) = found.counterexamples
    assert (shown.name, found.verdicts["nothing twice"].partition(":")[0]) in {
        (REPEATS, "not decided"),
        ("nothing twice", "does not hold"),
    }
    assert shown.transcript == follow(parse_document(Path("ring.txt"), shown.transcript))


def test_a_search_that_lacks_states_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands come only while nothing is under way; the agents are drawn, and violate nothing that is asked."""
    lacking(monkeypatch, Model, "_commands", lambda old: lambda *its: old(*its) if its[0].is_idle(its[1]) else [])
    found = [violation for seed in (3, 7, 16) for violation in judged(question(seed), runs=12)[1]]
    assert {violation.name for violation in found} == {REPEATS}
    assert any(violation.text.startswith("a run ends, and the search never, when n") for violation in found)


def test_a_probe_of_a_run_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the search takes every probe for right."""
    lacking(monkeypatch, PropertyChecker, "failed_probe", lambda _: lambda *_: (None, ()))
    found = explored(f"agent {AGENTS}:Announcing\nlinks n1-n2\nmay n2 subscribes f1\nmust probes arrive\n").report(
        "probe"
    )
    assert found.verdicts["probes arrive"].startswith("does not hold: what n1 publishes comes 0 times to n2")


def test_a_moment_that_the_search_has_not_is_found_in_a_run() -> None:
    """The verdict would be bounded to the moments of other events, and a run shows more than that."""
    found = explored(f"agent {DECEIVING / 'between.py'}\n{LINE}may n1 publishes e1\nmust nothing twice\n").report("x")
    assert found.verdicts == {"nothing twice": "does not hold: e1 was delivered to n2 2 times"}
    (shown,) = found.counterexamples
    assert "by hand" not in shown.transcript
    assert shown.transcript == follow(parse_document(Path("between.txt"), shown.transcript))


@pytest.mark.parametrize(("line", "runs"), [("for 10s", 0), ("calm 5s", 0), ("messages fast", 4), ("", 4)])
def test_a_question_that_cuts_time_off_is_not_judged(line: str, runs: int) -> None:
    """A run would go on after its end."""
    judge, found = judged(f"{FLOODING}{LINE}{line}\nmay n1 publishes e1\nmust nothing twice\n", runs=4)
    assert (judge.runs, found) == (runs, [])


def test_the_verdict_says_how_many_runs_there_were() -> None:
    """Beside the walks."""
    found = explored(f"{FLOODING}{LINE}may n1 publishes e1\nmust nothing twice\n").report("line")
    assert found.real_runs > 0
    assert f"{found.walks} fresh runs repeated {found.walked_steps} steps, and {found.real_runs} others" in "\n".join(
        found.lines()
    )


FIRST = '''"""Knows from whom it heard first."""
from roambus import BROADCAST, Agent, Message, Publish, on


class Tell(Message, tag=1):
    """Says that something was published."""


class A(Agent):
    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.first = None

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell())

    @on(Tell)
    def listen(self, tell, sender, now):
        if self.first is None:
            self.first = sender{now}
            self.send(BROADCAST, tell)
'''
HEARD = """from roambus.extensions.exploring.properties import at_any_time


@at_any_time
def first_is_near(view):
    return "it is not" if view.agents[2].first == 1 else None
"""


@pytest.mark.parametrize("now", ["", " + 0 * now"])
def test_a_run_whose_setup_ends_elsewhere_is_not_judged(tmp_path: Path, now: str) -> None:
    """The search begins where the links of the question lead, and so do runs that count."""
    (tmp_path / "first.py").write_text(FIRST.format(now=now))
    (tmp_path / "heard.py").write_text(HEARD)
    head = f"agent {tmp_path / 'first.py'}\nlinks n1-n2 n2-n3 n1-n3\nsetup\n  n1 publishes e1\n"
    judge, found = judged(f"{head}may n2 publishes e1\nmust {tmp_path / 'heard.py'}:first_is_near\n", runs=40)
    assert found == []
    assert 10 < judge.runs < 40


def test_a_state_of_an_agent_that_the_search_lacks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders have the same deliveries and properties."""
    lacking(monkeypatch, Model, "arrivals", first_only)
    (tmp_path / "first.py").write_text(FIRST.format(now=""))
    text = f"agent {tmp_path / 'first.py'}\nlinks n1-n2 n2-n3 n1-n3\nmay n1 publishes e1\nmust eventually quiet\n"
    _, found = judged(text, runs=20)
    assert {violation.name for violation in found} == {REPEATS}
    assert all("in a state in which the search never ends" in violation.text for violation in found)


@pytest.mark.parametrize(("agent", "is_judged"), [("Beating", False), ("Announcing", True)])
def test_only_a_run_that_is_surely_quiet_has_commands_for_then(agent: str, is_judged: bool) -> None:
    """The beats of an agent can be under way at any drawn time."""
    text = f"agent {AGENTS}:{agent}\n{LINE}may n1 publishes e1 when quiet\nmust nothing twice\n"
    judge, found = judged(text, runs=3)
    assert (judge.runs > 0, found) == (is_judged, [])


def test_agents_with_timers_are_asked_what_holds_once_quiet(tmp_path: Path) -> None:
    """When no timer is left: between two moments of the search an answer makes a node forget."""
    text = (DECEIVING / "between.py").read_text()
    changes = {
        "        self.deliver(tell.notification)\n": "",
        "            self.deliver(self.kept)": "            self.kept = None",
        "        self.kept = None\n": "        if self.kept:\n            self.deliver(self.kept)\n",
    }
    for old, new in changes.items():
        text = new.join(text.rsplit(old, 1))
    (tmp_path / "forgets.py").write_text(text)
    question = f"agent {tmp_path / 'forgets.py'}\n{LINE}may n1 publishes e1\nmust everything delivered\n"
    assert explored(question).report("x").verdicts == {
        "everything delivered": "does not hold: e1 was not delivered to n2"
    }


def test_agents_with_timers_are_not_asked_before(tmp_path: Path) -> None:
    """A timer is left at the end of the run, and delivers later."""
    waits = """        self.kept = tell.notification
        self.set_timer("late", 90 * SECOND)

    @on_timer("late")
    def late(self, key, now):
        self.deliver(self.kept)
"""
    begin, *_ = (DECEIVING / "between.py").read_text().partition("        self.kept, self.since = ")
    (tmp_path / "late.py").write_text(begin + waits)
    text = f"agent {tmp_path / 'late.py'}\n{LINE}may n1 publishes e1\nmust everything delivered\n"
    judge, found = judged(text, runs=8)
    assert (judge.runs > 4, found) == (True, [])


def test_a_run_that_is_cut_off_is_not_over() -> None:
    """Two nodes send to each other for ever, up to the most events of a run."""
    text = f"agent {AGENTS}:Chatterbox\n{LINE}slot 5s\nmay n1 publishes e1\nmust nothing twice\n"
    judge, found = judged(text, runs=5)
    assert (judge.runs > 0, found) == (True, [])
