"""Fresh runs against the search: state that lies outside of an agent is found, wherever it hides."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from roambus.bridge.system.child_process import EndedError
from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.checker import REPEATS, Bounds
from roambus.extensions.exploring.copies import Copier
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.fresh_runs import FreshProcesses
from roambus.extensions.exploring.repetition import Repetition
from roambus.extensions.exploring.scenario_file import parse_question
from roambus.extensions.exploring.snapshots import Item, Snapshot, difference
from roambus.extensions.exploring.tests.exploring import AGENTS, explored
from roambus.extensions.exploring.verdicts import Report
from roambus.python_protocol.filters import NotificationId

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
        self.is_broken = self.wants = False

    @on(Subscribe)
    def subscribe(self, event, now):
        self.wants = True

    @counted
    def called(self):
        """Is replaced by a count of its calls."""

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Ping())
        self.send(BROADCAST, Tell(event.notification))
        if self.wants:
            self.deliver(event.notification)

    @on(Ping)
    def ping(self, ping, sender, now):
        self.is_broken = self.bump() == 3

    @on(Tell)
    def listen(self, tell, sender, now):
        if self.wants and dict(tell.notification.attributes)["topic"] == 1:
            self.deliver(tell.notification)
            if self.is_broken:
                {broken}

    def bump(self):
        {line}
'''


def stateful(line: str, broken: str = "self.deliver(tell.notification)") -> str:
    """An agent that does something else with every third notification, which it counts elsewhere."""
    return STATEFUL.format(line=line, broken=broken)


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
    (tmp_path / "outside.py").write_text(stateful(line))
    found = report(f"agent {tmp_path / 'outside.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("not decided: a fresh run differs from the search")
    (shown,) = found.counterexamples
    assert shown.name == REPEATS
    assert "in a fresh run" in shown.text


def test_state_in_another_module_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two imports away."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "deep_counts.py").write_text("seen = []\n\n\ndef bump():\n    seen.append(1)\n    return len(seen)\n")
    (tmp_path / "near_counts.py").write_text("import deep_counts\n\nbump = lambda: deep_counts.bump()\n")
    line = "import near_counts; return near_counts.bump()"
    (tmp_path / "outside.py").write_text(stateful(line))
    assert [
        counterexample.name
        for counterexample in report(f"agent {tmp_path / 'outside.py'}:A\n{QUESTION}").counterexamples
    ] == [REPEATS]


def test_the_same_state_in_an_attribute_is_explored(tmp_path: Path) -> None:
    """Then the fault is found, and the runs do what the search has seen."""
    line = "self.number = getattr(self, 'number', 0) + 1; return self.number"
    (tmp_path / "inside.py").write_text(stateful(line))
    found = report(f"agent {tmp_path / 'inside.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("does not hold: ")
    assert found.walks > 1


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (
            "self.deliver(tell.notification)",
            "n2 has delivered e1, e1#2, e1#3, e1#3 in a fresh run, and e1, e1#2, e1#3 in",
        ),
        (
            "self.send(sender, tell)",
            "under way n2 -> n1 TELL notification=e1#3 in a fresh run, and nothing in the search",
        ),
        ("self.set_timer('late', 3)", "timers of n2 'late' in 3ns in a fresh run, and nothing in the search"),
        ("self.is_known = True", "violations mine: it is known in a fresh run, and nothing in the search"),
        ("raise ValueError('three')", "a fresh run ends: "),
        ("os._exit(3)", "a fresh run ends: the agent ended the process of its run, with exit code 3"),
    ],
)
def test_each_part_of_a_state_is_compared(tmp_path: Path, broken: str, said: str) -> None:
    """Deliveries, messages, timers, and the properties: each is named where it alone differs."""
    (tmp_path / "outside.py").write_text(stateful("A.count += 1; return A.count", broken))
    (tmp_path / "mine.py").write_text(
        "from roambus.extensions.exploring.properties import at_any_time\n\n\n@at_any_time\ndef mine(view):\n"
        "    return 'it is known' if hasattr(view.agents[1], 'is_known') else None\n"
    )
    found = report(f"agent {tmp_path / 'outside.py'}:A\n{QUESTION}must {tmp_path / 'mine.py'}:mine\n")
    (shown,) = found.counterexamples
    assert (shown.name, said in shown.text) == (REPEATS, True), shown.text


def test_what_only_a_probe_shows_is_found(tmp_path: Path) -> None:
    """No published notification is wanted, so that only a probe is delivered, and in the fresh run twice."""
    (tmp_path / "outside.py").write_text(stateful("A.count += 1; return A.count"))
    text = QUESTION.replace("publishes e1", "publishes e2").replace("nothing twice", "probes arrive")
    (shown,) = report(f"agent {tmp_path / 'outside.py'}:A\n{text}").counterexamples
    assert (shown.name, "n2 has delivered e1, e1 in a fresh run, and e1 in the search" in shown.text) == (
        REPEATS,
        True,
    ), shown.text
    assert shown.transcript.count("n2 delivers e1") == 2


SETS = '''"""Remembers in a set."""
from roambus import BROADCAST, Agent, Message, Notification, Publish, Subscribe, on


class Tell(Message, tag=1):
    """A notification on its way."""

    notification: Notification


class A(Agent):
    """Delivers what is new, and repeats all that it knows of in the order of the set."""

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.known = set()

    @on(Subscribe)
    def subscribe(self, event, now):
        pass

    @on(Publish)
    def publish(self, event, now):
        self.send(BROADCAST, Tell(event.notification))

    @on(Tell)
    def listen(self, tell, sender, now):
        if tell.notification{key} not in self.known:
            self.known.add(tell.notification{key})
            for _ in self.known:
                self.note("order", detail=str(list(self.known)))
            self.deliver(tell.notification)
'''


@pytest.mark.parametrize("key", [".id", ".id.sequence", ".attributes", ""])
def test_an_agent_may_keep_sets(tmp_path: Path, key: str) -> None:
    """Of every kind: one whose copy is in another order is stored in an order whose copy is in its own."""
    (tmp_path / "sets.py").write_text(SETS.format(key=key))
    lines = "links n1-n2 n2-n3\nsetup\n  n2 subscribes f1\nmay 3 times n1 publishes e1\nmay 3 times n3 publishes e1\n"
    found = report(f"agent {tmp_path / 'sets.py'}:A\n{lines}must nothing twice\n")
    assert found.verdicts["nothing twice"].startswith("holds ")


def test_a_set_has_the_order_of_its_original() -> None:
    """Also if a copy of the copy is in it and the copy itself in another, as of every sixth set."""
    random, turned = Random("sets"), 0
    for _ in range(500):
        ids = {NotificationId(random.randrange(6), random.randrange(8)) for _ in range(random.randint(1, 12))}
        narrowed = set[str]()
        copier = Copier(Random(0))
        copied = copier.decode(copier.encode_stable(ids, 0, narrowed), 0)
        assert copied == ids
        assert narrowed or list(copied) == list(ids)
        assert copier.encode_stable(copied, 0, set()) == copier.encode_stable(ids, 0, set())
        turned += list(copier.decode(copier.encode(ids), 0)) != list(ids) and not narrowed
    assert turned > 50


def test_nodes_share_what_they_share_in_a_run(tmp_path: Path) -> None:
    """A sentinel that is compared by `is` stays the same object."""
    text = stateful("return 3 * (self.last is not UNSET)").replace(
        "self.is_broken = ", "self.last = UNSET; self.is_broken = "
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


E1 = Item("0.0", "e1")


@pytest.mark.parametrize(
    ("searched", "fresh", "said"),
    [
        ({"n2 has delivered": (E1,)}, {}, "n2 has delivered nothing in a fresh run, and e1 in the search"),
        ({}, {"n2 has delivered": (E1,)}, "n2 has delivered e1 in a fresh run, and nothing in the search"),
        ({"x": (Item("1", "1"),)}, {"x": (Item("True", "1"),)}, "x True in a fresh run, and 1 in the search"),
        ({"x": (E1, E1)}, {"x": (E1,)}, "x e1 in a fresh run, and e1, e1 in the search"),
        ({"x": (E1._replace(shown="the probe"),)}, {"x": (E1,)}, None),
        ({"x": (E1._replace(shown="the probe"),)}, {"x": (E1, E1)}, "x e1, e1 in a fresh run, and e1 in the search"),
    ],
)
def test_a_difference_is_named(searched: Snapshot, fresh: Snapshot, said: str | None) -> None:
    """With both sides of it in the words of the scenario, and exactly if these are the same."""
    assert difference(searched, fresh) == said


def test_each_run_has_a_process_of_its_own() -> None:
    """None sees what another has left behind."""
    left: list[int] = []

    def count(number: int) -> int:
        left.append(number)
        return len(left)

    fresh = FreshProcesses(count)
    assert [fresh.call(1), fresh.call(2)] == [1, 1]
    assert left == []


def test_what_another_run_has_left_is_no_finding() -> None:
    """Several requests share a process, until one is found: then each has its own."""
    left: list[int] = []

    def count(request: int | tuple[int, ...]) -> object:
        if isinstance(request, tuple):
            return list(map(count, request))
        left.append(request)
        return len(left), request

    def judge(request: int, outcome: tuple[int, int]) -> str | None:
        met.append(outcome)
        return f"{request} is found" if outcome[0] > 2 or request == 9 else None

    fresh, met = FreshProcesses(count), list[tuple[int, int]]()
    assert fresh.first([5, 6, 7, 8], judge) is None
    assert met == [(1, 5), (2, 6), (3, 7), (1, 7), (1, 8)]
    assert fresh.first([5, 9, 7], judge) == "9 is found"


def test_a_process_that_ends_is_judged_alone() -> None:
    """The one request that ends it is found, and not those that share its process."""

    def end(request: int | tuple[int, ...]) -> object:
        if request == 6 or (isinstance(request, tuple) and 6 in request):
            os._exit(3)
        return request

    def judge(request: int, outcome: object) -> str | None:
        return f"{request}: {outcome}" if isinstance(outcome, EndedError) else None

    fresh = FreshProcesses(end)
    assert fresh.first([5, 6, 7], judge) == "6: the agent ended the process of its run, with exit code 3"
    assert fresh.first([5, 7], judge) is None


def test_an_agent_may_know_all_agents_of_its_run(tmp_path: Path) -> None:
    """A class holds them: a run in a process that has made others would take those for its own."""
    text = stateful("return 3 * (len(A.all) > 2)").replace(
        "count, seen, counts = 0,", "all, count, seen, counts = [], 0,"
    )
    (tmp_path / "registry.py").write_text(text.replace("self.is_broken = ", "A.all.append(self); self.is_broken = ", 1))
    found = report(f"agent {tmp_path / 'registry.py'}:A\n{QUESTION}")
    assert found.verdicts["nothing twice"].startswith("holds in all ")


def test_enough_walks_differ_where_few_states_are_quiet() -> None:
    """A walk with a probe ends at a quiet state; if that has been taken, it goes on without one."""
    tree, may = "tree\n  b1/p1\n    b2/s2\n    b3/s3\n", "may 2 subscriptions to f1\nmay 2 tree changes\n"
    text = f"agent mft\n{tree}{may}must probes arrive\n"
    found = explored(text, Bounds(states=100)).report("tree")
    assert (found.walks, found.walked_steps > 20) == (10, True)
