"""All subscribers subscribe again at each migration: a baseline for its cost.

The paper on the first approach names it (section 3.2). Messages are those of table 2.1 of the thesis. A SUB turns its
subscriber's entries: the last flood wins. A migrating broker repeats the subscriptions behind it to its new parent.
Nothing is stored; the trace shows undeliverable notifications.
"""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.agent import Listing, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.brokers.routing import FaithfulClient, ForgetfulBroker, RoutingTable, Sub, Uns
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self._uplink: NodeId | None = None

    # Messages

    @on(Sub)
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Turn a subscriber's entries to the SUB's interface."""
        self.meet_client(z)
        self.table.add(sub.filter, z, sub.subscriber)
        self.table.replace(sub.subscriber, z)
        self.flood(sub, z)

    @on(Uns)
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """End a subscription, wherever the subscriber was."""
        self.table.remove(uns.filter, uns.subscriber)
        self.flood(uns, z)

    @on(Pub)
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Forward a notification once to each match, but not back."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, (s for found in matching.values() for s in found))
        for y in matching:
            if not self.is_way_back(y, z):
                self.send_pub(pub, y)

    # What the tree reports

    def migrate(self, parent: NodeId) -> None:
        """Flood the subscriptions behind this broker; the old parent's entries move too."""
        old, self._uplink = self._uplink, parent
        self.meet(parent)
        for wanted, y, subscriber in list(self.table):
            if y == old and old not in self.neighbours:
                self.table.replace(subscriber, parent)
            elif y != parent:
                self.send(parent, Sub(subscriber, wanted))

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i."""
        return {"table": self.table.listing(self.node, names)}


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived."""
        self._deliver(pub.notification, pub.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        self._resend(broker)
        self._send_withdrawals()
        self._subscribe_all()


class Resubscribing(BrokerAgent):
    """The baseline that floods subscriptions at each migration, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns)
