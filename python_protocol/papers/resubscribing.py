"""All subscribers subscribe again at each migration: the cost that Phoenix and the thesis' protocols should save.

A baseline to compare costs with, and none of the papers' protocols: the paper on the first approach, section 3.2, only
names it as what it avoids, "the subscriber would have to send the subscription messages again", "the potential flooding
of the network". SUB, UNS and PUB are those of table 2.1 of the thesis, and R_i that of table 2.3.

Once a migration's SUBs have arrived, every notification reaches everybody who wants it: if the network is whole while
somebody subscribes or unsubscribes, and if the next migration waits for that.

- *A client subscribes again to everything at each broker to which it comes.* What it ended while it had no broker, or
  what a link did not carry, it says first.
- *A SUB turns the way*: every entry of its subscriber leads to where the SUB came from. So the last flood wins, and no
  UNS has to go before it.
- *A broker that migrates sends each subscription that is behind it to its new parent*, in a SUB of its own, which goes
  on to every broker that is not below it. It speaks for its clients and for those of the brokers below, who need not
  know: sent by every subscriber itself, the SUBs would cross the links below it as well.
- *The others lie where the new parent is*, as they lay where the old one was: below the broker nothing has changed,
  and nothing is sent there.
- *Nothing is stored*, as in Simple Routing: what cannot go on is dropped, and the trace says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.agent import Listing, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import BrokerParameters, ForgetfulBroker, Pub, RoutingTable, Sub, Uns
from roambus.python_protocol.brokers.client import FaithfulClient
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.vocabulary import NodeId, SimTime


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing is known, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self._uplink: NodeId | None = None

    # Messages

    @on(Sub)
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """A subscription is new or said again: the way to the subscriber begins where the SUB came from."""
        self.meet_client(z)
        self.table.add(sub.filter, z, sub.subscriber)
        self.table.replace(sub.subscriber, z)
        self.flood(sub, z)

    @on(Uns)
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """A subscription ends, wherever the subscriber was."""
        self.table.remove(uns.filter, uns.subscriber)
        self.flood(uns, z)

    @on(Pub)
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """A notification goes to each interface with a match, once, but not back."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, (s for found in matching.values() for s in found))
        for y in matching:
            if not self.is_way_back(y, z):
                self.send_pub(pub, y)

    # What the tree reports

    def migrate(self, parent: NodeId) -> None:
        """Floods what is behind this broker; what lay where the old parent was lies where the new one is."""
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
        self._say_again(broker)
        self._end_late()
        self._subscribe_all()


class Resubscribing(BrokerAgent):
    """The baseline that floods subscriptions again at each migration, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns)
