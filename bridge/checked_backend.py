"""Checks a foreign back-end while it runs, so that its mistakes end the run and name it.

Checks are cheap: types from `open`, times that go back or pass the end, unknown nodes, an early end, calls beyond the
deadline, one instant over and over. Every exception, even SystemExit, becomes a BackendError.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from roambus.bridge.backend import Backend, Hello, NodeInfo, Step, Totals, Transmission
from roambus.bridge.errors import BackendError, RoambusError
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import SimTime, format_time

DEADLINE_S = 30.0
"""The default longest time of one call to the back-end."""
MOST_STEPS_AT_ONCE = 100_000
"""Steps at one instant before the back-end counts as stuck."""


class CheckedBackend:
    """Checks a back-end's answers; a BackendError names it."""

    def __init__(self, backend: Backend, name: str, deadline_s: float | None = None) -> None:
        self._backend = backend
        self._name = name
        self._deadline_s = deadline_s or DEADLINE_S
        self._nodes = 0
        self._limit: SimTime = 0
        self._now: SimTime = 0
        self._steps = 0

    def open(self) -> Hello:
        """Open the back-end, and check its Hello."""
        with self._calling("open"):
            hello = self._backend.open()
        self._refuse(not isinstance(hello, Hello), f"open returned {hello!r:.80}, which is no Hello")
        nodes: Sequence[object] = hello.nodes
        self._refuse(
            not all(isinstance(one, NodeInfo) and type(one.start) is int and one.start >= 0 for one in nodes),
            "its Hello has a node that is no NodeInfo with a start of whole ns",
        )
        self._refuse(type(hello.time_limit) is not int or hello.time_limit <= 0, "its time limit is no time in ns")
        self._nodes, self._limit = len(nodes), hello.time_limit
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Let the back-end go on, and check its Step."""
        with self._calling("advance"):
            step = self._backend.advance(transmissions, wake_up)
        if step is None:
            due = wake_up is not None and wake_up < self._limit
            self._refuse(
                due, f"it ended after {format_time(self._now)}, before {format_time(wake_up or 0)} was reached"
            )
            return None
        self._refuse(not isinstance(step, Step), f"advance returned {step!r:.80}, which is no Step")
        self._check(step, wake_up)
        return step

    def _check(self, step: Step, wake_up: SimTime | None) -> None:
        now = step.now
        self._refuse(type(now) is not int, f"a Step is at {now!r:.40}, which is no time in ns")
        self._refuse(now < self._now, f"a Step at {format_time(now)} comes after one at {format_time(self._now)}")
        self._refuse(now >= self._limit, f"a Step at {format_time(now)} is not before the end of the run")
        late = wake_up is not None and now > max(wake_up, self._now)
        self._refuse(late, f"a Step at {format_time(now)} is after the wake-up at {format_time(wake_up or 0)}")
        self._steps = self._steps + 1 if now == self._now else 0
        self._refuse(self._steps > MOST_STEPS_AT_ONCE, f"time stands still at {format_time(now)}")
        self._now = now
        for one in step.deliveries:
            known = all(type(node) is int and 0 <= node < self._nodes for node in (one.receiver, one.sender))
            self._refuse(not known, f"it delivers from node {one.sender!r:.20} to node {one.receiver!r:.20}")
            self._refuse(not isinstance(one.message, Message), f"it delivers {one.message!r:.40}, which is no message")
        for failure in step.failures:
            known = type(failure.node) is int and 0 <= failure.node < self._nodes
            self._refuse(not known, f"a transmission of node {failure.node!r:.20} failed")

    def fail(self, error: BaseException) -> None:
        """Pass an error on."""
        with self._calling("fail"):
            self._backend.fail(error)

    def close(self) -> Totals:
        """Close the back-end."""
        with self._calling("close"):
            totals = self._backend.close()
        self._refuse(not isinstance(totals, Totals), f"close returned {totals!r:.80}, which is no Totals")
        return totals

    def _refuse(self, wrong: object, problem: str) -> None:
        if wrong:
            raise BackendError(f"back-end {self._name}: {problem}")

    @contextmanager
    def _calling(self, method: str) -> Iterator[None]:
        """Convert any exception or overdue call to a BackendError."""
        try:
            with _deadline(self._deadline_s):
                yield
        except (RoambusError, KeyboardInterrupt):
            raise
        except _LateError:
            problem = f"{method} has not returned after {self._deadline_s:g} s (--deadline)"
            raise BackendError(
                f"back-end {self._name}: {problem}, at simulation time {format_time(self._now)}"
            ) from None
        except BaseException as error:
            raised = f"{method} raised {type(error).__name__}: {' '.join(str(error).split())}"
            raise BackendError(f"back-end {self._name}: {raised}, at {format_time(self._now)}") from error


class _LateError(BaseException):
    """A call took too long; the back-end's `except Exception` cannot catch it."""


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise _LateError in the block after a time; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
