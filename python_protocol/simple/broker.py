"""A broker of Simple Routing: algorithm 2.1 of the thesis, without radio, link or tree.

The paper on the first approach has the same as its algorithm 1.

Where the algorithm leaves something open:

- *R_i is a multiset of (f, z)*; UNS removes one entry (section 2.3.1).
- *A client that publishes what it subscribes to gets it*: y != z (line 11) holds back what came from a broker.
- *The system is static*: a neighbour whose link is lost gets nothing, and nothing is kept for it; the trace says so.
- Who subscribes is not known, only where; `route` in the trace is of the brokers whose own clients match.
"""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.brokers.forgetful_broker import ForgetfulBroker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns
from roambus.python_protocol.simple.routing import RoutingTable
from roambus.python_protocol.simtime import SimTime


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing is known, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()

    # Algorithm 2.1

    @on(Sub)  # lines 1 to 4
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Somebody subscribes at or behind z."""
        self.meet_client(z)
        self.table.add(sub.filter, z)
        self.flood(sub, z)

    @on(Uns)  # lines 5 to 8
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Somebody unsubscribes at or behind z."""
        self.table.remove(uns.filter, z)
        self.flood(uns, z)

    @on(Pub)  # lines 9 to 15
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """A notification goes to every interface with a match, but not back."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, filter(self.is_client, matching))
        for y in matching:
            if not self.is_way_back(y, z):
                self.send_pub(pub, y)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i."""
        return {"table": self.table.listing(self.node, names)}
