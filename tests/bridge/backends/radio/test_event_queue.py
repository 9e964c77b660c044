"""The event queue."""

from typing import Any

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from roambus.bridge.backends.radio import engine
from roambus.bridge.backends.radio.state import run_of

njit: Any = numba.njit  # its type takes annotated functions for their results


@njit  # type: ignore[untyped-decorator]  # see above
def drain(times: NDArray[np.int64], events: NDArray[np.int64], run: NDArray[np.void], held: int) -> NDArray[np.int64]:
    """Pushes event k at times[k], popping one whenever more than `held` are there; returns the order of k."""
    order = np.empty(len(times), np.int64)
    done = 0
    for k in range(len(times)):
        engine.push(events, run[0], times[k], 3, k)
        if run[0].events > held:
            order[done] = engine.index_of(engine.pop(events, run[0]))
            done += 1
    while engine.next_time(events, run[0]) != engine.NEVER:
        order[done] = engine.index_of(engine.pop(events, run[0]))
        done += 1
    return order


TIMES = st.lists(st.integers(min_value=0, max_value=20), max_size=60)


def popped(times: list[int], held: int) -> list[int]:
    """The order in which events of those times come out."""
    events = np.zeros((len(times) + 1, 2), np.int64)
    order: list[int] = drain(np.array(times, np.int64), events, run_of(), held).tolist()
    return order


@settings(deadline=None)  # the first call compiles
@given(TIMES)
def test_events_come_by_time_then_first_come_first_served(times: list[int]) -> None:
    """Everything pushed comes out once, by time; events of one time in the order of their arrival."""
    assert popped(times, held=len(times)) == sorted(range(len(times)), key=times.__getitem__)


@settings(deadline=None)
@given(TIMES, st.integers(min_value=0, max_value=5))
def test_the_first_event_comes_out_while_others_go_in(times: list[int], held: int) -> None:
    """Popping in between gives what always taking the earliest by (time, arrival) gives."""
    waiting: list[tuple[int, int]] = []
    expected = []
    for k, time in enumerate(times):
        waiting = sorted([*waiting, (time, k)])
        if len(waiting) > held:
            expected.append(waiting.pop(0)[1])
    assert popped(times, held) == expected + [k for _, k in waiting]


def test_kind_and_index_come_back() -> None:
    """A code holds what was pushed."""
    code = (7 << 28) | (5 << 24) | 123_456
    assert njit(lambda code: (engine.kind_of(code), engine.index_of(code)))(code) == (5, 123_456)
