"""Routing protocols of ns-3 beside ours: the same scenario for both, and what is told if ns-3 is not there."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.ns3_routing import (
    AODV,
    CASES,
    PROTOCOLS,
    Result,
    build_worker,
    main,
    movements,
    run_ns3,
    run_ours,
    scenario_of,
)
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.system.errors import UserError
from roambus.extensions.ns3.tests.adapter import ns3
from roambus.python_protocol.roles import Role

LINE, MOVING = CASES[0], CASES[2]


def test_on_a_line_a_search_costs_a_request_and_a_reply_for_each_hop() -> None:
    """Four hops: everything arrives, and nothing breaks."""
    found = run_ours(LINE, 0)
    assert (found.delivered, found.hops) == (1.0, 4.0)
    assert [found.sent.get(kind, 0) for kind in ("RREQ", "RREP", "RERR", "PACKET")] == [4, 4, 0, 4 * LINE.packets]


def test_the_first_nodes_send_to_each_of_the_next_ones(tmp_path: Path) -> None:
    """In the scenario that ours reads, as in the flows that ns-3 is told."""
    roles = [node.roles for node in scenario_of(MOVING, 0, tmp_path).nodes]
    assert roles[:2] == [Role.PUBLISHER] * 2
    assert roles[2:10] == [Role.SUBSCRIBER] * 8
    assert set(roles[10:]) == {Role.NONE}
    assert MOVING.flows == [(source, sink) for source in (0, 1) for sink in range(2, 10)]


def test_ours_moves_as_the_file_says(tmp_path: Path) -> None:
    """Whenever the file sends a node on, ours is where it was sent before; another seed moves otherwise."""
    text = movements(MOVING, 1)
    way = scenario_of(MOVING, 1, tmp_path).nodes[3].mobility
    assert isinstance(way, GivenWay)
    orders = [line.split() for line in text.splitlines() if "$node_(3) setdest" in line]
    times, *places = np.array(way.points).T
    for before, order in itertools.pairwise(orders):
        at = [np.interp(float(order[2]), times, axis) for axis in places]
        assert at == pytest.approx([float(before[5]), float(before[6])], abs=0.01)
    assert text == movements(MOVING, 1) != movements(MOVING, 2)


def test_without_ns3_ours_is_measured_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And it is told what is missing, and how to get it."""
    monkeypatch.setenv("NS3_ROOT", str(tmp_path))
    assert main(["--only", "line", "--seeds", "1", "--csv"]) == 0
    output = capsys.readouterr()
    assert output.err.startswith(f"ns-3 is left out: NS3_ROOT={tmp_path} holds no ns-3: pip install --no-deps ns3")
    assert [line.split(",")[:3] for line in output.out.splitlines()[1:]] == [["line of 5", "aodv", "roambus"]]


def answering(folder: Path, program: str) -> Path:
    """A program in place of the worker."""
    file = folder / "ns-3"
    file.write_text(f"#!/bin/sh\n{program}\n")
    file.chmod(0o755)
    return file


def test_what_ns3_counts_becomes_shares_and_means(tmp_path: Path) -> None:
    """It is told the protocol, the scenario and its flows."""
    answer = {"delivered": 30, "hops": 120, "sent": {"RREQ": 7, "PACKET": 9}, "routing_bytes": 99, "seconds": 0.5}
    worker = answering(tmp_path, f"cat > {tmp_path}/asked; echo '{json.dumps(answer)}'")
    found = run_ns3([LINE], 1, worker, "olsr")[LINE.name]
    assert found == [Result(0.5, 4.0, {"RREQ": 7, "PACKET": 9}, 99, 0.5)]
    assert found[0].routing == 7
    asked = (tmp_path / "asked").read_text().split()
    assert (asked[0], asked[2], asked[6], asked[9:]) == ("olsr", "5", str(LINE.packets), ["1", "0", "1"])


def test_an_ns3_that_fails_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    """Not a traceback."""
    worker = answering(tmp_path, "cat > /dev/null; echo first >&2; echo no such model >&2; exit 3")
    with pytest.raises(UserError, match="ns-3 failed with exit code 3: no such model"):
        run_ns3([LINE], 1, worker)


@pytest.mark.ns3
def test_on_a_line_ns3_does_as_ours(tmp_path: Path) -> None:
    """Every packet arrives over as many hops, and AODV sends as many requests and replies."""
    ns3()  # skips without it
    case, worker = replace(LINE, packets=20, start_s=60), build_worker(tmp_path)
    for protocol in PROTOCOLS:
        (theirs,), ours = run_ns3([case], 1, worker, protocol)[case.name], run_ours(case, 0, protocol)
        assert (theirs.delivered, theirs.hops) == (ours.delivered, ours.hops) == (1.0, 4.0), protocol
        if protocol == AODV:
            assert [theirs.sent[kind] for kind in ("RREQ", "RREP")] == [ours.sent[kind] for kind in ("RREQ", "RREP")]
