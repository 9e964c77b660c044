"""A back-end of another package that misbehaves ends the run with an error that names it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from roambus.bridge.backend import (
    MOST_STEPS_AT_ONCE,
    CheckedBackend,
    Delivery,
    Hello,
    NodeInfo,
    Step,
    Totals,
    Transmission,
)
from roambus.bridge.system.errors import BackendError
from roambus.python_protocol.simtime import SECOND, SimTime

NOTHING: Any = None
HALF: Any = 0.5


class Odd:
    """Does what it is told to where the host asks it to go on."""

    def __init__(self, advance: Callable[[], Step | None], hello: Hello | None = None) -> None:
        self._advance = advance
        self._hello = hello or Hello("odd", [NodeInfo(0)] * 2, 3 * SECOND)

    def open(self) -> Hello:
        return self._hello

    def advance(self, _: Sequence[Transmission], __: SimTime | None) -> Step | None:
        return self._advance()

    def fail(self, error: BaseException) -> None:
        """Nothing to do."""

    def close(self) -> Totals:
        return Totals()


def raises() -> Step:
    raise KeyError("x")


def hangs() -> Step:
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("advance", "problem"),
    [
        (lambda: sys.exit(0), "advance raised SystemExit: 0"),
        (raises, "advance raised KeyError: 'x'"),
        (hangs, "advance has not returned after 0.2 s"),
        (lambda: None, "it ended after 0s, before 1s was reached"),
        (lambda: "step", "advance returned 'step', which is no Step"),
        (lambda: Step(SECOND // 2, [Delivery(0, -1, NOTHING, 0, 0)]), "it delivers from node -1 to node 0"),
        (lambda: Step(SECOND // 2, [Delivery(2, 0, NOTHING, 0, 0)]), "it delivers from node 0 to node 2"),
        (lambda: Step(SECOND // 2, [Delivery(0, 1, NOTHING, 0, 0)]), "it delivers None, which is no message"),
        (lambda: Step(2 * SECOND), "a Step at 2s is after the wake-up at 1s"),
        (lambda: Step(4 * SECOND), "a Step at 4s is not before the end of the run"),
        (lambda: Step(HALF), "a Step is at 0.5, which is no time in ns"),
    ],
)
def test_what_a_back_end_does_wrong_names_it(advance: Callable[[], Step | None], problem: str) -> None:
    """With the method, and the time where that says something."""
    checked = CheckedBackend(Odd(advance), "theirs", 0.2)
    checked.open()
    with pytest.raises(BackendError, match="back-end theirs: ") as raised:
        checked.advance((), SECOND)
    assert problem in str(raised.value)


def test_time_neither_goes_back_nor_stands_still() -> None:
    """Steps of one instant are counted."""
    times = iter([SECOND // 2, SECOND // 4])
    checked = CheckedBackend(Odd(lambda: Step(next(times))), "theirs")
    checked.open()
    checked.advance((), SECOND)
    with pytest.raises(BackendError, match="a Step at 250ms comes after one at 500ms"):
        checked.advance((), SECOND)
    still = CheckedBackend(Odd(lambda: Step(7)), "theirs")
    still.open()
    for _ in range(MOST_STEPS_AT_ONCE + 1):
        still.advance((), SECOND)
    with pytest.raises(BackendError, match="time stands still at 7ns"):
        still.advance((), SECOND)


@pytest.mark.parametrize("hello", [Hello("odd", [NOTHING], SECOND), Hello("odd", [NodeInfo(0)], NOTHING), NodeInfo(0)])
def test_an_odd_hello_is_refused(hello: Any) -> None:
    """Before the first step."""
    with pytest.raises(BackendError, match="back-end theirs: "):
        CheckedBackend(Odd(lambda: None, hello), "theirs").open()
