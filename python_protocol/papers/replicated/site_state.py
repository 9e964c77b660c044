"""The state of a site, the same at each of its brokers: what a message changes, and what it makes the site send.

A state is a function of the messages taken and their order, so that brokers which are informed of the same messages in
the same order have the same state (section 6). Its handlers carry out the routing of section 4 and the orders of
section 5. They send nothing: what the site has to send is kept until it is accepted, and returned to the broker, which
knows whether and when it is the one to send it.

*Routing tables* say what is wanted at or behind each neighbour. Filters are counted, because several clients behind one
neighbour can have the same one, and each takes back its own: a filter goes when as many unsubscriptions as
subscriptions have come.

*Streams* are numbered messages from and to one neighbour, which is a client, or a neighbouring site whatever broker
speaks for it: each is taken once, sent until accepted, and put in order if asked for. For each stream the receiver
keeps the number that it expects next, and what has come too early; the sender keeps the last number, and what has not
been accepted (section 5.1).

*As bytes*, for a broker whose own copy is lost or of no use, a state begins with the sequencer's last number. Then
comes a record for each neighbour, in the order of the site's place, which all brokers of the site know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

from roambus.python_protocol.agent import Process, on
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.fields import U16, LongTuple, Names
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.papers.replicated.messages import (
    FLOODING,
    NONE,
    ORDERED,
    SUBSCRIPTIONS,
    TOTAL,
    Event,
    Key,
    Number,
    Numbered,
    ReplicatedParameters,
    Stream,
    Sub,
    Uns,
    Update,
)
from roambus.python_protocol.papers.replicated.sites import SiteId, Sites
from roambus.python_protocol.vocabulary import NodeId, SimTime

Peer = NodeId
"""A neighbour of a site: a client, or a neighbouring site, called by the first of its brokers."""
_WHENEVER: SimTime = 0
"""The time that handlers are told, because a state must not depend on it."""
_BATCH = 0xFFFF
"""The most values of a batch, the largest count of two bytes."""


class SiteState(Process):
    """The routing and the order of one site."""

    def __init__(self, place: Place, parameters: ReplicatedParameters) -> None:
        super().__init__()
        self.place = place
        self.ordered = 0
        """The last number that the sequencer has given (section 5.2)."""
        # Both orders are that of a stream. In total order it is the sequencer's, and until an event has its number in
        # that, it goes to the root in the order of its publisher's.
        in_order = parameters.order != NONE
        self.wanted: dict[Peer, Counter[Filter]] = {peer: Counter() for peer in place.peers}
        self.incoming = {peer: Incoming(events_in_order=in_order) for peer in place.peers}
        self.outgoing = {peer: Outgoing() for peer in place.peers}
        self._parameters = parameters
        self._outputs: list[Output] = []
        """What the message that is being processed makes the site send."""

    def is_new(self, peer: Peer, message: Numbered) -> bool:
        """Whether the message has not been taken before."""
        return self.incoming[peer].is_new(message)

    def take_in(self, peer: Peer, message: Numbered) -> tuple[Output, ...]:
        """Processes a message; returns what is to be sent because of it, and of what waited for it."""
        for ready in self.incoming[peer].take(message):
            self.hear(ready, peer, _WHENEVER)
        outputs, self._outputs = tuple(self._outputs), []
        return outputs

    def unaccepted(self) -> tuple[Output, ...]:
        """All that has been or is to be sent, and not been accepted."""
        kept = self.outgoing.items()
        return tuple(Output(peer, message) for peer, out in kept for message in out.unaccepted.values())

    # Handlers

    @on(Sub)
    def subscribe(self, sub: Sub, source: Peer, _: SimTime) -> None:
        """Section 4: counts the filter in the table of where it comes from, and sends it on through the tree."""
        self.wanted[source][sub.filter] += 1
        self._put_to_sites(sub, source)

    @on(Uns)
    def unsubscribe(self, uns: Uns, source: Peer, _: SimTime) -> None:
        """Section 4: counts the filter down, since others behind the neighbour may still want it, and sends this on."""
        # The paper's authors had planned this, and left it out (section 7): a filter was never taken back.
        wanted = self.wanted[source]
        wanted[uns.filter] -= 1
        if not wanted[uns.filter]:
            del wanted[uns.filter]
        self._put_to_sites(uns, source)

    @on(Event)
    def publish(self, event: Event, source: Peer, _: SimTime) -> None:
        """Routes the event (section 4). In total order the root numbers it first, so it goes there (section 5.2)."""
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
        """Section 7: an event does not come this way, and those to whom it would have gone on must count it, too.

        Neighbours that have numbers of their own have no gap.
        """
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
        """Has a message sent, unless it was accepted before this copy of the state has come here."""
        outgoing = self.outgoing[peer]
        own = outgoing.number(message) if self._renumbers(peer, message) else message
        if outgoing.put(own):
            self._outputs.append(Output(peer, own))

    # Helpers

    def _is_wanted(self, peer: Peer, event: Event) -> bool:
        floods = self._parameters.routing == FLOODING and self._is_site(peer)
        return floods or any(one.matches(event.notification) for one in self.wanted[peer])

    def _renumbers(self, peer: Peer, message: Numbered) -> bool:
        """Whether a neighbour has numbers of its own (section 5.1).

        Without order no number is expected, so an event that goes elsewhere leaves no gap.
        """
        if isinstance(message, Sub | Uns) or not self._is_site(peer):
            return True
        return self._parameters.renumber or self._parameters.order == NONE

    def _is_site(self, peer: Peer) -> bool:
        return peer in self.place.sites


def _one_further(event: Event) -> Event:
    return replace(event, hops=min(event.hops + 1, 0xFF))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a site is in the tree, which is told by its neighbours."""

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
    neighbours = tuple(sites[one].brokers[0] for one in sites.neighbours(site))
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

    def missing(self) -> list[Key]:
        """What other messages wait for."""
        return [Key(stream, one.expected) for stream, one in self.streams.items() if any(one.waiting.values())]

    def take(self, message: Numbered) -> list[Numbered]:
        """Takes a message, and returns what can be processed now: nothing for what has come before."""
        stream = self.streams.setdefault(message.stream, Awaited())
        if not stream.is_new(message.number):
            return []
        return stream.take(message, in_order=self._events_in_order or message.stream == SUBSCRIPTIONS)


@dataclass(slots=True)
class Awaited:
    """One stream: the number expected next, and what has come too early (section 5.1).

    A waiting number without a message has been taken already, where order does not matter. Numbers are kept only beyond
    the expected one, so that what is remembered of a stream stays small however long it is.
    """

    expected: Number = 1
    waiting: dict[Number, Numbered | None] = field(default_factory=dict)

    def is_new(self, number: Number) -> bool:
        """Whether the number has not come before."""
        return number >= self.expected and number not in self.waiting

    def take(self, message: Numbered, *, in_order: bool) -> list[Numbered]:
        """Takes a new message, and returns what can be processed now, in order."""
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
        """The highest number sent in each stream (section 5.1)."""
        self.unaccepted: dict[Key, Numbered] = {}
        self.early: set[Key] = set()
        """Accepted before this copy of the state has sent it."""

    def number(self, message: Numbered) -> Numbered:
        """Gives a message the next number of its stream."""
        return replace(message, number=self.last.get(message.stream, 0) + 1)

    def put(self, message: Numbered) -> bool:
        """Keeps a message that is to be sent until it is accepted; False if it has been accepted already."""
        self.last[message.stream] = message.number
        if message.key in self.early:
            self.early.remove(message.key)
            return False
        self.unaccepted[message.key] = message
        return True

    def accept(self, key: Key) -> bool:
        """The neighbour has it; False if nobody waited for that.

        A client replies to all three brokers, and its reply can be here before the leader's step that makes the site
        send the event. Such a key is remembered, or this broker would send the event once more when it leads.
        """
        if key.number > self.last.get(key.stream, 0):
            self.early.add(key)
        return self.unaccepted.pop(key, None) is not None


def encode_state(state: SiteState) -> bytes:
    """The bytes of a state; the same state always has the same.

    Peers are not named: all brokers of a site know them in one order, which is that of the scenario.
    """
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
        wanted=tuple(_Wanted(one, times) for one, times in state.wanted[peer].items()),
        incoming=tuple(_stream(stream, awaited) for stream, awaited in state.incoming[peer].streams.items()),
        last=tuple(Key(stream, number) for stream, number in sorted(outgoing.last.items())),
        early=tuple(sorted(outgoing.early)),
        unaccepted=tuple(outgoing.unaccepted.values()),
    )


def _stream(stream: Stream, awaited: Awaited) -> _Incoming:
    waiting = (_Early(number, () if one is None else (one,)) for number, one in awaited.waiting.items())
    return _Incoming(stream, awaited.expected, tuple(waiting))


def _restore(state: SiteState, peer: Peer, record: _Neighbour) -> None:
    state.wanted[peer].update({row.filter: row.times for row in record.wanted})
    for stream, expected, waiting in record.incoming:
        held = {number: messages[0] if messages else None for number, messages in waiting}
        state.incoming[peer].streams[stream] = Awaited(expected, held)
    outgoing = state.outgoing[peer]
    outgoing.last.update(dict(record.last))
    outgoing.early.update(record.early)
    outgoing.unaccepted.update({one.key: one for one in record.unaccepted})


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
        """Appends the values in batches, the last of which may have none."""
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
