"""Deliveries are judged on links that lose nothing, and a weaker guarantee is no mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roambus.bridge.agents import load_agent
from roambus.extensions.vetting.deliveries import Judge, is_judged, without_chance
from roambus.extensions.vetting.findings import Finding
from roambus.extensions.vetting.scenes import Job
from roambus.extensions.vetting.tests.students import DELIVERIES, HONEST, RIGHT, Student
from roambus.extensions.vetting.watching import Calls
from roambus.extensions.vetting.workload import (
    CRASHES,
    NETWORKS,
    NEWS,
    WORKLOAD,
    distances,
    notifications_in,
    observe,
    scenario_of,
    wants,
)
from roambus.python_protocol.baselines import Flood
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.simtime import SECOND

OVERLAYS = {"replicated": "sites=a:4..6/0..3+7", "skip-ring": "supervisor=4"}


def judge(agent: object, folder: Path, parameters: str = "") -> Judge:
    """The judge of an agent."""
    return Judge(Job(str(agent), parameters, folder), load_agent(str(agent)), Calls())


def found(agent: object, folder: Path, parameters: str = "") -> list[Finding]:
    """The mistakes in deliveries."""
    return list(judge(agent, folder, parameters).check())


@pytest.mark.parametrize("student", DELIVERIES, ids=lambda student: student.name)
def test_a_mistake_of_the_protocol_is_found(student: Student, tmp_path: Path) -> None:
    """Each changes one line of a right agent."""
    text = "\n".join(map(str, found(student.write(tmp_path), tmp_path)))
    assert re.search(student.says, text), text


@pytest.mark.parametrize("student", HONEST, ids=lambda student: student.name)
def test_a_right_agent_is_not_accused(student: Student, tmp_path: Path) -> None:
    """Also one that loses by chance, says what it drops, or delivers nothing at all."""
    assert found(student.write(tmp_path), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "agent",
    [
        "aodv", "beacon", "caching", "dsdv", "dsr", "epidemic", "first-approach", "flooding", "geocast", "gossip",
        "gossip-repair", "gpsr", "mft", "mft-lean", "olsr", "phoenix", "prophet", "replicated", "resubscribing",
        "simple", "skip-ring", "spray",
    ],
)  # fmt: skip
def test_no_agent_of_ours_is_accused(agent: str, tmp_path: Path) -> None:
    """Floods, routing, brokers, overlays, and protocols that carry what they cannot send."""
    assert found(agent, tmp_path, OVERLAYS.get(agent, "")) == []


def test_an_overlay_is_judged_with_links_between_all_nodes(tmp_path: Path) -> None:
    """In a grid it addresses nodes to which it has no link."""
    judged = judge("replicated", tmp_path, OVERLAYS["replicated"])
    assert [is_judged(judged.observe(network)) for network in NETWORKS[:2]] == [False, True]


def test_an_agent_that_knows_no_filters_may_deliver_everything(tmp_path: Path) -> None:
    """But what it loses is a mistake as of any other."""
    text = RIGHT.replace("@on(Subscribe)", "@on(Attach)").replace("@on(Unsubscribe)", "@on(Detach)")
    text = text.replace("if any(wanted.matches(notification) for wanted in self.filters):", "if hops:")
    file = tmp_path / "relay.py"
    file.write_text(text, encoding="utf-8")
    assert found(file, tmp_path) == []
    near = tmp_path / "near.py"
    near.write_text(text.replace("hops < self.parameters.ttl", "False"), encoding="utf-8")
    (problem,) = found(near, tmp_path)
    assert "is not delivered to node" in problem.problem


def test_what_a_node_drops_after_a_crash_with_a_note_is_no_mistake(tmp_path: Path) -> None:
    """The note names the notification; without it the node ignores what it wants."""
    note = "self.note('drop', notification_id=str(notification.id), detail='it may be old')"
    crash = "        self.forget()\n\n    @on_timer"
    text = RIGHT.replace(crash, f"        self.old = True\n{crash}")
    give = "        self.give(notification, hops)\n"
    text = text.replace(give, f"        if 'old' in vars(self):\n            {note}\n            return\n{give}")
    said, silent = tmp_path / "said.py", tmp_path / "silent.py"
    said.write_text(text, encoding="utf-8")
    silent.write_text(text.replace(note, "pass"), encoding="utf-8")
    assert [len(found(file, tmp_path)) for file in (said, silent)] == [0, 1]


def test_losses_by_chance_count_between_neighbours_and_in_bursts(tmp_path: Path) -> None:
    """With other losses for each seed, only those remain that no draw explains."""
    runs = [judge("flooding", tmp_path).observe(NETWORKS[0], seed) for seed in (1, 2)]
    burst = next(name for name in runs[0].published if runs[0].at(name) == 21 * SECOND)
    near, far, other = ("7.0", 3), ("0.0", 7), ("0.0", 2)
    assert [runs[0].distance(pair) for pair in (near, far, other)] == [1, 3, 2]

    def lost(*losses: set[tuple[str, int]]) -> set[tuple[str, int]]:
        for run, pairs in zip(runs, losses, strict=True):
            run.__dict__["counts"] = {pair: int(pair not in pairs) for pair in run.wanted}
        return without_chance(runs)

    assert lost({near, far}, {near, far}) == {near, far}
    assert lost({near, far, other}, {near, far}) == {near}
    assert lost({(burst, 7), other}, {(burst, 7)}) == {(burst, 7)}
    assert lost({(burst, 7), far}, {(burst, 7)}) == set()


def test_an_error_of_the_agent_is_a_finding(tmp_path: Path) -> None:
    """One that only this workload shows."""
    raising = Student("raises", "        self.filters.remove(event.filter)\n", "        raise ValueError(now)\n")
    (problem,) = found(raising.write(tmp_path), tmp_path)
    assert problem.check == "runs"
    assert "ValueError" in problem.problem


def test_the_workload_is_what_its_words_say(tmp_path: Path) -> None:
    """The second filter of node 3, its end, and the return of node 2."""
    news = Notification(NotificationId(0, 0), (("topic", "news"),))
    sport = Notification(NotificationId(1, 0), (("topic", "sport"), ("price", 20)))
    assert [wants(3, sport, at * SECOND) for at in (7, 9, 37)] == [False, True, False]
    assert [wants(2, news, at * SECOND) for at in (7, 9, 37, 61)] == [False, True, False, True]
    assert NEWS.matches(news)
    assert [command.at for command in WORKLOAD.commands] == sorted(command.at for command in WORKLOAD.commands)
    far = [distances(scenario_of(Job("flooding", "", tmp_path), network, (), 1))[0][7] for network in NETWORKS]
    assert far == [3, 1, 4]
    assert [*notifications_in(Flood(3, 0, news))] == [news]


def test_only_faults_of_the_plan_happen(tmp_path: Path) -> None:
    """Nodes that crash lose their timers; others keep them."""
    observed = observe(Job("olsr", "", tmp_path), load_agent("olsr"), Calls(), NETWORKS[0], faults=CRASHES)
    silent = {
        node for (node, _), times in observed.timers.items() if not any(45.5 < at / SECOND < 46.9 for at in times)
    }
    assert {5, 3} <= silent
