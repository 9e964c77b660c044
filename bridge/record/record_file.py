"""The file of a record, `frames.roambus`: everything that a simulator and the host said in one run.

It is the line MAGIC and then entries: a byte that says what it is, the length and the CRC-32 of the rest (both 4 bytes,
network byte order), a protobuf message. The first entry is the header (record.proto), each further one a message of
wire.proto, in the order in which they were said. The last one is Goodbye or Failed: so a record that is cut off can
be told from a run that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zlib import crc32

from google.protobuf.message import DecodeError, Message

from roambus.bridge.errors import UserError
from roambus.bridge.record.record_pb2 import Header
from roambus.bridge.unfinished_file import UnfinishedFile
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import FromSimulator, ToSimulator

RECORD_FILE = "frames.roambus"
MAGIC = b"roambus record 1\n"
_HEAD = Struct("!BII")
_KINDS: tuple[type[Header] | type[FromSimulator] | type[ToSimulator], ...] = (Header, FromSimulator, ToSimulator)
"""The first byte of an entry, which says what the entry is."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A message of the exchange; messages are numbered from 1, and `offset` is where one begins in the file."""

    number: int
    offset: int
    message: FromSimulator | ToSimulator

    @property
    def kind(self) -> str:
        """The name of the message, such as "hello" or "step"."""
        return self.message.WhichOneof("body") or ""

    @property
    def is_last(self) -> bool:
        """Whether nothing can follow it."""
        return self.kind in {"goodbye", "failed"}


class RecordWriter:
    """Writes a record under a temporary name; `finish` gives it its own, `discard` removes it. All raise OSError."""

    def __init__(self, path: Path) -> None:
        self._unfinished = UnfinishedFile(path)

    def begin(self, header: Header) -> None:
        """Writes the header, which must come first."""
        self._unfinished.file.write(MAGIC)
        self._write(header)

    def write(self, message: FromSimulator | ToSimulator) -> None:
        """Writes the next message of the exchange."""
        self._write(message)

    def finish(self) -> None:
        """Ends the record, which is whole now, and gives it its name."""
        self._unfinished.finish()

    def discard(self) -> None:
        """Removes the record, unless it was finished."""
        self._unfinished.discard()

    def _write(self, message: Message) -> None:
        body = message.SerializeToString()
        kind = _KINDS.index(type(message))
        self._unfinished.file.write(_HEAD.pack(kind, len(body), crc32(body, kind)) + body)


class Record:
    """A record that is being read. Whatever is wrong with it is a UserError that names the byte."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        if file.read(len(MAGIC)) != MAGIC:
            raise UserError(f"{path}: this is no record of a run; roambus run --record writes one")
        header = self._read()
        if not isinstance(header, Header):
            raise self.damaged(len(MAGIC), "the header is missing")
        self.header = header

    def frames(self) -> Iterator[Frame]:
        """Every message of the exchange; a record that is damaged is good up to there."""
        number, ended = 0, False
        while True:
            offset = self._file.tell()
            message = self._read()
            if message is None:
                break
            number += 1
            if ended or isinstance(message, Header):
                raise self.damaged(offset, "nothing can follow the end of the run")
            frame = Frame(number, offset, message)
            ended = frame.is_last
            yield frame
        if not ended:
            raise UserError(f"{self.path}: cut off at byte {offset}: the end of the run is missing")

    def damaged(self, offset: int, what: str) -> UserError:
        """The error for an entry that cannot be."""
        return UserError(f"{self.path}: damaged at byte {offset}: {what}")

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
        return self._parse(kind, body, offset)

    def _parse(self, kind: int, body: bytes, offset: int) -> Header | FromSimulator | ToSimulator:
        try:
            return _KINDS[kind].FromString(body)
        except DecodeError:
            raise self.damaged(offset, "no message can be read here") from None


@contextmanager
def open_record(path: Path) -> Iterator[Record]:
    """Reads the header; raises UserError or OSError."""
    with path.open("rb") as file:
        yield Record(path, file)
