"""The syntax of Perfetto's traces: protobuf messages of the type `Trace`, of which a file holds one.

Only what timelines need is here: tracks, instants, slices and the arrows between them. Numbers of fields are those of
Perfetto's `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`. Times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from struct import Struct

_FIXED64 = Struct("<Q")
_VARINT, _EIGHT_BYTES, _LENGTH = 0, 1, 2
_SEQUENCE = 1
"""All packets of a file are of one sequence, which has a number."""

_PACKET = 1
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _TRACK_DESCRIPTOR = 8, 10, 11, 60
_UUID, _NAME, _PARENT_UUID = 1, 2, 5
_ANNOTATION, _TYPE, _TRACK, _EVENT_NAME, _FLOWS = 4, 9, 11, 23, 47
_ANNOTATION_NAME, _INT_VALUE, _STRING_VALUE = 10, 4, 6


class Kind(Enum):
    """What an event is: the begin or the end of a slice, or an instant."""

    BEGIN = 1
    END = 2
    INSTANT = 3


def track(uuid: int, name: str, parent: int | None = None) -> bytes:
    """The packet that declares a track; `uuid` is above 0."""
    body = _number(_UUID, uuid) + _text(_NAME, name)
    if parent is not None:
        body += _number(_PARENT_UUID, parent)
    return _packet(_bytes(_TRACK_DESCRIPTOR, body))


def event(  # noqa: PLR0913, PLR0917  # an argument a field
    time: int,
    uuid: int,
    kind: Kind,
    name: str = "",
    details: Mapping[str, int | str] | None = None,
    flow: int | None = None,
) -> bytes:
    """The packet of an event on the track `uuid`; events of one `flow` are joined by arrows in the order of time."""
    body = _number(_TYPE, kind.value) + _number(_TRACK, uuid)
    if name:
        body += _text(_EVENT_NAME, name)
    body += b"".join(_annotation(key, value) for key, value in (details or {}).items())
    if flow is not None:
        body += _key(_FLOWS, _EIGHT_BYTES) + _FIXED64.pack(flow)
    return _packet(_number(_TIMESTAMP, time) + _bytes(_TRACK_EVENT, body))


def _annotation(name: str, value: int | str) -> bytes:
    own = _text(_STRING_VALUE, value) if isinstance(value, str) else _number(_INT_VALUE, value)
    return _bytes(_ANNOTATION, _text(_ANNOTATION_NAME, name) + own)


def _packet(body: bytes) -> bytes:
    return _bytes(_PACKET, body + _number(_SEQUENCE_ID, _SEQUENCE))


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value % 2**64)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode(errors="replace"))


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, _LENGTH) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    return bytes(_sevens(value))


def _sevens(value: int) -> Iterable[int]:
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value
