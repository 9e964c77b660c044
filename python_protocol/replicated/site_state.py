"""The state of a site, the same at each of its brokers: what a message changes, and what it makes the site send.

A state is a function of the messages taken and their order, so that brokers which are informed of the same messages in
the same order have the same state (002, section 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from roambus.python_protocol.replicated.messages import ORDERED, Event, Numbered, Sub, Uns, Update
from roambus.python_protocol.replicated.parameters import FLOODING, NONE, TOTAL, ReplicatedParameters
from roambus.python_protocol.replicated.routing import Wanted
from roambus.python_protocol.replicated.streams import Incoming, Outgoing
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.sites import SiteId, Sites

Peer = NodeId
"""A neighbour of a site: a client, or a neighbouring site, called by the first of its brokers."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a site is: its neighbours."""

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


class SiteState:
    """Routing and order of one site."""

    def __init__(self, place: Place, parameters: ReplicatedParameters) -> None:
        self.place = place
        self.ordered = 0
        """The last number that the sequencer has given (section 5.2)."""
        in_order = parameters.order != NONE
        self.wanted = {peer: Wanted() for peer in place.peers}
        self.incoming = {peer: Incoming(events_in_order=in_order) for peer in place.peers}
        self.outgoing = {peer: Outgoing() for peer in place.peers}
        self._parameters = parameters
        self._handlers: dict[type[Any], Callable[[Peer, Any], Iterable[Output | None]]] = {
            Sub: self._sub,
            Uns: self._uns,
            Event: self._event,
            Update: self._update,
        }

    def is_new(self, peer: Peer, message: Numbered) -> bool:
        """Whether the message has not been taken before."""
        return self.incoming[peer].is_new(message)

    def take(self, peer: Peer, message: Numbered) -> list[Output]:
        """Takes a message in; returns what is to be sent because of it, and of what waited for it."""
        outputs: list[Output | None] = []
        for ready in self.incoming[peer].take(message):
            outputs += self._handlers[type(ready)](peer, ready)
        return [output for output in outputs if output is not None]

    def unaccepted(self) -> list[Output]:
        """All that has been or is to be sent, and not been accepted."""
        return [Output(peer, message) for peer, out in self.outgoing.items() for message in out.unaccepted.values()]

    # Handlers

    def _sub(self, source: Peer, sub: Sub) -> Iterator[Output | None]:
        """Section 4: into the table of where it comes from, and through the tree."""
        self.wanted[source].add(sub.filter)
        return (self._put(site, sub) for site in self.place.sites if site != source)

    def _uns(self, source: Peer, uns: Uns) -> Iterator[Output | None]:
        """Section 4: out of the table, unless others behind the same neighbour still want it; and through the tree."""
        self.wanted[source].remove(uns.filter)
        return (self._put(site, uns) for site in self.place.sites if site != source)

    def _event(self, source: Peer, event: Event) -> Iterator[Output | None]:
        """Section 5.2 in total order: up to the root, which numbers it; else, and from there, section 4."""
        if self._parameters.order != TOTAL or event.stream == ORDERED:
            return self._propagate(
                event, [peer for peer in self.place.peers if peer != source or not self._is_site(peer)]
            )
        if self.place.parent is not None:
            return iter([self._put(self.place.parent, _one_further(event))])
        self.ordered += 1
        return self._propagate(replace(event, stream=ORDERED, number=self.ordered), self.place.peers)

    def _update(self, source: Peer, update: Update) -> Iterator[Output | None]:
        """Section 7: nobody behind the sender's way wanted the event, and those behind this site must count it, too."""
        return (self._put(site, update) for site in self.place.sites if site != source)

    # Senders

    def _propagate(self, event: Event, peers: Iterable[Peer]) -> Iterator[Output | None]:
        for peer in peers:
            if self._is_wanted(peer, event):
                yield self._put(peer, _one_further(event))
            elif self._is_site(peer) and not self._renumbers(peer, event):
                yield self._put(peer, Update(event.stream, event.number))

    def _is_wanted(self, peer: Peer, event: Event) -> bool:
        floods = self._parameters.routing == FLOODING and self._is_site(peer)
        return floods or self.wanted[peer].matches(event.notification)

    def _put(self, peer: Peer, message: Numbered) -> Output | None:
        """None if it was accepted before this copy of the state has come here."""
        outgoing = self.outgoing[peer]
        own = outgoing.number(message) if self._renumbers(peer, message) else message
        return Output(peer, own) if outgoing.put(own) else None

    def _renumbers(self, peer: Peer, message: Numbered) -> bool:
        """Section 5.1. Without order there is nothing to expect, so an event that goes elsewhere leaves no gap."""
        if isinstance(message, Sub | Uns) or not self._is_site(peer):
            return True
        return self._parameters.renumber or self._parameters.order == NONE

    def _is_site(self, peer: Peer) -> bool:
        return peer in self.place.sites


def _one_further(event: Event) -> Event:
    return replace(event, hops=min(event.hops + 1, 0xFF))
