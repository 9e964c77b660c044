"""A run as a timeline of Perfetto: a group of tracks for each node, on which everything that happens there stands.

| track         | what is on it                                                                                |
|---------------|----------------------------------------------------------------------------------------------|
| `application` | publications and deliveries, with arrows from a publication to its deliveries; subscriptions |
| `messages`    | what is sent, dropped and, at level full, received                                           |
| `protocol`    | what the agent notes                                                                         |
| `parent`      | a slice for as long as the node has one parent                                               |
| `state`       | a slice for as long as the node is down, or its client away                                  |
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from roambus.bridge.trace.schema import (
    ATTACH,
    BYTES,
    CRASH,
    DELIVER,
    DETACH,
    DETAIL,
    DROP,
    ENERGY,
    EVENT,
    FREEZE,
    HOPS,
    MESSAGE_TYPE,
    MIGRATE,
    MOVE,
    NODE,
    NOTIFICATION_ID,
    PEER,
    PUBLISH,
    RADIO,
    RECEIVE,
    RECOVER,
    ROLE,
    SEND,
    SUBSCRIBE,
    TIME_S,
    UNSUBSCRIBE,
)
from roambus.experiments.export.perfetto import Kind, event, track
from roambus.experiments.export.runs import Row, rows
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.traces import Trace

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
    """What has been declared, and which slices are open."""

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
        return event(time, uuid, Kind.INSTANT, name, details, flow=_flow(row[NOTIFICATION_ID]) if joined else None)


def _flow(notification: str) -> int:
    return crc32(notification.encode(errors="replace")) + 1
