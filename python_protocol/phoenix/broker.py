"""A broker of Phoenix: algorithms 2.2 and 2.3 of 003, to the letter, without radio, link or tree.

Where the algorithms leave something open:

- *clock() counts* the notifications that the broker stamps (2.2, line 16; 2.3, line 22): timestamps are compared with
  others of one broker only, and those of different notifications should differ.
- *The old next hop is read before it is replaced* (2.3, lines 5 to 8). A subscriber that the broker does not know has
  none: the MIG ends.
- *A client that publishes what it subscribes to gets it*: y != z (2.2, line 18) holds back what came from a broker.
- *The tree of brokers is static*: a neighbour whose link is lost gets nothing, and nothing is kept for it; the trace
  says so. What is for a local subscriber is in its queue anyway.

To the letter, notifications are lost, doubled and overtaken; `numbered_broker` mends that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.brokers.routing import RoutingTable
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import DROP, REPLAY, STORE
from roambus.python_protocol.phoenix.messages import NEVER, Mig, Pub, Rep, Stamp, Turn
from roambus.python_protocol.phoenix.parameters import PhoenixParameters
from roambus.python_protocol.phoenix.queues import Queued, Queues
from roambus.python_protocol.roles import NodeId


class Broker(broker.Broker):
    """b_i: its interfaces, routing table, local subscribers and their queues."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.local: dict[NodeId, None] = {}
        """C_i, in the order in which they came."""
        self.queues = Queues(parameters.storage_limit)
        self._clock = 0
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
            Mig: self._receive_mig,
            Rep: self._receive_rep,
        }

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i, and Q_i with its timestamps."""
        return {"table": self.table.listing(self.node, names), "stored": self.queues.listing(names)}

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """A link was given up: what was for a local subscriber is in its queue, the rest is lost."""
        super().link_broken(interface, messages)
        lost = [message.notification for message in messages if isinstance(message, Pub | Rep)]
        return [_drop(one, interface) for one in lost if interface not in self.local]

    # Algorithm 2.2

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Lines 1 to 7."""
        self.table.add(message.filter, sender, message.subscriber)
        if self.is_client(sender):
            self.meet_client(sender)
            self.local[message.subscriber] = None
        return self.flood(message, sender)

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Lines 8 to 14."""
        self.table.remove(message.filter, message.subscriber)
        if self.is_client(sender) and not self.table.interfaces(message.subscriber):
            self.local.pop(message.subscriber, None)
        return self.flood(message, sender)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """Lines 15 to 24."""
        notification = message.notification
        matching = self._matching(message)
        actions = broker.note_route(notification, (s for found in matching.values() for s in found))
        self._clock += 1
        for interface, subscribers in matching.items():
            if self.is_way_back(interface, sender):
                continue
            stamp = self._stamp(interface)
            if interface in self.local:
                actions += self._enqueue(Rep(notification, interface, stamp, message.hops))
            hops = self.radio_hops(message.hops, interface)
            actions += self._send(interface, Pub(notification, hops, stamp, self._addressees(interface, subscribers)))
        return actions

    # Algorithm 2.3

    def _receive_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 1 to 16."""
        subscriber = message.subscriber
        if subscriber in self.local:
            return self._let_go(sender, message)
        if sender == subscriber and self.is_client(sender):
            self.meet_client(sender)
            self.local[subscriber] = None
        ways = [b for b in self.table.interfaces(subscriber) if b in self.neighbours]
        self.table.replace(subscriber, sender)
        return [Send(b, message) for b in ways[:1]]

    def _let_go(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 10 to 16: s has moved from here to where the MIG comes from."""
        subscriber = message.subscriber
        del self.local[subscriber]
        self.table.replace(subscriber, sender)
        missed = [queued for queued in self.queues.take(subscriber) if queued.stamp > message.last]
        return [action for queued in missed for action in self._replay(replace(queued, stamp=NEVER), sender)]

    def _receive_rep(self, sender: NodeId, message: Rep) -> list[Action]:  # noqa: ARG002  # the algorithm does not ask
        """Lines 17 to 24."""
        subscriber = message.subscriber
        if subscriber not in self.local:
            ways = [b for b in self.table.interfaces(subscriber) if not self.is_client(b)]
            return self._pass_on(message, ways[0]) if ways else [_drop(message.notification, subscriber)]
        self._clock += 1
        stamped = replace(message, stamp=self._stamp(subscriber))
        return [*self._enqueue(stamped), *self._pass_on(stamped, subscriber)]

    # Senders

    def _send(self, interface: NodeId, message: Pub | Queued) -> list[Action]:
        """To whom is in reach; what is for others is in a queue, or lost."""
        if self.reaches(interface):
            return [Send(interface, message)]
        if interface in self.local or isinstance(message, Turn):
            return []
        return [_drop(message.notification, interface)]

    def _pass_on(self, message: Queued, interface: NodeId) -> list[Action]:
        if isinstance(message, Rep):
            message = replace(message, hops=self.radio_hops(message.hops, interface))
        return self._send(interface, message)

    def _replay(self, queued: Queued, interface: NodeId) -> list[Action]:
        """Line 16; a replay starts again at no hops."""
        if isinstance(queued, Turn):
            return self._send(interface, queued)
        note = Note(REPLAY, notification_id=str(queued.notification.id), peer=queued.subscriber)
        return [note, *self._pass_on(replace(queued, hops=0), interface)]

    # Helpers

    def _matching(self, message: Pub) -> dict[NodeId, list[NodeId]]:
        """Algorithm 2.2, lines 18 to 20: interfaces, and the subscribers there."""
        return self.table.matching(message.notification)

    def _addressees(self, interface: NodeId, subscribers: list[NodeId]) -> tuple[NodeId, ...]:  # noqa: ARG002  # see NumberedBroker
        """What a PUB says of whom it is for: nothing."""
        return ()

    def _stamp(self, interface: NodeId) -> Stamp:  # noqa: ARG002  # for a numbered stay it is the interface's own
        """Ts."""
        return Stamp(0, self._clock)

    def _enqueue(self, queued: Queued) -> list[Action]:
        """In Q_i(s), and in the trace if s cannot get it now."""
        actions: list[Action] = [*self.queues.put(queued)]
        if isinstance(queued, Rep) and not self.reaches(queued.subscriber):
            actions.append(Note(STORE, notification_id=str(queued.notification.id), peer=queued.subscriber))
        return actions


def _drop(notification: Notification, interface: NodeId) -> Note:
    return Note(DROP, notification_id=str(notification.id), peer=interface, detail="no link")
