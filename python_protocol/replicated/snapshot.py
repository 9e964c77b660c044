"""A site's state as bytes, for a broker whose own copy is lost or of no use."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import cast

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import MessageSet, Reader, Writer
from roambus.python_protocol.replicated.messages import Event, Numbered, Sub, Uns, Update
from roambus.python_protocol.replicated.routing import Wanted
from roambus.python_protocol.replicated.site_state import SiteState
from roambus.python_protocol.replicated.streams import Awaited, Incoming, Outgoing

_NUMBERED = MessageSet((Sub, Uns, Event, Update))
_KEY = Struct("!HI")


def encode_state(state: SiteState) -> bytes:
    """Table and streams of each neighbour, in the order of the state's place."""
    writer = Writer()
    writer.u32(state.ordered)
    for peer in state.place.peers:
        _write_wanted(state.wanted[peer], writer)
        _write_incoming(state.incoming[peer], writer)
        _write_outgoing(state.outgoing[peer], writer)
    return writer.getvalue()


def decode_state(data: bytes, state: SiteState) -> SiteState:
    """Fills `state`, new and of the same place, with what `encode_state` wrote; raises DecodeError."""
    reader = Reader(data, _NUMBERED)
    state.ordered = reader.u32()
    for peer in state.place.peers:
        _read_wanted(state.wanted[peer], reader)
        _read_incoming(state.incoming[peer], reader)
        _read_outgoing(state.outgoing[peer], reader)
    reader.finish()
    return state


def _write_wanted(wanted: Wanted, writer: Writer) -> None:
    writer.u16(len(wanted.filters))
    for one, times in wanted.filters.items():
        one.write(writer)
        writer.u16(times)


def _read_wanted(wanted: Wanted, reader: Reader) -> None:
    for _ in range(reader.u16()):
        one = Filter.read(reader)
        wanted.filters[one] = reader.u16()


def _write_incoming(incoming: Incoming, writer: Writer) -> None:
    writer.u16(len(incoming.streams))
    for stream, awaited in incoming.streams.items():
        writer.pack(_KEY, stream, awaited.expected)
        writer.u16(len(awaited.waiting))
        for number, message in awaited.waiting.items():
            writer.u32(number)
            _write_messages([] if message is None else [message], writer)


def _read_incoming(incoming: Incoming, reader: Reader) -> None:
    for _ in range(reader.u16()):
        stream, awaited = reader.u16(), Awaited(reader.u32())
        incoming.streams[stream] = awaited
        for _ in range(reader.u16()):
            number, messages = reader.u32(), _read_messages(reader)
            awaited.waiting[number] = messages[0] if messages else None


def _write_outgoing(outgoing: Outgoing, writer: Writer) -> None:
    _write_keys(outgoing.last.items(), writer)
    _write_keys(outgoing.early, writer)
    _write_messages(outgoing.unaccepted.values(), writer)


def _read_outgoing(outgoing: Outgoing, reader: Reader) -> None:
    outgoing.last.update(_read_keys(reader))
    outgoing.early.update(_read_keys(reader))
    outgoing.unaccepted.update({(one.stream, one.number): one for one in _read_messages(reader)})


def _write_keys(keys: Iterable[tuple[int, int]], writer: Writer) -> None:
    listed = sorted(keys)
    writer.u16(len(listed))
    for stream, number in listed:
        writer.pack(_KEY, stream, number)


def _read_keys(reader: Reader) -> list[tuple[int, int]]:
    return [(reader.u16(), reader.u32()) for _ in range(reader.u16())]


def _write_messages(messages: Iterable[Numbered], writer: Writer) -> None:
    listed = list(messages)
    writer.u16(len(listed))
    for message in listed:
        writer.message(message)


def _read_messages(reader: Reader) -> list[Numbered]:
    # The reader knows no other messages.
    return [cast("Numbered", reader.message()) for _ in range(reader.u16())]
