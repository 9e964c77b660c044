"""The record of a run, `frames.roambus`: the complete exchange between simulator and host.

The file is the line MAGIC and entries: a kind byte, length and CRC-32 of the rest (both 4 bytes, network byte order), a
protobuf message. After the header (record.proto) come messages of wire.proto in order. The last is Goodbye or Failed;
without it the record is truncated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zlib import crc32

from google.protobuf.message import DecodeError, Message

from roambus.bridge.agents import find_code
from roambus.bridge.backend import Backend, Course, Hello, Step, Totals, Transmission
from roambus.bridge.formats.ini import file_names
from roambus.bridge.formats.movement import with_params
from roambus.bridge.runs.layout import INI_FILE, RECORD_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import AgentError, BackendError, UserError
from roambus.bridge.system.files import UnfinishedFile, open_regular
from roambus.bridge.trace.parquet import TraceLevel
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, ToSimulator
from roambus.extensions.recording.record_pb2 import Header, MovementFile
from roambus.python_protocol.simtime import SimTime

MAGIC = b"roambus record 1\n"
_HEAD = Struct("!BII")
# The order is the format: a kind is the place in this tuple.
_KINDS: tuple[type[Header] | type[FromSimulator] | type[ToSimulator], ...] = (Header, FromSimulator, ToSimulator)
"""An entry's first byte, its kind."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A message of the exchange, numbered from 1, at `offset` in the file."""

    number: int
    offset: int
    message: FromSimulator | ToSimulator

    @property
    def kind(self) -> str:
        """Return the message's name, e.g. "hello" or "step"."""
        return self.message.WhichOneof("body") or ""

    @property
    def is_last(self) -> bool:
        """Whether nothing can follow it."""
        return self.kind in {"goodbye", "failed"}


class RecordWriter(UnfinishedFile):
    """Writes a record under a temporary name; all methods raise OSError.

    The checksum, with the kind, detects damage, not forgery.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Begins with the header."""
        super().__init__(path)
        self.file.write(MAGIC)
        self.write(header)

    def write(self, message: Message) -> None:
        """Write the exchange's next message."""
        body = message.SerializeToString()
        kind = _KINDS.index(type(message))
        self.file.write(_HEAD.pack(kind, len(body), crc32(body, kind)) + body)


class Record:
    """Reads a record; every defect is a UserError with its byte."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        if file.read(len(MAGIC)) != MAGIC:
            raise UserError(f"{path}: this is not a record of a run; roambus run --record writes one")
        header = self._read()
        if not isinstance(header, Header):
            raise self.damaged(len(MAGIC), "the header is missing")
        self.header = header

    def frames(self) -> Iterator[Frame]:
        """Yield every message, up to any damage."""
        ended = False
        for number in count(1):
            offset = self._file.tell()
            if (message := self._read()) is None:
                break
            if ended or isinstance(message, Header):
                raise self.damaged(offset, "nothing can follow the end of the run")
            frame = Frame(number, offset, message)
            ended = frame.is_last
            yield frame
        if not ended:
            raise UserError(f"{self.path}: cut off at byte {offset}: the end of the run is missing")

    def damage(self, offset: int) -> str:
        """Return the place of an invalid entry, for messages."""
        return f"{self.path}: damaged at byte {offset}"

    def damaged(self, offset: int, what: str) -> UserError:
        """Return the error for an invalid entry."""
        return UserError(f"{self.damage(offset)}: {what}")

    def _read(self) -> Header | FromSimulator | ToSimulator | None:
        offset = self._file.tell()
        head = self._file.read(_HEAD.size)
        if not head:
            return None
        if len(head) < _HEAD.size:
            raise UserError(f"{self.path}: cut off at byte {offset}")
        kind, length, check = _HEAD.unpack(head)
        if kind >= len(_KINDS) or length > MAX_FRAME_BYTES:
            raise self.damaged(offset, "neither a header nor a message begins here")
        body = self._file.read(length)
        if len(body) < length:
            raise UserError(f"{self.path}: cut off at byte {offset}")
        if crc32(body, kind) != check:
            raise self.damaged(offset, "its checksum is wrong")
        try:
            return _KINDS[int(kind)].FromString(body)
        except DecodeError:
            raise self.damaged(offset, "no message can be read here") from None


@contextmanager
def open_record(path: Path) -> Iterator[Record]:
    """Read the header; raise UserError or OSError."""
    with open_regular(path) as file:
        yield Record(path, file)


def recorded(backend: Backend, folder: Path, scenario: Scenario, agent: str, level: TraceLevel) -> RecordingBackend:
    """Return the recording back-end for the ini and its files in `folder`; raise OSError.

    `agent` is the reference of the run's agent.
    """
    ini = (folder / INI_FILE).read_text(encoding="utf-8")
    radio_file, others = file_names(ini, folder / INI_FILE)
    header = Header(
        roambus_version=version("roambus"),
        ini=ini,
        radio_file_name=radio_file,
        radio_file=(folder / radio_file).read_bytes(),
        agent=agent,
        agent_hash=find_code(agent).hash,
        level=level.value,
        movements=[MovementFile(name=name, content=file.read_bytes()) for name, file in with_params(folder, others)],
    )
    return RecordingBackend(backend, folder / RECORD_FILE, header, scenario)


class RecordingBackend:
    """Records any back-end's run, even if an agent or the simulator ends it.

    Records hold a Step per instant, unbatched, independent of the transport.
    """

    def __init__(self, backend: Backend, path: Path, header: Header, scenario: Scenario) -> None:
        self._backend = backend
        self._path = path
        self._header = header
        self._seed = scenario.seed
        self._writer: RecordWriter | None = None
        self._host = wire.HostSide(scenario.time_limit)
        self._deliveries = 0
        self._courses: list[Course] = []
        self._more = False
        self._at_limit = False
        self._is_whole = False

    def open(self) -> Hello:
        """Open the back-end; like all methods, raise OSError on a failed write."""
        self._writer = RecordWriter(self._path, self._header)
        hello = self._backend.open()
        self._writer.write(wire.write_hello(hello, self._seed, token=""))
        steer = None if hello.steer is None else partial(self._steer, hello.steer)
        return replace(hello, overhear=None, steer=steer)  # a record has no room for frames between others

    def _steer(self, steer: Callable[[Course], None], course: Course) -> None:
        self._courses.append(course)
        steer(course)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Advance the back-end and record both sides."""
        # The answer goes first: if the back-end fails in this call, the record shows what it failed on.
        self._write(self._host.answer(transmissions, None if self._more else wake_up, courses=self._courses))
        self._courses.clear()
        step = self._backend.advance(transmissions, wake_up)
        if step is None:
            self._at_limit = True
        else:
            self._write(wire.write_step(step))
            self._deliveries += len(step.deliveries)
            self._more = step.more
        return step

    def fail(self, error: BaseException) -> None:
        """End the record with an agent's or simulator's error; any other leaves no record."""
        self._backend.fail(error)
        if isinstance(error, AgentError):
            self._end(ToSimulator(failed=wire.write_failed(error)))
        elif isinstance(error, BackendError):
            self._end(FromSimulator(failed=wire.write_failed(error)))

    def close(self) -> Totals:
        """Close the back-end, and rename the record into place."""
        try:
            totals = self._backend.close()
            if self._at_limit:
                self._write(wire.write_finished(totals, self._host.sends, self._deliveries))
                self._end(ToSimulator(goodbye=Goodbye()))
            return totals
        except BackendError as error:  # it can fail in its last words, when the run was good so far
            if not self._is_whole:
                self._end(FromSimulator(failed=wire.write_failed(error)))
            raise
        finally:
            if self._writer is not None:
                with self._writer:
                    if self._is_whole:
                        self._writer.finish()

    def _write(self, message: FromSimulator | ToSimulator) -> None:
        if self._writer is None:
            raise RuntimeError("the back-end was not opened")
        self._writer.write(message)

    def _end(self, message: FromSimulator | ToSimulator) -> None:
        self._write(message)
        self._is_whole = True
