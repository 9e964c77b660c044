"""A conductor takes silent nodes back, forgives its own stalls, and waits for nothing without end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.system.errors import BackendError
from roambus.extensions.live import conductor as conducting
from roambus.extensions.live.conductor import OVERDUE, SILENT_S, Conductor, Deployment, RemoteProcesses
from roambus.extensions.live.connection import Answer, Peer
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import CRASH, RECOVER


class Nodes:
    """Stands for the connections to three nodes; `pieces` answers questions for a journal."""

    def __init__(self) -> None:
        self.all = [Peer(node, f"tcp://10.0.0.{node}:7400", None, None, session="s") for node in range(3)]
        self.pieces: list[Answer] = []

    def ask_one(self, what: str, fields: Mapping[str, Any], peer: Peer) -> Answer:
        assert what == "collect"
        return self.pieces.pop(0)


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


def test_a_silent_node_that_answers_again_is_taken_back(conductor: Conductor, nodes: Nodes) -> None:
    """It counts as dead until then; the trace has both."""
    peer = nodes.all[1]
    peer.heard_at -= SILENT_S + 0.1
    conductor._note_deaths()
    assert [node.is_down for node in nodes.all] == [False, True, False]
    conductor._note(peer, {"session": "s", "state": "running"})
    assert [node.is_down for node in nodes.all] == [False, False, False]
    assert [(node, event) for _, node, event in conductor._faults] == [(1, CRASH), (1, RECOVER)]


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
