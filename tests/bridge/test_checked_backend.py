"""A back-end of another package that misbehaves ends the run with an error that names it."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.backend import (
    DEATHS,
    Delivery,
    Failure,
    Framing,
    Hello,
    Move,
    NodeInfo,
    Step,
    Totals,
    calling,
)
from roambus.bridge.checked_backend import MOST_STEPS_AT_ONCE, CheckedBackend
from roambus.bridge.runs.run import execute_in_child
from roambus.bridge.system.child_process import EndedError, OverdueError, run_in_child
from roambus.bridge.system.errors import BackendError, RoambusError
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.simtime import SECOND
from tests.bridge.runs.test_run import plan_of
from tests.support.odd_backends import Exits, Odd, OddFactory, swallows

NOTHING: Any = None
HALF: Any = 0.5
TEXT: Any = "ab"


MESSAGE = BeaconMessage(9)


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
        (lambda: Step(9, NOTHING), "its deliveries are None, which is no list"),
        (lambda: Step(9, TEXT), "its deliveries are 'ab', which is no list"),
        (lambda: Step(9, [Delivery(0, 1, MESSAGE, math.nan, 0)]), "the signal of a delivery is nan"),
        (lambda: Step(9, [], NOTHING), "its failures are None, which is no list"),
        (lambda: Step(9, [], [Failure(0, 7, MESSAGE, "why")]), "a transmission failed to node 7"),
        (lambda: Step(9, [], [Failure(0, 1, MESSAGE, "\033[31m")]), "is '\\x1b[31m', which is no printable text"),
        (lambda: Step(9, deaths=[99]), "it tells of the death of node 99, and the nodes are 0 to 1"),
        (lambda: Step(9, deaths=[-1]), "it tells of the death of node -1"),
        (lambda: Step(9, moves=[Move(5, 99, 0, 0)]), "it moves node 99"),
        (lambda: Step(9, moves=[Move(5, 1, 0, 0), Move(4, 1, 0, 0)]), "node 1 moves back to 4ns"),
        (lambda: Step(9, moves=[Move(5, 1, math.inf, 0)]), "the place of node 1 is inf"),
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


@pytest.mark.parametrize(
    "hello",
    [
        Hello("odd", [NOTHING], SECOND),
        Hello("odd", [NodeInfo(0)], NOTHING),
        NodeInfo(0),
        Hello("odd", [], SECOND),
        Hello("odd", NOTHING, SECOND),
        Hello("odd\033[31m", [NodeInfo(0)], SECOND),
        Hello(NOTHING, [NodeInfo(0)], SECOND),
        *(Hello("odd", [NodeInfo(0, rate)], SECOND) for rate in (0.0, -1.0, 1e300, math.nan, NOTHING)),
        Hello("odd", [NodeInfo(-1)], SECOND),
        Hello("odd", [NodeInfo(0)], SECOND, processing_delay=-1),
        Hello("odd", [NodeInfo(0)], SECOND, framing=Framing(100, -25, 0, 0)),
        Hello("odd", [NodeInfo(0)], SECOND, take_note=NOTHING, own=HALF),
    ],
)
def test_an_odd_hello_is_refused(hello: Any) -> None:
    """Before the first step."""
    with pytest.raises(BackendError, match="back-end theirs: "):
        CheckedBackend(Odd(lambda: None, hello), "theirs").open()


@pytest.mark.parametrize(
    ("totals", "problem"),
    [
        (HALF, "close returned 0.5, which is no Totals"),
        (Totals(NOTHING), "its counts are None, and not by name"),
        (Totals({"sent": (TEXT, TEXT)}), "the count sent is 'ab', which is no whole number"),
        (Totals({"sent": (1,)}), "the count sent has 1 values for 2 nodes"),
        (Totals({"sent": (1, -1)}), "the count sent is -1"),
        (Totals({"\033[31m": (1, 2)}), "which is no printable text"),
        (Totals({DEATHS: (0, 4 * SECOND)}), f"the count {DEATHS} is 4000000000"),
        (Totals(energy_mj=(1.0, -1.0)), "the energy of a node is -1.0"),
        (Totals(energy_mj=(1.0, math.nan)), "the energy of a node is nan"),
        (Totals(energy_mj=(1.0,)), "its energy_mj has 1 values for 2 nodes"),
        (Totals(moves=(Move(-1, 0, 0, 0),)), "the time of a move of node 0 is -1"),
        (Totals(moves=(Move(4 * SECOND, 0, 0, 0),)), "the time of a move of node 0 is 4000000000"),
    ],
)
def test_odd_totals_are_refused(totals: Any, problem: str) -> None:
    """Nothing that the trace cannot hold gets there."""
    checked = CheckedBackend(Odd(lambda: None, totals=totals), "theirs")
    checked.open()
    with pytest.raises(BackendError, match="back-end theirs: ") as raised:
        checked.close()
    assert problem in str(raised.value)


def test_right_answers_pass() -> None:
    """Of every field one that says something."""
    step = Step(
        9, [Delivery(0, 1, MESSAGE, -80.5, 7)], [Failure(1, 0, MESSAGE, "why")], False, [1], [Move(9, 0, 1.5, 2)]
    )
    totals = Totals({"sent": (1, 2), DEATHS: (0, 9)}, (1.5, 0.0), (Move(0, 0, 1, 2), Move(9, 0, 1.5, 2)))
    hello = Hello("odd", [NodeInfo(0), NodeInfo(5, 1.00003)], 3 * SECOND, 1000, print, None, Framing(100, 25, 32, 0))
    checked = CheckedBackend(Odd(lambda: step, hello, totals), "theirs")
    assert checked.open() is hello
    assert checked.advance((), SECOND) is step
    assert checked.close() is totals


# A run's process


@pytest.mark.parametrize("act", [swallows, lambda: os.kill(os.getpid(), signal.SIGSTOP)])
def test_a_back_end_that_hears_nothing_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]
) -> None:
    """The deadline is watched by another process; the log of the run says what happened."""
    monkeypatch.setattr("roambus.bridge.checked_backend.GRACE_S", 0.2)
    plan = plan_of(tmp_path)
    with pytest.raises(OverdueError, match=r"back-end theirs: advance has not returned after 0\.3 s"):
        execute_in_child(plan, OddFactory(act))
    assert "advance has not returned" in (plan.folder / "run.log").read_text()


def test_a_run_whose_process_exits_with_0_has_failed(tmp_path: Path) -> None:
    """Only a run that has returned is complete."""
    with pytest.raises(BackendError, match="back-end theirs: make raised SystemExit: 0"):
        execute_in_child(plan_of(tmp_path), Exits(raises))
    with pytest.raises(EndedError, match="with exit code 0"):
        execute_in_child(replace(plan_of(tmp_path), place=Path("traces/b")), OddFactory(lambda: os._exit(0)))
    with pytest.raises(EndedError, match="with exit code 0"):
        run_in_child(lambda: sys.exit(0))


def test_the_methods_of_a_factory_are_named() -> None:
    """Those before the run: `prepare` and `beyond`."""
    with (
        pytest.raises(RoambusError, match="back-end theirs: prepare raised SystemExit: 0"),
        calling(OddFactory(lambda: None), "prepare"),
    ):
        sys.exit(0)
