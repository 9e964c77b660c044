"""The check of a back-end of another package: each call has a deadline, and each answer fits one schema.

Whatever it says reaches the trace, so nothing that is no time, node, number or text gets past here; the error names the
back-end. The parent of the run's process watches the deadline, too (`roambus.bridge.system.watch`): a back-end that is
stopped, or swallows every exception, cannot hear its own process.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType

from roambus.bridge.backend import Backend, Course, Hello, Step, Totals, Transmission
from roambus.bridge.backend_schema import AnswerError, Schema, check_hello
from roambus.bridge.system import watch
from roambus.bridge.system.errors import BackendError, RoambusError
from roambus.python_protocol.simtime import SimTime, format_time

DEADLINE_S = 30.0
"""The default longest time of one call to the back-end."""
MOST_STEPS_AT_ONCE = 100_000
"""Steps at one instant before the back-end counts as stuck."""
GRACE_S = 2.0
"""How much later the parent ends the process of a call that is overdue."""


class CheckedBackend:
    """Checks a back-end's answers; a BackendError names it."""

    def __init__(self, backend: Backend, name: str, deadline_s: float | None = None) -> None:
        self._backend = backend
        self._name = name
        self._deadline_s = deadline_s or DEADLINE_S
        self._schema = Schema(0, 0)
        self._limit: SimTime = 0
        self._now: SimTime = 0
        self._steps = 0

    def open(self) -> Hello:
        """Open the back-end, and check its Hello."""
        with self._calling("open"):
            hello = self._backend.open()
        with self._checking():
            check_hello(hello)
        self._schema, self._limit = Schema(len(hello.nodes), hello.time_limit), hello.time_limit
        return hello if hello.steer is None else replace(hello, steer=partial(self._steer, hello.steer))

    def _steer(self, steer: Callable[[Course], None], course: Course) -> None:
        """Move a node."""
        with self._calling("steer"):
            steer(course)

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
        with self._checking():
            self._schema.check_step(step)
        self._check_time(step, wake_up)
        return step

    def _check_time(self, step: Step, wake_up: SimTime | None) -> None:
        now = step.now
        self._refuse(now < self._now, f"a Step at {format_time(now)} comes after one at {format_time(self._now)}")
        self._refuse(now >= self._limit, f"a Step at {format_time(now)} is not before the end of the run")
        late = wake_up is not None and now > max(wake_up, self._now)
        self._refuse(late, f"a Step at {format_time(now)} is after the wake-up at {format_time(wake_up or 0)}")
        self._steps = self._steps + 1 if now == self._now else 0
        self._refuse(self._steps > MOST_STEPS_AT_ONCE, f"time stands still at {format_time(now)}")
        self._now = now

    def fail(self, error: BaseException) -> None:
        """Pass an error on."""
        with self._calling("fail"):
            self._backend.fail(error)

    def close(self) -> Totals:
        """Close the back-end."""
        with self._calling("close"):
            totals = self._backend.close()
        with self._checking():
            self._schema.check_totals(totals)
        return totals

    def _refuse(self, wrong: object, problem: str) -> None:
        if wrong:
            raise BackendError(f"back-end {self._name}: {problem}")

    @contextmanager
    def _checking(self) -> Iterator[None]:
        try:
            yield
        except AnswerError as error:
            raise BackendError(f"back-end {self._name}: {error}") from None

    @contextmanager
    def _calling(self, method: str) -> Iterator[None]:
        """Convert any exception or overdue call to a BackendError."""
        late = f"back-end {self._name}: {method} has not returned after {self._deadline_s:g} s (--deadline)"
        try:
            with watch.ended_after(self._deadline_s + GRACE_S, late), _deadline(self._deadline_s):
                yield
        except (RoambusError, KeyboardInterrupt):
            raise
        except _LateError:
            raise BackendError(f"{late}, at simulation time {format_time(self._now)}") from None
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
