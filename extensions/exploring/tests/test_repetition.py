"""Fresh runs against the search: state that lies outside of an agent is found, wherever it hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.checker import REPEATS, Bounds
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.fresh_runs import FreshProcesses
from roambus.extensions.exploring.repetition import Repetition
from roambus.extensions.exploring.scenario_file import parse_question
from roambus.extensions.exploring.snapshots import Snapshot, difference
from roambus.extensions.exploring.tests.exploring import AGENTS, explored
from roambus.extensions.exploring.verdicts import Report

QUESTION = "links n1-n2\nsetup\n  n2 subscribes f1\nmay 3 times n1 publishes e1\nmust nothing twice\n"
STATEFUL = '''"""Delivers the third notification twice; it knows from elsewhere how many there were."""
import contextvars, functools, itertools, logging, os, threading
from collections import defaultdict
from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on

COUNT, SEEN, LOCAL = 0, [], threading.local()
NUMBERS, CONTEXT = itertools.count(1), contextvars.ContextVar("count", default=0)
LOCAL.count = 0


def generate():
    number = 0
    while True:
        number += 1
        yield number


def remember(seen=[]):
    seen.append(1)
    return len(seen)


@functools.lru_cache
def cached(key):
    return []


def counted(function):
    calls = [0]

    def wrapper(*args):
        calls[0] += 1
        return calls[0]

    return wrapper


ENDLESS = generate()


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class Ping(Message, tag=2):
    """Comes before each notification, so that the search has merged what it counts."""


class A(Agent):
    """Counts outside of its state."""

    count, seen, counts = 0, [], defaultdict(int)
    handlers_met = {{"count": 0}}

    class Statistics:
        """Holds a count."""

        count = 0

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.is_broken = False

    @counted
    def called(self):
        """Is replaced by a count of its calls."""

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Ping())
        self.send(BROADCAST, Tell(event.notification))

    @on(Ping)
    def ping(self, ping, sender, now):
        self.is_broken = self.bump() == 3

    @on(Tell)
    def listen(self, tell, sender, now):
        self.deliver(tell.notification)
        if self.is_broken:
            self.deliver(tell.notification)

    def bump(self):
        {line}
'''


def report(text: str) -> Report:
    """The report about one network."""
    return explored(text).report("network")


@pytest.mark.parametrize(
    "line",
    [
        "global COUNT; COUNT += 1; return COUNT",
        "SEEN.append(1); return len(SEEN)",
        "A.count += 1; return A.count",
        "self.seen.append(1); return len(self.seen)",
        "return remember()",
        "self.counts[self.node] += 1; return self.counts[self.node]",
        "cached(self.node).append(1); return len(cached(self.node))",
        "return self.called()",
        "A.Statistics.count += 1; return A.Statistics.count",
        "LOCAL.count += 1; return LOCAL.count",
        "CONTEXT.set(CONTEXT.get() + 1); return CONTEXT.get()",
        "return next(NUMBERS)",
        "return next(ENDLESS)",
        "os.environ['COUNT'] = os.environ.get('COUNT', '') + '.'; return len(os.environ['COUNT'])",
        "one = logging.getLogger('count'); one.count = getattr(one, 'count', 0) + 1; return one.count",
        "A.handlers_met['count'] += 1; return A.handlers_met['count']",
        "Ping.count = getattr(Ping, 'count', 0) + 1; return Ping.count",
    ],
)
def test_state_outside_of_the_agent_is_found_by_a_fresh_run(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever holds it: the search has merged histories that differ, and a run tells them apart."""
    monkeypatch.delenv("COUNT", raising=False)
    (tmp_path / "outside.py").write_text(STATEFUL.format(line=line))
    found = report(f"agent {tmp_path / 'outside.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("not decided: an agent did not repeat what it did")
    (shown,) = found.counterexamples
    assert shown.name == REPEATS
    assert "in a fresh run" in shown.text


def test_state_in_another_module_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two imports away."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "deep_counts.py").write_text("seen = []\n\n\ndef bump():\n    seen.append(1)\n    return len(seen)\n")
    (tmp_path / "near_counts.py").write_text("import deep_counts\n\nbump = lambda: deep_counts.bump()\n")
    line = "import near_counts; return near_counts.bump()"
    (tmp_path / "outside.py").write_text(STATEFUL.format(line=line))
    assert [
        counterexample.name
        for counterexample in report(f"agent {tmp_path / 'outside.py'}:A\n{QUESTION}").counterexamples
    ] == [REPEATS]


def test_the_same_state_in_an_attribute_is_explored(tmp_path: Path) -> None:
    """Then the fault is found, and the runs do what the search has seen."""
    line = "self.number = getattr(self, 'number', 0) + 1; return self.number"
    (tmp_path / "inside.py").write_text(STATEFUL.format(line=line))
    found = report(f"agent {tmp_path / 'inside.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("does not hold: ")
    assert found.walks > 1


def test_nodes_share_what_they_share_in_a_run(tmp_path: Path) -> None:
    """A sentinel that is compared by `is` stays the same object."""
    text = STATEFUL.format(line="return 3 * (self.last is not UNSET)").replace(
        "self.is_broken = False", "self.is_broken, self.last = False, UNSET"
    )
    (tmp_path / "sentinel.py").write_text(
        text.replace("ENDLESS =", "class Unset: pass\n\n\nUNSET = Unset()\nENDLESS =")
    )
    found = report(f"agent {tmp_path / 'sentinel.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("holds in all ")


TREE = "tree\n  b1/p1/s1\n    b2/p2\n      b4\n    b3/s3\nclients s5@b2 s6@b3\n"
LIKES = "may 3 subscriptions to f1\nmay 2 unsubscriptions from f1\nmay 3 publications of e1\n"
FAULTS = "may 2 crashes\nmay 2 recoveries\nmay 1 loss\n"
LINKS = "links n1-n2 n2-n3 n3-n1\nloss n1->n2 0.5\n"
HONEST = {
    "mft": f"agent mft\n{TREE}{LIKES}{FAULTS}may 4 tree changes\n",
    "first approach": f"agent first-approach\n{TREE}{LIKES}{FAULTS}may 4 tree changes\n",
    "phoenix": f"agent phoenix\n{TREE}{LIKES}{FAULTS}may 4 client moves\n",
    "simple": f"agent simple\n{TREE}{LIKES}{FAULTS}may 4 client moves\norder any\n",
    "graph": f"agent {AGENTS}:Pushy\n{LINKS}{LIKES}{FAULTS}may 3 link changes\n",
    "drawn times": f"agent aodv link_layer=false\n{LINKS}{LIKES}{FAULTS}may 3 link changes\nchance ends\n",
    "relative": f"agent gossip\n{LINKS}{LIKES}{FAULTS}relative time\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_a_shipped_agent_repeats_what_it_did(name: str) -> None:
    """On eight walks and more through a graph of a thousand states, step by step."""
    text = f"{HONEST[name]}must nothing twice\nmust everything delivered\n"
    exploration = Exploration(parse_question(Path("question.txt"), text), Overrides())
    exploration.run(Bounds(states=1000))
    assert REPEATS not in [counterexample.name for counterexample in exploration.counterexamples]
    assert exploration.checker.figures.walked_steps > 16


def test_a_walk_reaches_merged_states_by_other_ways() -> None:
    """And it goes on to the end of the graph."""
    text = f"agent flooding jitter=0s\n{QUESTION}may n2 publishes e1\n"
    exploration = Exploration(parse_question(Path("question.txt"), text), Overrides())
    exploration.checker.run(Bounds())
    with_fresh: FreshProcesses = exploration._fresh
    repetition = Repetition(exploration.checker, Writer(exploration.initial), with_fresh)
    paths = [repetition._draw() for _ in range(20)]
    first = {exploration.checker.path(number) for number in range(len(exploration.checker))}
    assert sum(path not in first for path in paths) > 5
    assert len(set(paths)) > 10


@pytest.mark.parametrize(
    ("searched", "fresh", "said"),
    [
        ({"n2 has delivered": ("0.0",)}, {}, "n2 has delivered nothing in a fresh run, and 0.0 in the search"),
        ({}, {"timers of n1": ("'a' in 1s",)}, "timers of n1 'a' in 1s in a fresh run, and nothing in the search"),
        ({"violations": ("x",)}, {"violations": ("y",)}, "violations y in a fresh run, and x in the search"),
        ({"violations": ("x",)}, {"violations": ("x",)}, None),
    ],
)
def test_a_difference_is_named(searched: Snapshot, fresh: Snapshot, said: str | None) -> None:
    """With both sides of it."""
    assert difference(searched, fresh) == said


def test_each_run_has_a_process_of_its_own() -> None:
    """None sees what another has left behind."""
    left: list[int] = []

    def count(number: int) -> int:
        left.append(number)
        return len(left)

    fresh = FreshProcesses(count, lambda: None)
    assert [fresh.call(1), fresh.call(2)] == [1, 1]
    assert left == []
