"""The state of a site, the same at each of its brokers, and its bytes.

It is a function of the messages taken and their order (section 6). Handlers route (section 4), order (section 5), and
return messages, which are kept until accepted. Tables count filters, because clients share neighbours. Receivers of a
stream keep the next number and early messages, senders the last number and unaccepted ones (section 5.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

from roambus.extensions.replicated.messages import (
    FLOODING,
    NONE,
    ORDERED,
    SUBSCRIPTIONS,
    TOTAL,
    Accepted,
    Event,
    Key,
    Number,
    Numbered,
    ReplicatedParameters,
    Stream,
    Sub,
    Uns,
    Update,
    subject,
)
from roambus.extensions.replicated.sites import SiteId, Sites
from roambus.python_protocol.agent import Process, on
from roambus.python_protocol.filters import Filter, NotificationId
from roambus.python_protocol.messages.fields import U16, LongTuple, Names
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Peer = NodeId
"""A client, or a neighbouring site, named by its first broker."""
_WHENEVER: SimTime = 0
"""The handlers' time: a state must not depend on it."""
_BATCH = 0xFFFF
"""The largest count of two bytes."""


class SiteState(Process):
    """A site's routing and order."""

    def __init__(self, place: Place, parameters: ReplicatedParameters) -> None:
        super().__init__()
        self.place = place
        self.ordered = 0
        """The sequencer's last number (section 5.2)."""
        # Both orders are that of a stream. In total order it is the sequencer's, and until an event has its number in
        # that, it goes to the root in the order of its publisher's.
        in_order = parameters.order != NONE
        self.wanted: dict[Peer, Counter[Filter]] = {peer: Counter() for peer in place.peers}
        self.incoming = {peer: Incoming(events_in_order=in_order) for peer in place.peers}
        self.outgoing = {peer: Outgoing() for peer in place.peers}
        self._parameters = parameters
        self._outputs: list[Output] = []
        """Messages that the one being processed causes."""

    def is_new(self, peer: Peer, message: Numbered) -> bool:
        """Whether the message has not been taken."""
        return self.incoming[peer].is_new(message)

    def take_in(self, peer: Peer, message: Numbered) -> tuple[Output, ...]:
        """Process a message; return all messages that follow."""
        for ready in self.incoming[peer].take(message):
            self._handle_message(ready, peer, _WHENEVER)
        outputs, self._outputs = tuple(self._outputs), []
        return outputs

    def unaccepted(self) -> tuple[Output, ...]:
        """Return all unaccepted messages."""
        kept = self.outgoing.items()
        return tuple(Output(peer, message) for peer, out in kept for message in out.unaccepted.values())

    # Handlers

    @on(Sub)
    def subscribe(self, sub: Sub, source: Peer, _: SimTime) -> None:
        """Count the filter, and send it through the tree (section 4)."""
        self.wanted[source][sub.filter] += 1
        self._put_to_sites(sub, source)

    @on(Uns)
    def unsubscribe(self, uns: Uns, source: Peer, _: SimTime) -> None:
        """Count the filter down (section 4): others may want it."""
        # The paper's authors had planned this, and left it out (section 7): a filter was never taken back.
        wanted = self.wanted[source]
        wanted[uns.filter] -= 1
        if not wanted[uns.filter]:
            del wanted[uns.filter]
        self._put_to_sites(uns, source)

    @on(Event)
    def publish(self, event: Event, source: Peer, _: SimTime) -> None:
        """Route the event (section 4); the root gives ordered ones numbers (section 5.2)."""
        if self._parameters.order != TOTAL or event.stream == ORDERED:
            # It does not go back to the site that it came from. A client that publishes what it wants gets it.
            others = [peer for peer in self.place.peers if peer != source or not self._is_site(peer)]
            self._propagate(event, others)
        elif self.place.parent is not None:
            self._put(self.place.parent, _one_further(event))
        else:
            self.ordered += 1
            self._propagate(replace(event, stream=ORDERED, number=self.ordered), self.place.peers)

    @on(Update)
    def update(self, update: Update, source: Peer, _: SimTime) -> None:
        """Count a missing event (section 7), also at its receivers without own numbers."""
        others: Iterable[Peer] = self.place.sites
        if self._parameters.order == TOTAL and update.stream != ORDERED:  # on its way to the root
            others = () if self.place.parent is None else (self.place.parent,)
        for site in others:
            if site != source and not self._renumbers(site, update):
                self._put(site, update)

    # Senders

    def _propagate(self, event: Event, peers: Iterable[Peer]) -> None:
        for peer in peers:
            if self._is_wanted(peer, event):
                self._put(peer, _one_further(event))
            elif self._is_site(peer) and not self._renumbers(peer, event):
                self._put(peer, Update(event.stream, event.number))

    def _put_to_sites(self, message: Numbered, source: Peer) -> None:
        for site in self.place.sites:
            if site != source:
                self._put(site, message)

    def _put(self, peer: Peer, message: Numbered) -> None:
        """Send a message unless an earlier copy had it accepted."""
        outgoing = self.outgoing[peer]
        own = outgoing.number(message) if self._renumbers(peer, message) else message
        if outgoing.put(own):
            self._outputs.append(Output(peer, own))

    # Helpers

    def _is_wanted(self, peer: Peer, event: Event) -> bool:
        floods = self._parameters.routing == FLOODING and self._is_site(peer)
        return floods or any(wanted.matches(event.notification) for wanted in self.wanted[peer])

    def _renumbers(self, peer: Peer, message: Numbered) -> bool:
        """Whether a neighbour has its own numbers (section 5.1); unordered gaps are harmless."""
        if isinstance(message, Sub | Uns) or not self._is_site(peer):
            return True
        return self._parameters.renumber or self._parameters.order == NONE

    def _is_site(self, peer: Peer) -> bool:
        return peer in self.place.sites


def _one_further(event: Event) -> Event:
    return replace(event, hops=min(event.hops + 1, 0xFF))


@dataclass(frozen=True, slots=True)
class Place:
    """A site's neighbours in the tree."""

    parent: Peer | None
    sites: tuple[Peer, ...]
    clients: tuple[Peer, ...]

    @property
    def peers(self) -> tuple[Peer, ...]:
        """All neighbours, in a fixed order."""
        return (*self.clients, *self.sites)


def place_of(site: SiteId, sites: Sites) -> Place:
    """A site's place in the tree."""
    parent = sites[site].parent
    neighbours = tuple(sites[near].brokers[0] for near in sites.neighbours(site))
    return Place(None if parent is None else sites[parent].brokers[0], neighbours, sites[site].clients)


class Output(NamedTuple):
    """A message that the site has to send."""

    peer: Peer
    message: Numbered


class Incoming:
    """The streams from one neighbour."""

    def __init__(self, *, events_in_order: bool) -> None:
        self.streams: dict[Stream, Awaited] = {}
        self._events_in_order = events_in_order

    def is_new(self, message: Numbered) -> bool:
        """Whether the message has not come before."""
        stream = self.streams.get(message.stream)
        return stream is None or stream.is_new(message.number)

    def holds(self, event: Event) -> bool:
        """Whether this event waits for its turn."""
        stream = self.streams.get(event.stream)
        held = None if stream is None else stream.waiting.get(event.number)
        return held is not None and subject(held) == subject(event)

    def missing(self) -> list[Key]:
        """Return the numbers that block other messages."""
        return [
            Key(stream, incoming.expected)
            for stream, incoming in self.streams.items()
            if any(incoming.waiting.values())
        ]

    def take(self, message: Numbered) -> list[Numbered]:
        """Take a message; return the processable ones."""
        stream = self.streams.setdefault(message.stream, Awaited())
        if not stream.is_new(message.number):
            return []
        return stream.take(message, in_order=self._events_in_order or message.stream == SUBSCRIPTIONS)


@dataclass(slots=True)
class Awaited:
    """One stream: the next number, and early messages (section 5.1).

    In unordered streams a None marks a taken number.
    """

    expected: Number = 1
    waiting: dict[Number, Numbered | None] = field(default_factory=dict)

    def is_new(self, number: Number) -> bool:
        """Whether the number has not come before."""
        return number >= self.expected and number not in self.waiting

    def take(self, message: Numbered, *, in_order: bool) -> list[Numbered]:
        """Take a new message; return the processable ones in order."""
        self.waiting[message.number] = message if in_order else None
        ready = [] if in_order else [message]
        while self.expected in self.waiting:
            held = self.waiting.pop(self.expected)
            ready += [] if held is None else [held]
            self.expected += 1
        return ready


class Outgoing:
    """The streams to one neighbour."""

    def __init__(self) -> None:
        self.last: dict[Stream, Number] = {}
        """Each stream's highest number (section 5.1)."""
        self.unaccepted: dict[Key, Numbered] = {}
        self.early: dict[Key, NotificationId] = {}
        """Notifications accepted before this copy sent them."""

    def number(self, message: Numbered) -> Numbered:
        """Give a message its stream's next number."""
        return replace(message, number=self.last.get(message.stream, 0) + 1)

    def put(self, message: Numbered) -> bool:
        """Keep a message until accepted; return False if it is already."""
        self.last[message.stream] = message.number
        if self.early.pop(message.key, None) == subject(message):
            return False
        self.unaccepted[message.key] = message
        return True

    def skip_used(self) -> None:
        """Count numbers as used that lost copies sent.

        UPDATEs fill the gaps, or the neighbour would wait.
        """
        for key in sorted(self.early):
            for number in range(self.last.get(key.stream, 0) + 1, key.number):
                self.put(Update(key.stream, number))
            self.last[key.stream] = max(key.number, self.last.get(key.stream, 0))
        self.early.clear()

    def accept(self, accepted: Accepted) -> bool:
        """Record an acceptance; return False if unexpected.

        A client's reply can precede the step; its remembered key prevents a repetition.
        """
        key = accepted.key
        if key.number > self.last.get(key.stream, 0):
            self.early[key] = accepted.notification
        if key not in self.unaccepted or subject(self.unaccepted[key]) != accepted.notification:
            return False
        del self.unaccepted[key]
        return True


def encode_state(state: SiteState) -> bytes:
    """Encode a state; peers are unnamed, in the scenario's order."""
    writer = Writer()
    writer.u32(state.ordered)
    for peer in state.place.peers:
        _NEIGHBOUR.write(writer, _record(state, peer))
    return writer.getvalue()


def decode_state(data: bytes, state: SiteState) -> SiteState:
    """Decode `encode_state` into a new state of that place; raise DecodeError."""
    reader = Reader(data, _NUMBERED)
    state.ordered = reader.u32()
    for peer in state.place.peers:
        _restore(state, peer, _NEIGHBOUR.read(reader))
    reader.finish()
    return state


def _record(state: SiteState, peer: Peer) -> _Neighbour:
    outgoing = state.outgoing[peer]
    return _Neighbour(
        wanted=tuple(_Wanted(filter_, times) for filter_, times in state.wanted[peer].items()),
        incoming=tuple(_stream(stream, awaited) for stream, awaited in state.incoming[peer].streams.items()),
        last=tuple(Key(stream, number) for stream, number in sorted(outgoing.last.items())),
        early=tuple(_Accepted(*early) for early in sorted(outgoing.early.items())),
        unaccepted=tuple(outgoing.unaccepted.values()),
    )


def _stream(stream: Stream, awaited: Awaited) -> _Incoming:
    waiting = (_Early(number, () if early is None else (early,)) for number, early in awaited.waiting.items())
    return _Incoming(stream, awaited.expected, tuple(waiting))


def _restore(state: SiteState, peer: Peer, record: _Neighbour) -> None:
    state.wanted[peer].update({row.filter: row.times for row in record.wanted})
    for stream, expected, waiting in record.incoming:
        held = {number: messages[0] if messages else None for number, messages in waiting}
        state.incoming[peer].streams[stream] = Awaited(expected, held)
    outgoing = state.outgoing[peer]
    outgoing.last.update(dict(record.last))
    outgoing.early.update(dict(record.early))
    outgoing.unaccepted.update({message.key: message for message in record.unaccepted})


class _Wanted(NamedTuple):
    """A row of a routing table."""

    filter: Filter
    times: U16


class _Early(NamedTuple):
    """An early number, with its unprocessed message."""

    number: Number
    messages: LongTuple[Numbered]


class _Accepted(NamedTuple):
    """A key, and its accepted notification."""

    key: Key
    notification: NotificationId


class _Many:
    """Any number of values, in batches with two-byte counts; the last is not full."""

    def __init__(self, kind: Any) -> None:
        self._kind = field_type(kind)

    def write(self, writer: Writer, values: Sequence[Any]) -> None:
        """Append the values in batches."""
        for first in range(0, len(values) + 1, _BATCH):
            batch = values[first : first + _BATCH]
            writer.u16(len(batch))
            for item in batch:
                self._kind.write(writer, item)

    def read(self, reader: Reader) -> tuple[Any, ...]:
        """Read the batches; raises DecodeError."""
        found: list[Any] = []
        count = _BATCH
        while count == _BATCH:
            count = reader.u16()
            found += (self._kind.read(reader) for _ in range(count))
        return tuple(found)

    def show(self, values: Sequence[Any], _names: Names) -> str:
        """Return the number of values."""
        return str(len(values))


class _Incoming(NamedTuple):
    """A stream from the neighbour."""

    stream: Stream
    expected: Number
    waiting: Annotated[tuple[_Early, ...], _Many(_Early)]


class _Neighbour(NamedTuple):
    """The record of one neighbour."""

    wanted: LongTuple[_Wanted]
    incoming: LongTuple[_Incoming]
    last: LongTuple[Key]
    early: Annotated[tuple[_Accepted, ...], _Many(_Accepted)]
    unaccepted: Annotated[tuple[Numbered, ...], _Many(Numbered)]


_NEIGHBOUR = field_type(_Neighbour)
_NUMBERED = MessageSet((Sub, Uns, Event, Update))
