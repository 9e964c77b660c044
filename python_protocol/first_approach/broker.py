"""A broker of the first approach: algorithms 3.1 to 3.3 of 003 (2 and 3 of 000), without radio, link or tree.

Where the algorithms leave something open, or fail:

- *C_i is read from R_i*: the subscribers whose interface is themselves (section 3.3), of which `connected_only` takes
  those that are there, as 000 has it: whoever has left unheard must not be claimed. A broker and the client on its node
  have one id; to other brokers that is the broker's.
- *A SUB shows the way* to its subscriber even if its filter is known already (`sub_redirects`): what is known can be
  the way to where the subscriber once was, and nothing else would mend it.
- *A MIG follows the table*, not b (`follow_table`): where b's own table leads on, b knows of another place.
- *A subscriber that has come after the BMIG* was sent, and before the BTAB, is told by another BMIG (`tell_late`).
- *A client that publishes what it subscribes to gets it*: y != z (3.1, line 13) holds back what came from a broker.
- *Nothing is passed back* (3.2, lines 10 and 27): where its way leads to where it came from, a MIG ends and a REP is
  stored. Else two brokers that point at each other exchange it for ever. `pass_back` is the letter.
- *"If an error occurs, the broker will store the message as undelivered"* (section 3.3): the error is a link given up.
  A PUB is stored for the subscribers whose way still is that link, a REP goes through lines 22 to 27 again.
- *What is stored goes on as soon as its way is back*, not only with the next migration: a link can be lost to one side
  alone, and then nobody migrates.
- A loss that is the algorithms' own: a broker that loses its child and migrates is given, by the BTAB, a way to the
  subscribers below that child which leads through itself. A PUB is then neither passed back nor stored (3.1, line 13).
- Over the link layer, whose queue is short, queued notifications are replayed one by one, each when the link has
  delivered what was before it; over bare links all at once, as the algorithm says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.messages import Filters, Pub, Sub, Uns
from roambus.python_protocol.brokers.routing import RoutingTable
from roambus.python_protocol.brokers.storage import Storage
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.first_approach.messages import Bmig, Btab, Fmig, Mig, Rep
from roambus.python_protocol.first_approach.parameters import FirstApproachParameters
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import REPLAY
from roambus.python_protocol.roles import NodeId


class Broker(broker.Broker):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: FirstApproachParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.storage = Storage(parameters.storage_limit)
        self._parameters = parameters
        self._told: dict[NodeId, tuple[NodeId, ...]] = {}
        """The C_i of the last BMIG to each neighbour."""
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
            Mig: self._receive_mig,
            Rep: self._receive_rep,
            Bmig: self._receive_bmig,
            Btab: self._receive_btab,
            Fmig: self._receive_fmig,
        }

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i and Q_i."""
        return {"table": self.table.listing(self.node, names), "stored": self.storage.listing(names)}

    def local_subscribers(self) -> tuple[NodeId, ...]:
        """C_i: the s of each (-, s, s); with `connected_only` those in I_i."""
        is_in = self._is_connected if self._parameters.connected_only else self._is_local
        return tuple(s for s in self.table.subscribers() if is_in(s))

    # Interfaces

    def neighbour_appeared(self, neighbour: NodeId) -> list[Action]:
        """A broker has made this one its parent, or is back."""
        return [*super().neighbour_appeared(neighbour), *self.idle(neighbour)]

    def client_appeared(self, client: NodeId) -> list[Action]:
        """A client has attached itself, or is back."""
        return [*super().client_appeared(client), *self.idle(client)]

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """A link was given up: notifications that were not acknowledged are undelivered (section 3.3)."""
        self.gone(interface, moved=False)
        actions: list[Action] = []
        for message in messages:
            if isinstance(message, Pub):
                subscribers = self.table.matching(message.notification).get(interface, [])
                actions += self._enqueue(message.notification, subscribers)
            elif isinstance(message, Rep):
                actions += self._receive_rep(self.node, message)
        return actions

    def idle(self, interface: NodeId) -> list[Action]:
        """The link to an interface has nothing left to do: what is stored for subscribers behind it."""
        stored = self.storage.subscribers()
        return [
            action for s in stored if interface in self.table.interfaces(s) for action in self._replay(s, interface)
        ]

    def migrate(self, parent: NodeId) -> list[Action]:
        """Section 3.3: a broker that migrates sends a BMIG to its new parent."""
        return [*super().migrate(parent), self._send_bmig(parent)]

    # Algorithm 3.1

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Lines 1 to 5."""
        self.meet_client(sender)
        self.table.add(message.filter, sender, message.subscriber)
        redirected = self._redirect(sender, message.subscriber) if self._parameters.sub_redirects else []
        return self.flood(message, sender) + redirected

    def _redirect(self, sender: NodeId, subscriber: NodeId) -> list[Action]:
        """`sub_redirects`: but nobody knows better where a subscriber is than the broker that it is connected to."""
        if not (self._is_connected(subscriber) and sender in self.neighbours):
            self.table.replace(subscriber, sender)
        return self._send_queued(subscriber, sender)

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Lines 6 to 10."""
        self.table.remove(message.filter, message.subscriber)
        return self.flood(message, sender)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """Lines 11 to 21."""
        matching = self.table.matching(message.notification)
        actions = broker.note_route(message.notification, (s for found in matching.values() for s in found))
        for interface, subscribers in matching.items():
            if self.is_way_back(interface, sender):
                continue
            if self.reaches(interface):
                hops = self.radio_hops(message.hops, interface)
                actions.append(Send(interface, Pub(message.notification, hops)))
            else:
                actions += self._enqueue(message.notification, subscribers)
        return actions

    # Algorithm 3.2

    def _receive_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 1 to 13."""
        subscriber = message.subscriber
        actions: list[Action] = []
        if sender == subscriber and self.is_client(sender):
            self.meet_client(sender)
            actions.append(Send(subscriber, Filters(self.table.filters(subscriber))))
        if message.broker != self.node or self._parameters.follow_table:
            actions += self._pass_on_mig(sender, message)
        self.table.replace(subscriber, sender)
        return actions + self._send_queued(subscriber, sender)

    def _pass_on_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 8 to 10."""
        ways = [y for y in self.table.interfaces(message.subscriber) if y in self.neighbours]
        return [Send(y, message) for y in ways[:1] if y != sender or self._parameters.pass_back]

    def _send_queued(self, subscriber: NodeId, interface: NodeId) -> list[Action]:
        """Lines 14 to 21: sendQueuedMessages(s, y)."""
        return self._replay(subscriber, interface) if self.reaches(interface) else []

    def _receive_rep(self, sender: NodeId, message: Rep) -> list[Action]:
        """Lines 22 to 27."""
        for interface in self.table.interfaces(message.subscriber):
            is_allowed = self._parameters.pass_back or not self.is_way_back(interface, sender)
            if self.reaches(interface) and is_allowed:
                return [self._send_rep(message.notification, message.subscriber, interface, message.hops)]
        return self._enqueue(message.notification, [message.subscriber])

    # Algorithm 3.3

    def _receive_bmig(self, sender: NodeId, message: Bmig) -> list[Action]:
        """Lines 1 to 12."""
        if sender == message.broker:
            self.meet(sender)
        old: dict[NodeId, None] = {}
        for subscriber in message.subscribers:
            ways = self.table.interfaces(subscriber)
            old |= {y: None for y in ways if y in self.neighbours and y != sender}
            self.table.replace(subscriber, sender)
        actions: list[Action] = [Send(y, message) for y in old]
        if sender == message.broker:
            actions.append(Send(sender, Btab(tuple(self.table))))
        for subscriber in message.subscribers:
            actions += self._send_queued(subscriber, sender)
        return actions

    def _receive_btab(self, sender: NodeId, message: Btab) -> list[Action]:
        """Lines 13 to 25."""
        local = self.local_subscribers()
        theirs = [entry for entry in message.entries if entry.subscriber not in local]
        self.table.forget_all_but(local)
        for entry in theirs:
            self.table.add(entry.filter, sender, entry.subscriber)
        actions = self._mend(sender, message)
        if self._parameters.tell_late and self._told.get(sender) != local:
            actions.append(self._send_bmig(sender))
        actions += [Send(b, Fmig()) for b in self.neighbours if b != sender]
        for subscriber in dict.fromkeys(entry.subscriber for entry in theirs):
            actions += self._send_queued(subscriber, sender)
        return actions

    def _mend(self, sender: NodeId, message: Btab) -> list[Action]:
        """Lines 18 to 21: R_i - R_j and R_j - R_i, whatever the interfaces."""
        here = dict.fromkeys((entry.filter, entry.subscriber) for entry in self.table)
        there = dict.fromkeys((entry.filter, entry.subscriber) for entry in message.entries)
        actions: list[Action] = [Send(sender, Sub(f, s)) for f, s in here if (f, s) not in there]
        return actions + [Send(sender, Uns(f, s)) for f, s in there if (f, s) not in here]

    def _receive_fmig(self, sender: NodeId, message: Fmig) -> list[Action]:  # noqa: ARG002  # FMIG says nothing more
        """Lines 26 and 27."""
        return [self._send_bmig(sender)]

    # Senders

    def _send_bmig(self, neighbour: NodeId) -> Action:
        self._told[neighbour] = self.local_subscribers()
        return Send(neighbour, Bmig(self._told[neighbour], self.node))

    def _replay(self, subscriber: NodeId, interface: NodeId) -> list[Action]:
        """Algorithm 3.2, lines 15, 16 and 21; over the link layer the first one, `idle` sends the others."""
        actions: list[Action] = []
        for notification in self.storage.take(subscriber, 0 if self._parameters.link_layer else None):
            actions.append(Note(REPLAY, notification_id=str(notification.id), peer=subscriber))
            actions.append(self._send_rep(notification, subscriber, interface, 0))
        return actions

    def _send_rep(self, notification: Notification, subscriber: NodeId, interface: NodeId, hops: int) -> Action:
        return Send(interface, Rep(notification, subscriber, self.radio_hops(hops, interface)))

    # Helpers

    def _is_local(self, subscriber: NodeId) -> bool:
        return self.is_client(subscriber) and subscriber in self.table.interfaces(subscriber)

    def _is_connected(self, subscriber: NodeId) -> bool:
        return self._is_local(subscriber) and self.reaches(subscriber)

    def _enqueue(self, notification: Notification, subscribers: Iterable[NodeId]) -> list[Action]:
        return [note for s in subscribers for note in self.storage.put(s, notification)]
