"""The shape of brokers' trees: what is read from a trace, and how the two sentences of the thesis come out."""

from __future__ import annotations

from random import Random

import pandas as pd
import pytest

from benchmarks.tree_claims import DEPTH, LARGEST, SLOPE, measure, parts, shape_of
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, PEER, TIME_S
from roambus.python_protocol.vocabulary import MIGRATE, ROLE, SEND

LINE = {0: None, 1: 0, 2: 1, 3: 2, 4: 3}
STAR = {0: None, **dict.fromkeys(range(1, 5), 0)}


def test_a_line_is_one_branch_and_a_star_has_as_many_as_brokers() -> None:
    """Of four brokers below the leader."""
    assert measure(LINE, {})[LARGEST] == 1
    assert measure(LINE, {})[DEPTH] == 4
    assert measure(STAR, {})[LARGEST] == pytest.approx(1 / 4)


def test_the_slope_is_what_is_sent_more_with_each_hop() -> None:
    """Two messages less a hop."""
    assert measure(LINE, {node: 10 - 2 * node for node in LINE})[SLOPE] == pytest.approx(-2)


def test_the_largest_tree_counts_and_a_small_one_has_no_shape() -> None:
    """Parents that go round are a tree like any other, which ends."""
    assert measure({**STAR, 5: 6, 6: 5}, {})[LARGEST] == pytest.approx(1 / 4)
    assert measure({0: None, 1: 0, 2: 0, 3: 0}, {}) == {}


def test_each_slice_has_the_parents_of_its_beginning() -> None:
    """A star until 15 s, a line from then on: slices from 10 and 20 s; what subscribers send does not count."""
    rows: list[tuple[float, int, str, int | None, str | None]] = [(0.0, node, ROLE, None, "broker") for node in STAR]
    rows.append((0.0, 9, ROLE, None, "subscriber"))
    rows += [(1.0, node, MIGRATE, 0, None) for node in range(1, 5)]
    rows += [(15.0, node, MIGRATE, parent, None) for node, parent in LINE.items()]
    rows += [(time, node, SEND, None, None) for time in (12.0, 22.0) for node in (0, 9)]
    rows.append((35.0, 0, SEND, None, None))
    found = shape_of(pd.DataFrame(rows, columns=[TIME_S, NODE, EVENT, PEER, DETAIL]))
    assert found[LARGEST] == pytest.approx((1 / 4 + 1) / 2)
    assert found[SLOPE] == pytest.approx((-1 - 0.2) / 2)


def test_the_two_sentences_follow_the_numbers() -> None:
    """One branch with most brokers, and less load farther off; or neither."""
    random = Random(1)
    for share, slope, supports in ((0.8, -1, True), (0.3, 1, False)):
        runs = pd.DataFrame({LARGEST: [share + random.random() / 99 for _ in range(4)], SLOPE: [slope] * 4})
        assert [part.supports for part in parts(runs)] == [supports, supports]
