"""A broker of MFT-PubSub: algorithms 4.1 to 4.4 of 003, without radio, link or tree.

How the algorithms are read where they leave something open:

- *The hop count compared* on a BMIG is the one that its sender declares for the subscriber; a tie goes to the sender.
- *BMIG tells everything known*: subscribers without filters, and those that are already behind the new parent, go in O.
- *Control messages from a broker outside N_i are ignored*, and nothing is passed back to where it came from.
- MIG follows the next hops to their end, even past b (4.1, line 20): there it ends by itself, unless b has meanwhile
  learnt of another place.

What mends them where they fail; parameters of these names switch each off:

- `home_decides`. A hop count can be that of a way that no longer exists, so of two brokers at one timestamp the nearer
  need not be right. Only the subscriber's own broker (hops 1) is, and it contradicts every other claim. All others take
  a claim of the same timestamp and pass it on along their old way: if that leads to the subscriber's broker, its BSUB
  sets everybody right; if it does not, nothing was lost.
- `correct_old`. Whoever says something old is wrong, and nobody else will tell it: it gets a BSUB, as the sender of an
  old BMIG does (4.3, line 10).
- `forget_ways`. A BSUB says that the way is here, so for its sender it cannot be there; O says that it is there, so for
  its receiver it cannot be here. Otherwise two brokers point at each other.
- `replay_always`. A SUB shows a way as a MIG does. A subscriber without filters may only be about to mend them: what is
  replayed goes on to it, and it drops what it does not want.
- `greet_back`. A neighbour that was lost without having moved, and is back, is sent a BMIG as if by a migration:
  timestamps show both what each has missed. Its O, with infinite hops, says nothing of ways: the neighbour may never
  have noticed, or be on its way to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers.messages import MAX_HOPS, Filters, Pub
from roambus.python_protocol.listing import Listing, by_first_column
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.mft.forwarding import Forwarding
from roambus.python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.mft.routing import Route
from roambus.python_protocol.mft.timestamps import Timestamp, at_hops
from roambus.python_protocol.roles import NodeId


class Broker(Forwarding):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self._uplink: NodeId | None = None
        self._lost: set[NodeId] = set()
        self._owed_filters: set[NodeId] = set()
        self._handlers: dict[type[Message], Callable[[NodeId, Any], list[Action]]] = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
            Mig: self._receive_mig,
            Rep: self._receive_rep,
            Bmig: self._receive_bmig,
            Bquery: self._receive_bquery,
            Bsub: self._receive_bsub,
        }

    def receive(self, sender: NodeId, message: Message) -> list[Action]:
        """A message has arrived from an interface z, or from the client on this node."""
        self._meet(sender, message)
        if not (isinstance(message, Pub | Rep) or self.reaches(sender)):
            return []
        return self._handlers[type(message)](sender, message)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i with T_i, and Q_i."""
        rows: list[tuple[str, ...]] = []
        for subscriber, route in self.table:
            place = (names.interface(route.next_hop, self.node), names.subscriber(subscriber), str(route.timestamp))
            rows += [(one, *place) for one in map(names.filter, route.filters)] or [(NOBODY, *place)]
        head = ("Filter", "Interface", "Subscriber", "T")
        return {"table": by_first_column(head, rows), "stored": self.storage.listing(names)}

    # Interfaces

    def neighbour_appeared(self, neighbour: NodeId) -> list[Action]:
        """A broker has made this one its parent, or is back."""
        was_lost = neighbour in self._lost and neighbour not in self.neighbours
        self.meet(neighbour)
        return self._greet(neighbour) if was_lost and self._parameters.greet_back else []

    def client_appeared(self, client: NodeId) -> list[Action]:
        """A client has attached itself, or is back."""
        self.clients.add(client)
        actions: list[Action] = []
        if client in self._owed_filters:
            actions += self._send_filters(client)
        return actions + self._send_queued(client, self._way(client))

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """A neighbour or client is out of reach; one that `moved` will tell of itself by its new parent."""
        if interface in self.neighbours and not moved:
            self._lost.add(interface)
        super().gone(interface, moved=moved)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """A link was given up: notifications that were not acknowledged go another way, or are stored."""
        self.gone(interface, moved=False)
        lost = list(messages)
        if any(isinstance(message, Filters) for message in lost):
            self._owed_filters.add(interface)
        return self._store_undelivered(interface, lost)

    def migrate(self, parent: NodeId) -> list[Action]:
        """Algorithm 4.2: the way to the leader now begins at `parent` (b_n); C is what this broker represents there."""
        behind = {parent, None}
        if self._uplink not in self.neighbours:
            behind.add(self._uplink)
        self._uplink = parent
        self.meet(parent)
        children: list[Known] = []
        others: list[Known] = []
        actions: list[Action] = []
        for subscriber, route in self.table:
            if route.filters and route.next_hop not in behind:
                children.append(_known(subscriber, route))
                continue
            others.append(_known(subscriber, route))
            if route.filters:
                route.next_hop = parent
                actions += self._send_queued(subscriber, parent)
        return [Send(parent, Bmig(tuple(children), tuple(others), 0)), *actions]

    def meet(self, neighbour: NodeId) -> None:
        """Enters a broker in N_i."""
        self._lost.discard(neighbour)
        super().meet(neighbour)

    # Algorithm 4.1

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Lines 1 to 6."""
        if not self._is_newer(message):
            return self._correct(sender, message)
        self._locate(sender, message).filters[message.filter] = None
        replayed = self._send_queued(message.subscriber, sender) if self._parameters.replay_always else []
        return self.flood(_one_hop_on(message), sender) + replayed

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Lines 7 to 12."""
        if not self._is_newer(message):
            return self._correct(sender, message)
        self._locate(sender, message).filters.pop(message.filter, None)
        return self.flood(_one_hop_on(message), sender)

    def _receive_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 13 to 26."""
        if not self._is_newer(message):
            return self._correct(sender, message)
        subscriber = message.subscriber
        old = self.table.next_hop(subscriber)
        actions: list[Action] = []
        if _is_from_client(sender, message):
            actions += self._send_filters(subscriber)
        if old in self.neighbours and old != sender:
            actions.append(Send(old, replace(message, hops=message.hops + 1)))
        self._locate(sender, message)
        return actions + self._send_queued(subscriber, sender)

    def _correct(self, sender: NodeId, message: Sub | Uns | Mig) -> list[Action]:
        """`correct_old`: tells a neighbour what is newer than its message."""
        is_old = message.timestamp < self.table.timestamp(message.subscriber).counter
        if not (self._parameters.correct_old and is_old and sender in self.neighbours):
            return []
        return self._send_subscriptions(message.subscriber, sender)

    # Algorithm 4.3

    def _receive_bmig(self, sender: NodeId, message: Bmig) -> list[Action]:
        """Lines 1 to 35."""
        actions: list[Action] = []
        passed_on: list[Known] = []
        old_hops: dict[NodeId, None] = {}
        for child in message.children:
            actions += self._check_child(sender, child)
            if self._believes(child):
                passed_on.append(Known(child.subscriber, self.table.timestamp(child.subscriber).counter, child.hops))
                old_hops |= self._redirect(sender, child, message.hops)
        for other in message.others:
            if other.hops < MAX_HOPS:
                self._forget_way(other.subscriber, sender)
            actions += self._check_counter(sender, other)
        if message.hops == 0:
            actions += self._tell_missing(sender, {known.subscriber for known in message.children + message.others})
        if message.hops < self._parameters.max_hops:
            actions += [Send(old, Bmig(tuple(passed_on), (), message.hops + 1)) for old in old_hops]
        for child in passed_on:
            actions += self._send_queued(child.subscriber, sender)
        return actions

    def _believes(self, child: Known) -> bool:
        """Lines 4, 11 and 12: whether the sender of a BMIG is the way to a subscriber that it calls its child."""
        own = self.table.timestamp(child.subscriber)
        if child.timestamp != own.counter:
            return child.timestamp > own.counter
        return not own.is_home if self._parameters.home_decides else child.hops <= own.hops

    def _check_child(self, sender: NodeId, child: Known) -> list[Action]:
        """Lines 6, 10 and 18."""
        if child.timestamp == self.table.timestamp(child.subscriber).counter:
            return [] if self._believes(child) else self._send_subscriptions(child.subscriber, sender)
        return self._check_counter(sender, child)

    def _check_counter(self, sender: NodeId, known: Known) -> list[Action]:
        """Lines 4 to 10 and 20 to 23: asks for what is newer there, tells what is newer here."""
        own = self.table.timestamp(known.subscriber)
        if known.timestamp > own.counter:
            return [Send(sender, Bquery(known.subscriber, own))]
        if known.timestamp < own.counter:
            return self._send_subscriptions(known.subscriber, sender)
        return []

    def _redirect(self, sender: NodeId, child: Known, hops: int) -> dict[NodeId, None]:
        """Lines 15 and 29 to 31: the next hop becomes the sender; returns the old one if the BMIG must go there."""
        route = self.table.get(child.subscriber)
        if route is None:
            return {}
        old = self.table.next_hop(child.subscriber)
        if child.timestamp == route.timestamp.counter:
            route.timestamp = at_hops(child.timestamp, hops + child.hops + 1)
        route.next_hop = sender
        return {old: None} if old in self.neighbours and old != sender else {}

    def _tell_missing(self, sender: NodeId, mentioned: set[NodeId]) -> list[Action]:
        """Lines 24 to 26."""
        missing = [subscriber for subscriber, route in self.table if route.filters and subscriber not in mentioned]
        return [action for subscriber in missing for action in self._send_subscriptions(subscriber, sender)]

    # Algorithm 4.4

    def _receive_bsub(self, sender: NodeId, message: Bsub) -> list[Action]:
        """Lines 1 to 9."""
        subscriber, known = message.subscriber, message.known
        if self._contradicts(message):
            return self._send_subscriptions(subscriber, sender)
        if not known > self.table.timestamp(subscriber):
            return self._turn(sender, message)
        hops = known.hops + message.hops + 1
        route = self.table.update(subscriber, sender, at_hops(known.counter, hops))
        route.filters = dict.fromkeys(message.filters)
        passed_on = self.flood(_one_hop_on(message), sender) if message.hops < self._parameters.max_hops else []
        return passed_on + self._send_queued(subscriber, sender)

    def _contradicts(self, message: Bsub) -> bool:
        """`correct_old`, and `home_decides` for the subscriber's own broker."""
        own = self.table.timestamp(message.subscriber)
        if message.known.counter == own.counter:
            return own.is_home and self._parameters.home_decides
        return message.known.counter < own.counter and self._parameters.correct_old

    def _turn(self, sender: NodeId, message: Bsub) -> list[Action]:
        """`home_decides`: a claim of the same timestamp is believed, and goes on along the old way only."""
        subscriber = message.subscriber
        route, old = self.table.get(subscriber), self.table.next_hop(subscriber)
        is_same = message.known.counter == self.table.timestamp(subscriber).counter
        if route is None or not route.filters or old == sender or not (is_same and self._parameters.home_decides):
            return []
        route.next_hop = sender
        passed_on = [Send(old, _one_hop_on(message))] if old in self.neighbours else []
        return passed_on + self._send_queued(subscriber, sender)

    def _receive_bquery(self, sender: NodeId, message: Bquery) -> list[Action]:
        """Lines 10 and 11."""
        if message.known < self.table.timestamp(message.subscriber):
            return self._send_subscriptions(message.subscriber, sender)
        return []

    # Senders

    def _greet(self, neighbour: NodeId) -> list[Action]:
        """`greet_back`: what is known, and what lies on our side."""
        children: list[Known] = []
        others: list[Known] = []
        for subscriber, route in self.table:
            known = _known(subscriber, route)
            if route.filters and route.next_hop not in (neighbour, None):
                children.append(known)
            else:
                others.append(known._replace(hops=MAX_HOPS))
        return [Send(neighbour, Bmig(tuple(children), tuple(others), 0))]

    def _send_subscriptions(self, subscriber: NodeId, interface: NodeId) -> list[Action]:
        """Algorithm 4.4, lines 12 to 16."""
        route = self.table.get(subscriber)
        if route is None:
            return []
        self._forget_way(subscriber, interface)
        return [Send(interface, Bsub(subscriber, tuple(route.filters), route.timestamp, 0))]

    def _send_filters(self, client: NodeId) -> list[Action]:
        """Algorithm 4.1, lines 16 to 19."""
        self._owed_filters.discard(client)
        return [Send(client, Filters(self.table.filters(client)))]

    # Helpers

    def _forget_way(self, subscriber: NodeId, interface: NodeId) -> None:
        """`forget_ways`: an interface at which the way is thought to be here is no way."""
        route = self.table.get(subscriber)
        if self._parameters.forget_ways and route is not None and route.next_hop == interface:
            route.next_hop = None

    def _meet(self, sender: NodeId, message: Message) -> None:
        """A message that begins at its sender shows that this broker is the sender's."""
        if isinstance(message, Bmig) and message.hops == 0:
            self.meet(sender)
        elif isinstance(message, Sub | Uns | Mig) and _is_from_client(sender, message):
            self.meet_client(sender)

    def _is_newer(self, message: Sub | Uns | Mig) -> bool:
        return Timestamp(message.timestamp, message.hops) > self.table.timestamp(message.subscriber)

    def _locate(self, sender: NodeId, message: Sub | Uns | Mig) -> Route:
        return self.table.update(message.subscriber, sender, at_hops(message.timestamp, message.hops + 1))


def _known(subscriber: NodeId, route: Route) -> Known:
    return Known(subscriber, route.timestamp.counter, route.timestamp.hops)


def _one_hop_on(message: Sub | Uns | Bsub) -> Sub | Uns | Bsub:
    return replace(message, hops=min(message.hops + 1, MAX_HOPS))


def _is_from_client(sender: NodeId, message: Sub | Uns | Mig) -> bool:
    """Whether z = s: the subscriber itself has sent it, not the broker on the same node."""
    return sender == message.subscriber and message.hops == 0
