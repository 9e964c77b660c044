"""A back-end without simulator: it says what a record's simulator said, and compares what the host answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from roambus.bridge.backends.interface import Hello, Step, Totals, Transmission
from roambus.bridge.errors import AgentError, ProtocolError, RoambusError, UserError
from roambus.bridge.record.differences import describe_difference
from roambus.bridge.record.record_file import Frame, Record
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, ToSimulator
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.simtime import SimTime, format_time


class DifferenceError(RoambusError):
    """The host did not answer as recorded: the message tells the first frame that differs, and both answers."""

    def __init__(self, text: str, frame: int) -> None:
        super().__init__(text)
        self.frame = frame


class ReplayBackend:
    """Plays a record; raises DifferenceError at the first answer that differs, UserError for a damaged record."""

    def __init__(
        self,
        record: Record,
        scenario: Scenario,
        messages: MessageSet,
        stop_before: int | None = None,
        stop: Callable[[], None] = breakpoint,
    ) -> None:
        """`messages` are those of the agents that are run now; `stop` is called before the answer `stop_before`."""
        self._record = record
        self._frames = record.frames()
        self._scenario = scenario
        self._messages = messages
        self._stop_before, self._stop = stop_before, stop
        self._host = wire.HostSide(scenario.time_limit)
        self._steps = wire.StepReader(Hello("", (), 0), messages)
        self._now: SimTime | None = None
        self._more = False
        self._totals = Totals()
        self.frame = 0
        """The frame that was looked at last."""
        self.ending = "the run ended at its time limit"
        """How the recorded run ended."""
        self.raised_as_recorded = False

    def open(self) -> Hello:
        """The Hello of the record, in which the simulator speaks of itself."""
        frame, message = self._hear("hello")
        if message.hello.schema_hash != wire.SCHEMA_HASH:
            writer = self._record.header.roambus_version
            raise UserError(f"{self._record.path}: written by roambus {writer} with another wire.proto: use that one")
        with self._placed(frame):
            hello = wire.read_hello(message.hello, self._scenario, token="")
        # Recorded Steps are the interface's: each is of one instant, whatever the processing delay.
        self._steps = wire.StepReader(replace(hello, processing_delay=0), self._messages)
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """The next Step of the record, if the answer to the one before is the recorded one."""
        wake_up = None if self._more else wake_up
        self._compare(self._host.answer(transmissions, wake_up))
        frame, message = self._hear("step", "finished", "failed")
        if frame.kind == "step":
            step = self._step(frame, message, wake_up)
            if self._stop_before == frame.number + 1:
                self._stop()
            return step  # to the host: the agents' answer to this step is the one to look at
        if frame.kind == "finished":
            with self._placed(frame):
                self._totals = self._steps.finish(message.finished, self._host.sends)
            self._compare(ToSimulator(goodbye=Goodbye()))
        else:
            self.ending = f"there the simulator had failed: {message.failed.reason}"
        return None

    def fail(self, error: BaseException) -> None:
        """Sees whether an agent that raises did so in the record."""
        if not isinstance(error, AgentError):
            return
        with suppress(UserError):
            recorded = self._next().message.failed
            place = (recorded.node, recorded.time, recorded.event)
            self.raised_as_recorded = place == (error.node, error.time, error.event)

    def close(self) -> Totals:
        """The totals of the record."""
        return self._totals

    def _step(self, frame: Frame, message: FromSimulator, wake_up: SimTime | None) -> Step:
        with self._placed(frame):
            steps = self._steps.read(message.step, wake_up)
        self._now, self._more = message.step.now, message.step.more
        return steps[0] if steps else Step(self._now)

    def _compare(self, answer: ToSimulator) -> None:
        frame = self._next()
        if isinstance(frame.message, FromSimulator):
            raise self._record.damaged(frame.offset, "an answer of the host is missing")
        if frame.message == answer:
            return
        when = "before the first step" if self._now is None else f"simulation time {format_time(self._now)}"
        recorded, now = describe_difference(frame.message, answer, self._messages)
        place = f"{self._record.path}: frame {frame.number}, {when}: the agents differ"
        raise DifferenceError(f"{place}\n  recorded: {recorded}\n  now:      {now}", frame.number)

    def _hear(self, *kinds: str) -> tuple[Frame, FromSimulator]:
        frame = self._next()
        if not isinstance(frame.message, FromSimulator) or frame.kind not in kinds:
            raise self._record.damaged(frame.offset, f"{frame.kind} is there, where {' or '.join(kinds)} belongs")
        return frame, frame.message

    def _next(self) -> Frame:
        frame = next(self._frames)  # the record's end is an error of its own
        self.frame = frame.number
        return frame

    @contextmanager
    def _placed(self, frame: Frame) -> Iterator[None]:
        try:
            yield
        except ProtocolError as error:
            raise UserError(f"{self._record.path}: frame {frame.number} at byte {frame.offset}: {error}") from error
