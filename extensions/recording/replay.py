"""Replays a record: agents run on its simulator's messages, without a simulator, also in a debugger.

The back-end compares the host's answers with the recorded ones. The first difference ends the run, because the
simulator would have continued otherwise. The same agents answer as recorded on any machine.
"""

from __future__ import annotations

import pdb
import traceback
from bdb import BdbQuit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, TracebackType

from roambus.bridge.agents import Announce, announce_code, load_agent, silently
from roambus.bridge.backend import Course, Hello, Step, Totals, Transmission
from roambus.bridge.formats.ini import AnyKeys, parse_scenario
from roambus.bridge.host.agents import is_blamed
from roambus.bridge.host.event_loop import Host
from roambus.bridge.keys import file_beside, quote
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import (
    AgentError,
    InterruptionError,
    ProtocolError,
    RoambusError,
    UserError,
    mistakes_at,
)
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import Course as Way
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, Reply, Send, ToSimulator, Welcome
from roambus.extensions.recording.record_file import Frame, Record, open_record
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SimTime, format_time


@dataclass(frozen=True, slots=True)
class Rerun:
    """The number of agreeing frames, and the recorded run's end."""

    frames: int
    ending: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The debugger's place: before a frame's answer, or from a time on."""

    frame: int | None = None
    time: SimTime | None = None

    def is_reached(self, frame: int, now: SimTime) -> bool:
        """Return whether to stop before the answer in this frame, at this time."""
        return self.frame == frame or (self.time is not None and now >= self.time)


def rerun(
    path: Path,
    agent: str | None = None,
    *,
    stop: Stop | None = None,
    announce: Announce = silently,
) -> Rerun:
    """Run the record's or another agent on the record, after `announce` names its code.

    `stop` opens the debugger at the agent's next line. Raises DifferenceError, AgentError (recorded or not), and
    UserError for no record or a damaged one.
    """
    with open_record(path) as record:
        reference = agent or record.header.agent
        announce_code(reference, announce, record.header.agent_hash if agent is None else None)
        agent_class = load_agent(reference)
        scenario = replace(scenario_of(record), agent=reference)
        replay = ReplayBackend(record, scenario, agent_class.messages, stop, AgentDebugger(agent_class).set_trace)
        with mistakes_at(record.damage(0)):
            level = TraceLevel(record.header.level)
        try:
            Host(scenario, agent_class, replay, TraceWriter(level)).run()
        except AgentError as error:
            place = "as recorded" if replay.raised_as_recorded else "though not in the record"
            text = f"{path}: frame {replay.frame}, {place}: {error}"
            raise AgentError(text, error.node, error.time, error.event) from error.__cause__
        return Rerun(replay.frame, replay.ending)


def debug(
    path: Path, agent: str | None = None, *, stop_at: SimTime | None = None, announce: Announce = silently
) -> Rerun:
    """Rerun, with the debugger where an agent raises or its answer begins to differ.

    `stop_at` opens it earlier. A difference plays the record again: deterministic agents reach the same place,
    otherwise `roambus vet` finds their mistake.
    """
    try:
        return rerun(path, agent, stop=Stop(time=stop_at), announce=announce)
    except AgentError as error:
        if isinstance(error.__cause__, BdbQuit):
            raise InterruptionError(f"{path}: the debugger was left") from None
        if error.__cause__ is not None:
            with open_record(path) as record:
                agent_class = load_agent(agent or record.header.agent)
            open_where_it_raised(error.__cause__, agent_class)
        raise
    except DifferenceError as difference:
        with suppress(Exception):  # however the debugger is left, the difference is the result
            rerun(path, agent, stop=Stop(frame=difference.frame))
        raise


def scenario_of(record: Record) -> Scenario:
    """Return the recorded ini's scenario, read from a temporary folder with its files."""
    header = record.header
    if Path(header.radio_file_name).name != header.radio_file_name:
        raise record.damaged(0, f"{header.radio_file_name!r} is not a name of a radio parameters file")
    files = [
        (header.radio_file_name, header.radio_file),
        *((movement.name, movement.content) for movement in header.movements),
    ]
    with TemporaryDirectory() as folder:
        for name, content in files:
            try:
                with mistakes_at(record.damage(0)):
                    file = Path(folder, file_beside(quote(name)))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            except OSError as error:  # names that are too long, or one of a file that is a folder to another
                raise UserError(f"{record.path}: its file {name[:80]!r} cannot be written: {error.strerror}") from None
        return parse_scenario(record.header.ini, Path(f"{record.path} (run.ini)"), Path(folder), beyond=AnyKeys())


class ReplayBackend:
    """Plays a record; raises DifferenceError, or UserError for damage."""

    def __init__(
        self,
        record: Record,
        scenario: Scenario,
        messages: MessageSet,
        stop: Stop | None = None,
        debugger: Callable[[], None] = breakpoint,
    ) -> None:
        """`messages` are the present agents'; `debugger` is called once, at `stop`."""
        self._record = record
        self._frames = record.frames()
        self._scenario = scenario
        self._messages = messages
        self._stop, self._open = stop, debugger
        self._host = wire.HostSide(scenario.time_limit)
        self._steps = wire.StepReader(Hello("", (), 0), messages)
        self._now: SimTime | None = None
        self._courses: list[Course] = []
        """Courses for the simulator since the last answer."""
        self._more = False
        self._totals = Totals()
        self.frame = 0
        """The last frame read."""
        self.ending = "the run ended at its time limit"
        """How the recorded run ended."""
        self.raised_as_recorded = False

    def open(self) -> Hello:
        """Return the record's Hello, the simulator's self-description."""
        frame, message = self._hear("hello")
        if message.hello.schema_hash != wire.SCHEMA_HASH:
            writer = self._record.header.roambus_version
            raise UserError(f"{self._record.path}: written by roambus {writer} with another wire.proto: use that one")
        with self._placed(frame):
            hello = wire.read_hello(message.hello, self._scenario, token="")
        # Recorded Steps are the interface's: each is of one instant, whatever the processing delay.
        self._steps = wire.StepReader(replace(hello, processing_delay=0), self._messages)
        return replace(hello, steer=self._courses.append if message.hello.steers else None)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Return the record's next Step, if the last answer was the recorded one."""
        wake_up = None if self._more else wake_up
        self._compare(self._host.answer(transmissions, wake_up, courses=self._courses))
        self._courses.clear()
        frame, message = self._hear("step", "finished", "failed")
        if frame.kind == "step":
            with self._placed(frame):
                steps = self._steps.read(message.step, wake_up)
            self._now, self._more = message.step.now, message.step.more
            if self._stop is not None and self._stop.is_reached(frame.number + 1, self._now):
                self._stop = None
                self._open()
            # The host gets it next: the agents' answer to this step is the one to look at.
            return steps[0] if steps else Step(self._now)
        if frame.kind == "finished":
            with self._placed(frame):
                self._totals = self._steps.finish(message.finished, self._host.sends)
            self._compare(ToSimulator(goodbye=Goodbye()))
        else:
            self.ending = f"there the simulator had failed: {message.failed.reason}"
        return None

    def fail(self, error: BaseException) -> None:
        """Compare an agent's exception with the record."""
        if isinstance(error, AgentError):
            with suppress(UserError):
                was = self._next().message.failed
                self.raised_as_recorded = (was.node, was.time, was.event) == (error.node, error.time, error.event)

    def close(self) -> Totals:
        """The totals of the record."""
        return self._totals

    def _compare(self, answer: ToSimulator) -> None:
        frame = self._next()
        if isinstance(frame.message, FromSimulator):
            raise self._record.damaged(frame.offset, "an answer of the host is missing")
        if frame.message == answer:
            return
        when = "before the first step" if self._now is None else f"simulation time {format_time(self._now)}"
        place = f"{self._record.path}: frame {frame.number}, {when}: the agents differ"
        recorded, now = describe_difference(frame.message, answer, self._messages)
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
        """Add the place in the file to errors of bad messages."""
        try:
            yield
        except ProtocolError as error:
            raise UserError(f"{self._record.path}: frame {frame.number} at byte {frame.offset}: {error}") from error


class DifferenceError(RoambusError):
    """The host's answer differs; shows the first such frame and both answers."""

    def __init__(self, text: str, frame: int) -> None:
        super().__init__(text)
        self.frame = frame


def describe_difference(recorded: ToSimulator, now: ToSimulator, messages: MessageSet) -> tuple[str, str]:
    """Return the first difference, recorded and now; `messages` decode the payloads."""
    match recorded.WhichOneof("body"), now.WhichOneof("body"):
        case "reply", "reply":
            return _difference_of_replies(recorded.reply, now.reply, messages)
        case "welcome", "welcome":
            return _wake_up(recorded.welcome), _wake_up(now.welcome)
        case "failed", _:
            return f"the agent raised: {recorded.failed.reason}", "it did not raise"
        case kind, other:
            return f"{kind}", f"{other}"


def _difference_of_replies(recorded: Reply, now: Reply, messages: MessageSet) -> tuple[str, str]:
    for before, after in zip_longest(recorded.sends, now.sends):
        if before != after:
            return _send(before, messages), _send(after, messages)
    for way, other in zip_longest(recorded.courses, now.courses):
        if way != other:
            return _course(way), _course(other)
    return _wake_up(recorded), _wake_up(now)


def _send(send: Send | None, messages: MessageSet) -> str:
    if send is None:
        return "nothing more is sent"
    to = "all" if send.destination == BROADCAST else f"node {send.destination}"
    try:
        message = str(messages.decode(send.payload))
    except DecodeError:
        message = f"{len(send.payload)} bytes that are not a message of this agent, {send.payload.hex(' ', -4)}"
    return f"node {send.node} sends to {to} at {format_time(send.time)}: {message}"


def _course(course: Way | None) -> str:
    if course is None:
        return "no node is sent anywhere"
    if course.until == course.time:
        return f"node {course.node} stops at {format_time(course.time)}"
    there = f"{course.to_x:g},{course.to_y:g} from {format_time(course.time)} to {format_time(course.until)}"
    return f"node {course.node} goes to {there}"


def _wake_up(answer: Reply | Welcome) -> str:
    if not answer.HasField("wake_up"):
        return "nothing is due any more"
    return f"something is due next at {format_time(answer.wake_up)}"


def open_where_it_raised(error: BaseException, agent: type[Agent]) -> None:
    """Open the debugger at the agent's last traceback line, or the end."""
    chain = list(traceback.walk_tb(error.__traceback__))
    theirs = [place for place, (frame, _) in enumerate(chain) if is_blamed(agent)(_file(frame))]
    shown: TracebackType | None = None
    for frame, line in reversed(chain[: theirs[-1] + 1] if theirs else chain):
        shown = TracebackType(shown, frame, frame.f_lasti, line)
    pdb.post_mortem(shown)


class AgentDebugger(pdb.Pdb):
    """A debugger that stops only in one agent's code, first at its next call."""

    def __init__(self, agent: type[Agent]) -> None:
        super().__init__()
        self._is_theirs = is_blamed(agent)

    def stop_here(self, frame: FrameType) -> bool:
        """Return whether `step` and `next` stop in a frame: only in the agent's."""
        return self._is_theirs(_file(frame)) and super().stop_here(frame)

    def user_call(self, frame: FrameType, argument_list: None) -> None:
        """Go on to the first line of a call."""


def _file(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)
