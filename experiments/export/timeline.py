"""A run as a timeline of Perfetto: a group of tracks for each node, with all events of the node.

| track         | what is on it                                                                                |
|---------------|----------------------------------------------------------------------------------------------|
| `application` | publications and deliveries, with arrows from a publication to its deliveries; subscriptions |
| `messages`    | what is sent, dropped and, at level full, received                                           |
| `protocol`    | what the agent notes                                                                         |
| `parent`      | a slice for as long as the node has one parent                                               |
| `state`       | a slice for as long as the node is down, or its client away                                  |

A file is one protobuf message of the type `Trace`, which is nothing but its packets one after the other, so that it can
be written row by row. Only what timelines need is here: tracks, instants, slices and the arrows between them, by the
numbers of their fields in Perfetto's `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`. Perfetto's
own package would bring a whole tool for these few fields. Times are nanoseconds.

1. The tracks of a node are declared before its first event, and under one group, so that the page shows a node folded.
2. A track has one slice at a time. Another parent ends the slice of the one before it, and what is still open when the
   run ends is ended then: Perfetto draws a slice without an end to the end of the page.
3. A publication and its deliveries have the number of their notification as their flow, from which Perfetto draws the
   arrows. It is a hash, because notifications have names and flows have numbers.
4. Rows that only describe a node, such as where it moves, are no events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from struct import Struct
from zlib import crc32

from roambus.bridge.trace.schema import BYTES, DETAIL, EVENT, HOPS, MESSAGE_TYPE, NODE, NOTIFICATION_ID, PEER, TIME_S
from roambus.experiments.export.runs import Row, rows
from roambus.python_protocol.vocabulary import (
    ATTACH,
    CRASH,
    DELIVER,
    DETACH,
    DROP,
    ENERGY,
    FREEZE,
    MIGRATE,
    MOVE,
    PUBLISH,
    RADIO,
    RECEIVE,
    RECOVER,
    ROLE,
    SECOND,
    SEND,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from roambus.spark.aggregation.traces import Trace

_FIXED64 = Struct("<Q")
_VARINT, _EIGHT_BYTES, _LENGTH = 0, 1, 2
"""The wire types of protobuf: how the bytes behind a key are to be read."""
_SEQUENCE = 1
"""All packets of a file are of one sequence, which has a number."""

# The numbers of fields: of a trace, a packet, a track's descriptor, a track's event, and an event's annotation.
_PACKET = 1
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _TRACK_DESCRIPTOR = 8, 10, 11, 60
_UUID, _NAME, _PARENT_UUID = 1, 2, 5
_ANNOTATION, _TYPE, _TRACK, _EVENT_NAME, _FLOWS = 4, 9, 11, 23, 47
_ANNOTATION_NAME, _INT_VALUE, _STRING_VALUE = 10, 4, 6

APPLICATION, MESSAGES, PROTOCOL, PARENT, STATE = "application", "messages", "protocol", "parent", "state"
TRACKS = (APPLICATION, MESSAGES, PROTOCOL, PARENT, STATE)

_TRACK_OF = {
    **dict.fromkeys((PUBLISH, DELIVER, SUBSCRIBE, UNSUBSCRIBE), APPLICATION),
    **dict.fromkeys((SEND, RECEIVE, DROP), MESSAGES),
}
_NO_EVENTS = {MOVE, ENERGY, RADIO, ROLE}
"""The rows that say something of a node and not that anything happens there."""
_BEGINS = {CRASH: "down (crash)", FREEZE: "down (freeze)", DETACH: "away"}
_ENDS = {RECOVER, ATTACH}
# What the page shows of an event that is clicked, if the row has it.
_DETAILS = (NOTIFICATION_ID, PEER, BYTES, HOPS, DETAIL)


def timeline(trace: Trace) -> Iterator[bytes]:
    """The packets of a run's timeline; raises UserError, OSError. In memory is what is going on at each node."""
    drawn = _Timeline()
    end = 0
    for row in rows(trace):
        end = round(row[TIME_S] * SECOND)
        if row[NODE] not in drawn.nodes:
            yield from drawn.declare(row[NODE])
        if row[EVENT] not in _NO_EVENTS:
            yield from drawn.follow(row, end)
    yield from drawn.close(end)


def track_of(node: int, name: str) -> int:
    """The number of a node's track; the group of all its tracks has that of the empty name."""
    return (node + 1) * (len(TRACKS) + 1) + (TRACKS.index(name) + 1 if name else 0)


class _Timeline:
    """What has been declared, and which slices are open, by the numbers of their tracks.

    That is all that is kept of a run, whatever its length.
    """

    def __init__(self) -> None:
        self.nodes: set[int] = set()
        self._open: set[int] = set()

    def declare(self, node: int) -> Iterator[bytes]:
        """The tracks of a node."""
        self.nodes.add(node)
        group = track_of(node, "")
        yield track(group, f"node {node}")
        yield from (track(track_of(node, name), name, group) for name in TRACKS)

    def follow(self, row: Row, time: int) -> Iterator[bytes]:
        """The events of a row."""
        kind, node = row[EVENT], row[NODE]
        if kind == MIGRATE:
            yield from self._slice(track_of(node, PARENT), time, "" if row[PEER] is None else f"node {row[PEER]}")
        elif kind in _BEGINS:
            yield from self._slice(track_of(node, STATE), time, _BEGINS[kind])
        elif kind in _ENDS:
            yield from self._slice(track_of(node, STATE), time, "")
        else:
            yield self._instant(row, time)

    def close(self, time: int) -> Iterator[bytes]:
        """The ends of what goes on at the end of the run."""
        yield from (event(time, uuid, Kind.END) for uuid in sorted(self._open))

    def _slice(self, uuid: int, time: int, name: str) -> Iterator[bytes]:
        """Ends what goes on on the track, and begins the next thing, unless it has no name."""
        if uuid in self._open:
            self._open.remove(uuid)
            yield event(time, uuid, Kind.END)
        if name:
            self._open.add(uuid)
            yield event(time, uuid, Kind.BEGIN, name)

    def _instant(self, row: Row, time: int) -> bytes:
        kind = row[EVENT]
        uuid = track_of(row[NODE], _TRACK_OF.get(kind, PROTOCOL))
        name = " ".join(filter(None, (kind, row[MESSAGE_TYPE])))
        details = {key: row[key] for key in _DETAILS if row[key] is not None}
        joined = kind in {PUBLISH, DELIVER} and row[NOTIFICATION_ID] is not None
        # A flow has the number of its notification, and 0 is none.
        flow = crc32(row[NOTIFICATION_ID].encode(errors="replace")) + 1 if joined else None
        return event(time, uuid, Kind.INSTANT, name, details, flow=flow)


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
    for key, value in (details or {}).items():
        own = _text(_STRING_VALUE, value) if isinstance(value, str) else _number(_INT_VALUE, value)
        body += _bytes(_ANNOTATION, _text(_ANNOTATION_NAME, key) + own)
    if flow is not None:
        body += _key(_FLOWS, _EIGHT_BYTES) + _FIXED64.pack(flow)
    return _packet(_number(_TIMESTAMP, time) + _bytes(_TRACK_EVENT, body))


def _packet(body: bytes) -> bytes:
    """A packet as a field of the trace: the file is nothing but these one after the other."""
    return _bytes(_PACKET, body + _number(_SEQUENCE_ID, _SEQUENCE))


def _key(field: int, kind: int) -> bytes:
    """The number of a field with its wire type in the three lowest bits."""
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value % 2**64)  # protobuf has negative numbers in two's complement


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode(errors="replace"))


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, _LENGTH) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more come."""
    sevens = bytearray()
    while value > 127:
        sevens.append(value & 127 | 128)
        value >>= 7
    return bytes([*sevens, value])
