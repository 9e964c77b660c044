"""The shape of a run's tree, from the parents in its trace."""

from __future__ import annotations

import pytest

from benchmarks.tree_shape import SETTLED_S, largest_tree, shape_of
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import MIGRATE, PUBLISH, ROLE, SEND

LEADER = 0


def trace_of(parents: dict[int, int | None], *, later: dict[int, int | None] | None = None) -> TraceWriter:
    """Brokers that take these parents at once, and others in the middle of what counts."""
    writer = TraceWriter()
    for node in range(6):
        writer.add(TraceRow(0, node, ROLE, detail="broker"))
    for node, parent in parents.items():
        writer.add(TraceRow(SECOND, node, MIGRATE, peer=parent))
    for node, parent in (later or {}).items():
        writer.add(TraceRow((SETTLED_S + 1) * SECOND, node, MIGRATE, peer=parent))
    for node in (LEADER, LEADER, LEADER, 1, 2, 3):
        writer.add(TraceRow((SETTLED_S + 1) * SECOND, node, SEND, "PUB", bytes=40))
    return writer


def test_a_chain_is_one_branch() -> None:
    """All nodes are on it, each one hop further."""
    figures = shape_of(trace_of({1: LEADER, 2: 1, 3: 2}).table())
    assert figures["largest branch, share of its tree"] == 1
    assert figures["children of the leader"] == 1
    assert figures["hops to the leader"] == pytest.approx((1 + 2 + 3) / 3)


def test_figures_are_means_over_seconds() -> None:
    """Half of them have one child of the leader with two more below, the others four children."""
    figures = shape_of(trace_of({1: LEADER, 2: 1, 3: 1, 4: LEADER}, later={2: LEADER, 3: LEADER}).table())
    assert figures["largest branch, share of its tree"] == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert figures["children of the leader"] == 3


def test_the_busiest_broker_is_compared_with_all_brokers() -> None:
    """Three frames, where six brokers have sent six."""
    assert shape_of(trace_of({1: LEADER}).table())["frames of the busiest broker, of mean"] == 3


def test_only_the_largest_tree_counts() -> None:
    """A node that has lost its parent is the root of its own; a circle has no root, and ends all the same."""
    assert largest_tree({1: 0, 2: 0, 4: 3, 5: None}) == [[1, 0], [2, 0]]
    assert largest_tree({1: 2, 2: 1}) != []


def test_a_protocol_without_a_tree_has_no_shape() -> None:
    """Nothing is said of it."""
    writer = TraceWriter()
    writer.add(TraceRow(20 * SECOND, 0, PUBLISH, notification_id="0.0", detail="1"))
    assert shape_of(writer.table()) == {}
