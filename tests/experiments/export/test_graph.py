"""The network at a time as GraphML: networkx reads what the trace says of that time, and of no later one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.experiments.export.exporter import Asked, export_results
from tests.spark.synthetic import Row, role, write_trace
from tests.support.commands import call

networkx = pytest.importorskip("networkx", reason="networkx, which reads graphs, is not installed (see the group dev)")
ROWS: list[Row] = [
    role(0, "publisher broker"),
    role(1, "broker"),
    role(2, "subscriber"),
    {"time_s": 0.0, "node": 1, "event": "move", "detail": "10.000 20.000"},
    {"time_s": 1.0, "node": 1, "event": "migrate", "peer": 0},
    {"time_s": 1.5, "node": 2, "event": "migrate", "peer": 1},
    {"time_s": 2.0, "node": 2, "event": "send", "message_type": "DATA", "peer": 0, "bytes": 9},
    {"time_s": 2.5, "node": 2, "event": "send", "message_type": "DATA", "peer": 0, "bytes": 11},
    {"time_s": 2.5, "node": 2, "event": "send", "message_type": "HELLO", "bytes": 11},
    {"time_s": 4.0, "node": 2, "event": "migrate"},
    {"time_s": 5.0, "node": 1, "event": "crash"},
    {"time_s": 10.0, "node": 1, "event": "move", "detail": "20.000 20.000"},
]


def graph_at(results: Path, at_s: float | None) -> Any:
    """What networkx reads."""
    ((file, problem),) = export_results(results, Asked(["graphml"], at_s=at_s))
    assert problem is None
    return networkx.read_graphml(file)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_trace(tmp_path, "agent=mft/seed=3", ROWS)
    return tmp_path


def test_the_tree_and_the_traffic_of_a_moment(results: Path) -> None:
    """Roles, places between way-points, parents, and unicasts of the last three seconds."""
    graph = graph_at(results, 3.0)
    assert graph.graph == {"time_s": 3.0, "node_default": {}, "edge_default": {}}
    assert dict(graph.nodes["1"]) == {"roles": "broker", "x": 13.0, "y": 20.0, "up": True}
    assert {ends: tuple(values.values()) for ends, values in graph.edges.items()} == {
        ("1", "0"): (True, 0, 0),
        ("2", "1"): (True, 0, 0),
        ("2", "0"): (False, 2, 20),
    }


def test_the_end_of_the_run_unless_a_time_is_asked_for(results: Path) -> None:
    """A node that is down has no parent, and what was sent long ago is forgotten."""
    graph = graph_at(results, None)
    assert (graph.graph["time_s"], graph.nodes["1"]["up"], graph.nodes["1"]["x"]) == (10.0, False, 20.0)
    assert list(graph.edges) == []


def test_a_given_tree_is_the_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents of the broker family that do not choose their parents are given them by the ini."""
    monkeypatch.chdir(tmp_path)
    assert call("roambus run tree --backend ideal --agent simple --set time_limit=3 --out r", monkeypatch) == 0
    graph = graph_at(Path("r"), 2.0)
    brokers = [node for node, about in graph.nodes.items() if "broker" in about["roles"]]
    parents = [ends for ends, about in graph.edges.items() if about["parent"]]
    assert len(brokers) > 2
    assert len([node for node, _ in parents if node in brokers]) == len(brokers) - 1
