"""A conductor knows silent nodes from dead ones, forgives its own stalls, and waits for nothing without end."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import BackendError
from roambus.bridge.trace.parquet import TraceWriter, read_trace
from roambus.bridge.trace.schema import TraceRow
from roambus.extensions.live import conductor as conducting
from roambus.extensions.live.conductor import (
    OVERDUE,
    SILENT_S,
    Conductor,
    Deployment,
    RemoteProcesses,
    after_its_rows,
)
from roambus.extensions.live.connection import REACH_S, Answer, Peer
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import CRASH, MOVE, REACHABLE, RECOVER, UNREACHABLE
from tests.bridge.host.test_positions import places


class Nodes:
    """Stands for the connections to three nodes; `pieces` answers questions for a journal."""

    def __init__(self) -> None:
        self.all = [Peer(node, f"tcp://10.0.0.{node}:7400", None, None, session="s") for node in range(3)]
        self.pieces: list[Answer] = []

    def ask_one(self, what: str, fields: Mapping[str, Any], peer: Peer) -> Answer:
        assert what == "collect"
        return self.pieces.pop(0)

    @staticmethod
    def monitor(peer: Peer) -> None:
        """Have a connection without events."""
        peer.monitor = SimpleNamespace(poll=lambda _: 0)


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def conductor(nodes: Nodes) -> Conductor:
    """It conducts nodes on other machines, in the second second of the run."""
    made = Conductor(Deployment([], [], CurveKeys.fresh(), RemoteProcesses()), nodes)  # type: ignore[arg-type]  # no sockets
    made._start_ns = time.monotonic_ns() - SECOND
    for peer in nodes.all:
        peer.heard_at = time.monotonic()
    return made


def test_a_silent_node_that_answers_again_was_unreachable(conductor: Conductor, nodes: Nodes) -> None:
    """It has been the same process all the time: that is no crash. The remark counts it."""
    peer = nodes.all[1]
    peer.heard_at -= SILENT_S + 0.1
    conductor._note_silent()
    conductor._note_silent()
    assert [node.is_there for node in nodes.all] == [True, False, True]
    conductor._note(peer, {"session": "s", "state": "running"})
    assert [node.is_there for node in nodes.all] == [True, True, True]
    (lost, one, event), (found, *other) = conductor._faults
    assert (one, event, *other) == (1, UNREACHABLE, 1, REACHABLE)
    assert 0 <= lost < found - SILENT_S * SECOND + SECOND
    assert any("lost nodes 1 times, and these went on" in remark for remark in conductor._remarks())


def test_another_process_in_place_of_a_silent_node_shows_a_crash(
    conductor: Conductor, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the last answer on; it was not only out of reach."""
    monkeypatch.setattr(conductor, "_prepare", lambda _: None)
    monkeypatch.setattr(conductor, "_start", lambda _: None)
    peer = nodes.all[1]
    peer.heard_at -= SILENT_S + 0.1
    nodes.monitor(peer)
    conductor._note_silent()
    ((lost, *_),) = conductor._faults
    conductor._note(peer, {"session": "another", "state": "idle"})
    assert [(node, event) for _, node, event in conductor._faults] == [(1, CRASH), (1, RECOVER)]
    assert conductor._faults[0][0] == lost
    assert peer.is_there


def test_a_node_of_this_machine_is_never_unreachable(conductor: Conductor, nodes: Nodes) -> None:
    """The death of its process would be known."""
    conductor._deployment = conductor._deployment._replace(is_local=True)
    nodes.all[1].heard_at -= 10 * SILENT_S
    conductor._note_silent()
    assert conductor._faults == []


def test_an_unreachable_node_has_some_time_after_the_end(conductor: Conductor, nodes: Nodes) -> None:
    """Its answer may come yet; a node that is down cannot answer."""
    nodes.all[0].state = nodes.all[2].state = "ended"
    nodes.all[1].is_silent = True
    assert not conductor._are_over(SECOND // 2)
    conductor._start_ns -= round(REACH_S * SECOND)
    assert conductor._are_over(SECOND // 2)
    nodes.all[1].is_silent, nodes.all[1].is_down = False, True
    assert conductor._are_over(5 * SECOND)
    assert not conductor._are_over(50 * SECOND)


def test_a_crash_is_not_before_the_last_row_of_its_process() -> None:
    """The conductor knows only when it last heard of it; rows of its successor come later."""
    rows = [TraceRow(time * SECOND, 1, event) for time, event in [(1, "send"), (4, "send"), (8, "role"), (9, "send")]]
    faults = [(2 * SECOND, CRASH), (7 * SECOND, RECOVER), (8 * SECOND, UNREACHABLE), (20 * SECOND, REACHABLE)]
    assert [*after_its_rows(faults, rows)] == [(4 * SECOND, CRASH), *faults[1:]]
    assert [*after_its_rows(faults[:1], rows)] == [(9 * SECOND, CRASH)]
    later = [(5 * SECOND, CRASH), (7 * SECOND, RECOVER)]
    assert [*after_its_rows(later, rows)] == later
    assert [*after_its_rows(faults[:1], [])] == faults[:1]


def test_places_of_the_nodes_receivers_stand_in_for_the_templates(
    conductor: Conductor, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node without a receiver has the template's; a place that is none ends the run."""
    scenario = places(NodeSettings((5, 5)), NodeSettings((9, 9)), NodeSettings((7, 7)))
    own = TraceRow(SECOND, 1, MOVE, detail="33.000 44.000")
    monkeypatch.setattr(conductor, "_drifts", lambda _: {})
    monkeypatch.setattr(conductor, "_journal", lambda peer: json.dumps(own).encode() if peer.node == 1 else b"")
    nodes.ask_all = lambda *_: {}  # type: ignore[attr-defined]
    trace = TraceWriter()
    conductor.collect(trace, scenario, lambda _: b"")
    trace.write(tmp_path / "trace.parquet", {})
    rows = read_trace(tmp_path / "trace.parquet").to_pylist()
    moves = [(row["node"], row["detail"]) for row in rows if row["event"] == MOVE]
    assert sorted(moves) == [(0, "5.000 5.000"), (1, "33.000 44.000"), (2, "7.000 7.000")]
    own = own._replace(detail="here")
    with pytest.raises(BackendError, match="node 1: a place in its journal is not x and y"):
        conductor.collect(TraceWriter(), scenario, lambda _: b"")


def test_a_conductor_that_stood_still_blames_no_node(
    conductor: Conductor, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes could not answer questions that it did not ask."""
    stalls = iter([0.0, 8.0])
    clock = SimpleNamespace(now=time.monotonic())

    def poll(_: float) -> None:
        clock.now += next(stalls)

    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(conducting, "poller_of", lambda _: SimpleNamespace(poll=poll))
    rounds = iter([False, False, True])
    monkeypatch.setattr(conductor, "_are_over", lambda _: next(rounds))
    nodes.hear = lambda _: None  # type: ignore[attr-defined]
    nodes.beat = lambda: None  # type: ignore[attr-defined]
    conductor._watch(SimpleNamespace(faults=(), time_limit=60 * SECOND), lambda: None)  # type: ignore[arg-type]
    assert not any(peer.is_down for peer in nodes.all)


def test_a_node_whose_run_never_ends_ends_the_run(conductor: Conductor, nodes: Nodes) -> None:
    """As one whose clock is an hour ahead: the error names it."""
    conductor._start_ns = time.monotonic_ns() - 10 * SECOND - OVERDUE
    nodes.all[0].state = nodes.all[2].state = "ended"
    with pytest.raises(BackendError, match=r"node 1 \(tcp://10\.0\.0\.1:7400\) has not ended its run"):
        conductor._refuse_overdue(9 * SECOND)
    conductor._refuse_overdue(11 * SECOND)


@pytest.mark.parametrize(
    "pieces",
    [
        [({"size": 10**15}, b"x")],
        [({}, b"x")],
        [({"size": 5}, b"ab")],
        [({"size": 2 * 2**20}, bytes(2**20)), ({"size": 1}, b"")],
        [({"size": 3}, b"abcdef")],
    ],
)
def test_a_journal_of_a_size_that_is_not_true_is_refused(
    conductor: Conductor, nodes: Nodes, pieces: list[Answer]
) -> None:
    """At the first piece that does not fit to it: nothing is waited for without end."""
    nodes.pieces = pieces
    with pytest.raises(BackendError, match="a piece of its journal has another length"):
        conductor._journal(nodes.all[0])


def test_a_journal_comes_in_pieces(conductor: Conductor, nodes: Nodes) -> None:
    """Also an empty one."""
    nodes.pieces = [({"size": 2**20 + 2}, bytes(2**20)), ({"size": 2**20 + 2}, b"ab"), ({"size": 0}, b"")]
    assert conductor._journal(nodes.all[0]) == bytes(2**20) + b"ab"
    assert conductor._journal(nodes.all[0]) == b""
