"""A broker of Simple Routing: algorithm 2.1 of 003 (algorithm 1 of 000), without radio, link or tree.

Where the algorithm leaves something open:

- *R_i is a multiset of (f, z)*; UNS removes one entry (section 2.3.1).
- *A client that publishes what it subscribes to gets it*: y != z (line 11) holds back what came from a broker.
- *The system is static*: a neighbour whose link is lost gets nothing, and nothing is kept for it; the trace says so.
- Who subscribes is not known, only where; `route` in the trace is of the brokers whose own clients match.
"""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.actions import Action
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.forgetful_broker import ForgetfulBroker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns
from roambus.python_protocol.simple.routing import RoutingTable


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
        }

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i."""
        return {"table": self.table.listing(self.node, names)}

    # Algorithm 2.1

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Lines 1 to 4."""
        self.meet_client(sender)
        self.table.add(message.filter, sender)
        return self.flood(message, sender)

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Lines 5 to 8."""
        self.table.remove(message.filter, sender)
        return self.flood(message, sender)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """Lines 9 to 15."""
        matching = self.table.matching(message.notification)
        actions = broker.note_route(message.notification, filter(self.is_client, matching))
        for interface in matching:
            if not self.is_way_back(interface, sender):
                actions.append(self.send_pub(message, interface))
        return actions
