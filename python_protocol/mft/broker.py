"""A broker of MFT-PubSub: algorithms 4.1 to 4.4 of 003, without radio, link or tree.

Where the algorithms leave something open, or fail on a radio:

- *Of two brokers at one timestamp the nearer is right*: compared is the hop count that the sender of a BMIG declares
  for the subscriber, and a tie goes to the sender (4.3, line 12). But the subscriber's own broker (hops 1) yields to
  nobody, and a broker whose way to the subscriber is the sender takes the sender's word: it knows no other.
- *Old BSUBs are corrected.* A BSUB with an older timestamp, or one that reaches the subscriber's own broker, is
  answered with a BSUB, as a BMIG is (4.3, lines 10 and 18); to ignore it would leave its sender wrong.
- *A BSUB says that the way is here*, so the way of its sender cannot be where it goes: it has none then, and stores.
  The list O of a BMIG says that the way is there, so it is not the sender for its receiver. Otherwise the two would
  point at each other, and a notification, never passed back, would be lost.
- *BMIG tells everything known*: subscribers without filters, and those that are already behind the new parent, go in O.
- *Half links are not used.* Control messages from a broker outside N_i are ignored. A neighbour that was lost without
  having moved, and is back, is sent a BMIG as if we had migrated to it: timestamps show both what each has missed.
- *A notification is passed on once for a subscriber*, for a link can repeat one that it had given up.
- Stored notifications are replayed one REP at a time, each when the link has delivered what was before it: a way that
  breaks again then has not cost much.
- MIG follows the next hops to their end, even past b (4.1, line 20): there it ends by itself, unless b has meanwhile
  learnt of another place. Nothing is passed back to where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from python_protocol.actions import Action, Note, Send
from python_protocol.brokers import broker
from python_protocol.brokers.messages import Filters, Pub
from python_protocol.brokers.storage import Storage
from python_protocol.codec import Message
from python_protocol.filters import Notification, NotificationId
from python_protocol.listing import Listing, by_first_column
from python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Uns
from python_protocol.mft.parameters import MftParameters
from python_protocol.mft.routing import Route, RoutingTable
from python_protocol.mft.timestamps import MAX_HOPS, Timestamp, at_hops
from python_protocol.names import NOBODY, Names
from python_protocol.notes import REPLAY, ROUTE, node_list
from python_protocol.roles import NodeId

Recipients = dict[NodeId | None, list[NodeId]]
"""The subscribers for whom something goes to each interface; None: those to whom no way is known."""


class Broker(broker.Broker):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.storage = Storage(parameters.storage_limit)
        self._parameters = parameters
        self._uplink: NodeId | None = None
        self._handled: dict[NotificationId, Recipients] = {}
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
            place = (self.interface_name(route.next_hop, names), names.client(subscriber), str(route.timestamp))
            rows += [(one, *place) for one in map(names.filter, route.filters)] or [(NOBODY, *place)]
        head = ("Filter", "Interface", "Subscriber", "T")
        return {"table": by_first_column(head, rows), "stored": self.storage.listing(names)}

    # Interfaces

    def neighbour_appeared(self, neighbour: NodeId) -> list[Action]:
        """A broker has made this one its parent, or is back."""
        if neighbour in self.neighbours:
            return []
        self.neighbours[neighbour] = None
        if neighbour not in self._lost:
            return []
        self._lost.discard(neighbour)
        return self._announce(neighbour, {neighbour, None}, False)

    def client_appeared(self, client: NodeId) -> list[Action]:
        """A client has attached itself, or is back."""
        self.clients.add(client)
        actions: list[Action] = []
        if client in self._owed_filters:
            actions += self._send_filters(client)
        return actions + self._send_queued(client, self.table.next_hop(client))

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """A neighbour or client is out of reach; one that `moved` will tell of itself by its new parent."""
        if interface in self.neighbours and not moved:
            self._lost.add(interface)
        super().gone(interface, moved=moved)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """A link was given up: notifications that were not acknowledged go another way, or are stored."""
        self.gone(interface, moved=False)
        actions: list[Action] = []
        affected: dict[NodeId, None] = {}
        for message in messages:
            if isinstance(message, Filters):
                self._owed_filters.add(interface)
            for subscriber, notification in self._undelivered(interface, message):
                actions += self.storage.put(subscriber, notification)
                affected[subscriber] = None
        for subscriber in affected:
            actions += self._send_queued(subscriber, self.table.next_hop(subscriber))
        return actions

    def idle(self, interface: NodeId) -> list[Action]:
        """The link to an interface has nothing left to do: the next REP over it, if anything is stored."""
        for subscriber in self.storage.subscribers():
            if self.table.next_hop(subscriber) == interface:
                return self._send_queued(subscriber, interface)
        return []

    def migrate(self, parent: NodeId) -> list[Action]:
        """Algorithm 4.2: the way to the leader now begins at `parent` (b_n)."""
        behind = {parent, None}
        if self._uplink not in self.neighbours:
            behind.add(self._uplink)
        self._uplink = parent
        self._meet_neighbour(parent)
        return self._announce(parent, behind)

    # Algorithm 4.1

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Lines 1 to 6."""
        if not self._is_newer(message):
            return self._answer_old(sender, message)
        self._locate(sender, message).filters[message.filter] = None
        return self._flood(message, sender)

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Lines 7 to 12."""
        if not self._is_newer(message):
            return self._answer_old(sender, message)
        self._locate(sender, message).filters.pop(message.filter, None)
        return self._flood(message, sender) + self._drop_unwanted(message.subscriber)

    def _receive_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 13 to 26."""
        if not self._is_newer(message):
            return self._answer_old(sender, message)
        subscriber = message.subscriber
        old = self.table.next_hop(subscriber)
        actions: list[Action] = []
        if _is_from_client(sender, message):
            actions += self._send_filters(subscriber)
        if old in self.neighbours and old != sender:
            actions.append(Send(old, replace(message, hops=message.hops + 1)))
        self._locate(sender, message)
        return actions + self._send_queued(subscriber, sender)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """Algorithm 3.1, lines 11 to 21."""
        notification = message.notification
        is_known = notification.id in self._handled
        handled = self._remember(notification.id)
        served = {subscriber for subscribers in handled.values() for subscriber in subscribers}
        matching = [(s, interface) for s, interface in self.table.matching(notification) if s not in served]
        recipients: Recipients = {}
        for subscriber, interface in matching:
            if interface != sender or sender not in self.neighbours:
                recipients.setdefault(interface, []).append(subscriber)
        actions = [] if is_known and not recipients else _note_route(notification, matching)
        for interface, subscribers in recipients.items():
            handled.setdefault(interface, []).extend(subscribers)
            actions += self._send_pub(message, interface, subscribers)
        return actions

    def _receive_rep(self, sender: NodeId, message: Rep) -> list[Action]:
        """Algorithm 3.2, lines 22 to 27."""
        route = self.table.get(message.subscriber)
        if route is not None and not route.filters:
            return [Note("drop", notification_id=str(one.id), detail="unsubscribed") for one in message.notifications]
        interface = self.table.next_hop(message.subscriber)
        cannot_go_on = interface == sender or not self.reaches(interface)
        if interface is None or cannot_go_on or message.hops > self._parameters.max_hops:
            return [note for one in message.notifications for note in self.storage.put(message.subscriber, one)]
        return [Send(interface, replace(message, hops=self._radio_hops(message.hops, interface)))]

    def _answer_old(self, sender, message):
        is_old = message.timestamp < self.table.timestamp(message.subscriber).counter
        return self._send_subscriptions(message.subscriber, sender) if is_old and sender in self.neighbours else []

    # Algorithm 4.3

    def _receive_bmig(self, sender: NodeId, message: Bmig) -> list[Action]:
        """Lines 1 to 35."""
        actions: list[Action] = []
        passed_on: list[Known] = []
        old_hops: dict[NodeId, None] = {}
        for child in message.children:
            actions += self._check_child(sender, child)
            if self._believes(sender, child):
                passed_on.append(Known(child.subscriber, self.table.timestamp(child.subscriber).counter, child.hops))
                old_hops |= self._redirect(sender, child, message.hops)
        for other in message.others:
            if other.hops < MAX_HOPS: self._forget_way(other.subscriber, sender)
            actions += self._check_counter(sender, other)
        if message.hops == 0:
            actions += self._tell_missing(sender, {known.subscriber for known in message.children + message.others})
        if message.hops < self._parameters.max_hops:
            actions += [Send(old, Bmig(tuple(passed_on), (), message.hops + 1)) for old in old_hops]
        for child in passed_on:
            actions += self._send_queued(child.subscriber, sender)
        return actions

    def _believes(self, sender: NodeId, child: Known) -> bool:
        """Lines 4, 11 and 12: whether the sender of a BMIG is the way to a subscriber that it calls its child."""
        own = self.table.timestamp(child.subscriber)
        if child.timestamp != own.counter:
            return child.timestamp > own.counter
        return own.hops > 1

    def _check_child(self, sender: NodeId, child: Known) -> list[Action]:
        """Lines 6, 10 and 18."""
        if child.timestamp == self.table.timestamp(child.subscriber).counter:
            return [] if self._believes(sender, child) else self._send_subscriptions(child.subscriber, sender)
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
        own = self.table.timestamp(subscriber)
        if known.counter < own.counter or (known.counter == own.counter and own.hops == 1 and known < own):
            return self._send_subscriptions(subscriber, sender)
        if not known > own:
            return self._turn(sender, message)
        hops = known.hops + message.hops + 1
        route = self.table.update(subscriber, sender, at_hops(known.counter, hops))
        route.filters = dict.fromkeys(message.filters)
        dropped = self._drop_unwanted(subscriber)
        passed_on = self._flood(message, sender) if message.hops < self._parameters.max_hops else []
        return dropped + passed_on + self._send_queued(subscriber, sender)

    def _turn(self, sender: NodeId, message: Bsub) -> list[Action]:
        old = self.table.next_hop(message.subscriber)
        if old == sender or old is None and not self.table.filters(message.subscriber):
            return []
        self.table.get(message.subscriber).next_hop = sender
        actions = []
        if old in self.neighbours:
            actions.append(Send(old, replace(message, hops=min(message.hops + 1, MAX_HOPS))))
        return actions + self._send_queued(message.subscriber, sender)

    def _receive_bquery(self, sender: NodeId, message: Bquery) -> list[Action]:
        """Lines 10 and 11."""
        if message.known < self.table.timestamp(message.subscriber):
            return self._send_subscriptions(message.subscriber, sender)
        return []

    # Senders

    def _announce(self, neighbour: NodeId, behind: set[NodeId | None], take=True) -> list[Action]:
        """Algorithm 4.2, lines 2 to 12: C is what we represent to a neighbour, O what is `behind` it."""
        children: list[Known] = []
        others: list[Known] = []
        replayed: list[NodeId] = []
        for subscriber, route in self.table:
            known = Known(subscriber, route.timestamp.counter, route.timestamp.hops)
            if route.filters and route.next_hop not in behind and (self.reaches(route.next_hop) or route.timestamp.hops == 1):
                children.append(known)
                continue
            others.append(known if take else known._replace(hops=MAX_HOPS))
            if route.filters and take:
                route.next_hop = neighbour
                replayed.append(subscriber)
        actions: list[Action] = [Send(neighbour, Bmig(tuple(children), tuple(others), 0))]
        for subscriber in replayed:
            actions += self._send_queued(subscriber, neighbour)
        return actions

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

    def _send_pub(self, message: Pub, interface: NodeId | None, subscribers: list[NodeId]) -> list[Action]:
        """Algorithm 3.1, lines 17 to 21."""
        if interface is not None and self.reaches(interface):
            return [Send(interface, Pub(message.notification, self._radio_hops(message.hops, interface)))]
        return [note for one in subscribers for note in self.storage.put(one, message.notification)]

    def _send_queued(self, subscriber: NodeId, interface: NodeId | None) -> list[Action]:
        """Algorithm 3.2, lines 14 to 21: sendQueuedMessages(s, y); the first REP, `idle` sends the others."""
        if interface is None or not self.reaches(interface):
            return []
        notifications = tuple(self.storage.take(subscriber, self._parameters.replay_bytes))
        if not notifications:
            return []
        actions: list[Action] = [Note(REPLAY, notification_id=str(one.id), peer=subscriber) for one in notifications]
        return [*actions, Send(interface, Rep(subscriber, notifications, self._radio_hops(0, interface)))]

    def _flood(self, message: Sub | Uns | Bsub, sender: NodeId) -> list[Action]:
        """To all of N_i but the one from which the message came."""
        passed_on = replace(message, hops=min(message.hops + 1, MAX_HOPS))
        return [Send(neighbour, passed_on) for neighbour in self.neighbours if neighbour != sender]

    # Helpers

    def _drop_unwanted(self, subscriber):
        if self.table.filters(subscriber): return []
        return [Note("drop", notification_id=str(one.id), detail="unsubscribed") for one in self.storage.take(subscriber)]

    def _forget_way(self, subscriber: NodeId, interface: NodeId) -> None:
        """An interface at which the way is thought to be here is no way."""
        route = self.table.get(subscriber)
        if route is not None and route.next_hop == interface:
            route.next_hop = None

    def _meet(self, sender: NodeId, message: Message) -> None:
        """A message that begins at its sender shows that this broker is the sender's."""
        if isinstance(message, Bmig) and message.hops == 0:
            self._meet_neighbour(sender)
        elif isinstance(message, Sub | Uns | Mig) and _is_from_client(sender, message) and sender != self.node:
            self.clients.add(sender)

    def _meet_neighbour(self, neighbour: NodeId) -> None:
        self._lost.discard(neighbour)
        self.neighbours[neighbour] = None

    def _is_newer(self, message: Sub | Uns | Mig) -> bool:
        return Timestamp(message.timestamp, message.hops) > self.table.timestamp(message.subscriber)

    def _locate(self, sender: NodeId, message: Sub | Uns | Mig) -> Route:
        return self.table.update(message.subscriber, sender, at_hops(message.timestamp, message.hops + 1))

    def _radio_hops(self, hops: int, interface: NodeId) -> int:
        return min(hops + (interface != self.node), MAX_HOPS)

    def _remember(self, identifier: NotificationId) -> Recipients:
        handled = self._handled.setdefault(identifier, {})
        if len(self._handled) > self._parameters.remembered:
            del self._handled[next(iter(self._handled))]
        return handled

    def _undelivered(self, interface: NodeId, message: Message) -> Iterator[tuple[NodeId, Notification]]:
        """For whom a message that did not arrive at an interface carried what."""
        if isinstance(message, Rep):
            for notification in message.notifications:
                yield message.subscriber, notification
        elif isinstance(message, Pub):
            for subscriber in self._handled.get(message.notification.id, {}).get(interface, ()):
                yield subscriber, message.notification


def _is_from_client(sender: NodeId, message: Sub | Uns | Mig) -> bool:
    """Whether z = s: the subscriber itself has sent it, not the broker on the same node."""
    return sender == message.subscriber and message.hops == 0


def _note_route(notification: Notification, matching: list[tuple[NodeId, NodeId | None]]) -> list[Action]:
    if not matching:
        return []
    subscribers = node_list(subscriber for subscriber, _ in matching)
    return [Note(ROUTE, notification_id=str(notification.id), detail=subscribers)]
