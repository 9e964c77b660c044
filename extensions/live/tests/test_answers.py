"""What nodes tell their conductor is validated once, and a lie is one line that names the node."""

from __future__ import annotations

import json
from typing import Any

import pytest
import zmq

from roambus.bridge.system.errors import BackendError
from roambus.extensions.live.answers import invalid_field
from roambus.extensions.live.connection import Peer, Peers
from roambus.extensions.live.journal import read_rows

ANSWER = {"node": 3, "number": 7, "session": "ab12", "state": "running", "clock": 5_000_000_000}


def lies(field: str, *values: Any) -> list[tuple[str, Any]]:
    return [(field, value) for value in values]


LIES = [
    *lies("clock", None, float("nan"), float("inf"), "soon", 1.5, -1, 10**30, True, [], {}),
    *lies("counts", [], 7, "many", {"sent": "x"}, {"sent": 1.5}, {"sent": 10**30}, {"\n": 1}),
    *lies("counts", {f"name{number}": 1 for number in range(1000)}),
    *lies("size", -1, 10**30, "big", None, 2.0, float("nan"), True),
    *lies("session", None, 7, "x" * 100, "a\nb", [], {}),
    *lies("node", None, "3", -1, 10**30, 3.0, True),
    *lies("number", None, "7", -1, 10**30, 7.0, False),
    *lies("state", None, "dead", 7, [], {}),
    *lies("protocol", None, "1", 10**30, 1.0),
    *lies("refused", None, 7, [], "x" * 10_000),
    *lies("error", None, 7, {}, "x" * 10_000),
    *lies("code", None, "2", 0, 10**30, float("nan")),
    *lies("unknown", 1),
]


def test_an_answer_of_ours_is_valid() -> None:
    """With everything that an answer can have."""
    assert invalid_field(ANSWER) is None
    assert invalid_field({**ANSWER, "protocol": 1, "counts": {"sent": 3}, "size": 12}) is None
    assert invalid_field({"node": 3, "number": 7, "session": "ab", "refused": "no", "code": 2}) is None


@pytest.mark.parametrize(("field", "value"), LIES)
def test_a_lie_is_an_error_that_names_node_and_field(field: str, value: object) -> None:
    """As it comes from the socket, whatever JSON can say."""
    assert invalid_field({**ANSWER, "code": 2, field: value}) == field
    with pytest.raises(BackendError, match=f"node 3 sent an invalid answer: '{field}' is missing or wrong"):
        heard({**ANSWER, "code": 2, field: value})


@pytest.mark.parametrize("field", ANSWER)
def test_a_missing_field_is_an_error(field: str) -> None:
    """Each that every answer has."""
    with pytest.raises(BackendError, match=f"'{field}' is missing"):
        heard({name: value for name, value in ANSWER.items() if name != field})


def heard(fields: dict[str, Any]) -> None:
    """What the conductor makes of an answer that a node sends."""
    with zmq.Context() as context, context.socket(zmq.PAIR) as node, context.socket(zmq.PAIR) as conductor:
        node.bind("inproc://node")
        conductor.connect("inproc://node")
        node.send(json.dumps(fields).encode())
        assert conductor.poll(1000)
        Peers.hear(Peers.__new__(Peers), Peer(3, "ipc://node", conductor, None))


@pytest.mark.parametrize(
    "row",
    [
        [0, 3, "send", None, 10**30, None, None, None, None],
        [10**30, 3, "send", None, 1, None, None, None, None],
        [0, 3, "send", "\ud800", 1, None, None, None, None],
        [0, 3, "send", None, -(2**31) - 1, None, None, None, None],
        [0, 4, "send", None, 1, None, None, None, None],
        [float("nan"), 3, "send", None, 1, None, None, None, None],
        [],
    ],
)
def test_a_row_that_no_trace_could_hold_is_refused(row: list[Any]) -> None:
    """With the node and the line of its journal."""
    with pytest.raises(BackendError, match="node 3: line 1 of its journal is not a row of this node"):
        list(read_rows(json.dumps(row).encode(), 3))
