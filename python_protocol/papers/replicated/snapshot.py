"""A site's state as bytes, for a broker whose own copy is lost or of no use.

The bytes begin with the sequencer's last number. Then comes a record for each neighbour, in the order of the site's
place, which all brokers of the site know.

A copy of the state in pieces, for a message has at most 65535 bytes, and a copy as many as its site has to keep.

The pieces go before the message that gives the copy, which then has no bytes of a copy itself. A message overtakes no
other, so they all are there when it comes. What was begun and not ended, because its sender has crashed, is forgotten
when the next copy begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.fields import U16, LongTuple
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.papers.replicated.messages import (
    Event,
    Key,
    Number,
    Numbered,
    Piece,
    Point,
    Stream,
    Sub,
    Uns,
    Update,
)
from roambus.python_protocol.papers.replicated.site_state import Awaited, Peer, SiteState
from roambus.python_protocol.roles import NodeId

_BATCH = 0xFFFF


class _Wanted(NamedTuple):
    """A row of a routing table."""

    filter: Filter
    times: U16


class _Early(NamedTuple):
    """A number that has come too early, with its message if that is yet to be processed."""

    number: Number
    messages: LongTuple[Numbered]


class _Many:
    """As many values of one type as there are, in batches: each has a count of two bytes, the last less than 65535."""

    def __init__(self, kind: Any) -> None:
        self._kind = field_type(kind)

    def write(self, writer: Writer, values: Sequence[Any]) -> None:
        """Appends the batches."""
        for first in range(0, len(values) + 1, _BATCH):
            batch = values[first : first + _BATCH]
            writer.u16(len(batch))
            for one in batch:
                self._kind.write(writer, one)

    def read(self, reader: Reader) -> tuple[Any, ...]:
        """Takes the batches off the front; raises DecodeError."""
        found: list[Any] = []
        count = _BATCH
        while count == _BATCH:
            count = reader.u16()
            found += (self._kind.read(reader) for _ in range(count))
        return tuple(found)

    def show(self, values: Sequence[Any], _names: Names) -> str:
        """How many there are."""
        return str(len(values))


class _Incoming(NamedTuple):
    """A stream from the neighbour."""

    stream: Stream
    expected: Number
    waiting: Annotated[tuple[_Early, ...], _Many(_Early)]


class _Neighbour(NamedTuple):
    """All that is kept for one neighbour."""

    wanted: LongTuple[_Wanted]
    incoming: LongTuple[_Incoming]
    last: LongTuple[Key]
    early: Annotated[tuple[Key, ...], _Many(Key)]
    unaccepted: Annotated[tuple[Numbered, ...], _Many(Numbered)]


_NEIGHBOUR = field_type(_Neighbour)
_NUMBERED = MessageSet((Sub, Uns, Event, Update))


def encode_state(state: SiteState) -> bytes:
    """The bytes of a state; the same state always has the same."""
    writer = Writer()
    writer.u32(state.ordered)
    for peer in state.place.peers:
        _NEIGHBOUR.write(writer, _record(state, peer))
    return writer.getvalue()


def decode_state(data: bytes, state: SiteState) -> SiteState:
    """Fills `state`, new and of the same place, with what `encode_state` wrote; raises DecodeError."""
    reader = Reader(data, _NUMBERED)
    state.ordered = reader.u32()
    for peer in state.place.peers:
        _restore(state, peer, _NEIGHBOUR.read(reader))
    reader.finish()
    return state


def _record(state: SiteState, peer: Peer) -> _Neighbour:
    outgoing = state.outgoing[peer]
    return _Neighbour(
        wanted=tuple(_Wanted(one, times) for one, times in state.wanted[peer].filters.items()),
        incoming=tuple(_stream(stream, awaited) for stream, awaited in state.incoming[peer].streams.items()),
        last=tuple(Key(stream, number) for stream, number in sorted(outgoing.last.items())),
        early=tuple(sorted(outgoing.early)),
        unaccepted=tuple(outgoing.unaccepted.values()),
    )


def _stream(stream: Stream, awaited: Awaited) -> _Incoming:
    waiting = (_Early(number, () if one is None else (one,)) for number, one in awaited.waiting.items())
    return _Incoming(stream, awaited.expected, tuple(waiting))


def _restore(state: SiteState, peer: Peer, record: _Neighbour) -> None:
    state.wanted[peer].filters.update({row.filter: row.times for row in record.wanted})
    for stream, expected, waiting in record.incoming:
        held = {number: messages[0] if messages else None for number, messages in waiting}
        state.incoming[peer].streams[stream] = Awaited(expected, held)
    outgoing = state.outgoing[peer]
    outgoing.last.update(dict(record.last))
    outgoing.early.update(record.early)
    outgoing.unaccepted.update({one.key: one for one in record.unaccepted})


def cut(point: Point, snapshot: bytes, size: int) -> Iterator[Piece]:
    """The pieces of a copy, none of which is longer than `size`; none if the copy is not longer."""
    if len(snapshot) <= size:
        return
    count = -(-len(snapshot) // size)
    for number in range(count):
        yield Piece(point, number, count, snapshot[number * size : (number + 1) * size])


class Pieces:
    """The pieces that have come, of one copy from each sender."""

    def __init__(self) -> None:
        self._pieces: dict[NodeId, list[Piece]] = {}

    def add(self, sender: NodeId, piece: Piece) -> None:
        """Another piece; the first of a copy ends what was there before."""
        if piece.number == 0:
            self._pieces[sender] = []
        self._pieces.setdefault(sender, []).append(piece)

    def take(self, sender: NodeId, point: Point) -> bytes:
        """The copy of this point that a sender has given in pieces; no bytes if it has not."""
        pieces = self._pieces.pop(sender, [])
        numbers = [(piece.point, piece.number) for piece in pieces]
        count = pieces[0].count if pieces else 0
        is_whole = numbers == [(point, number) for number in range(count)]
        return b"".join(piece.data for piece in pieces) if is_whole else b""
