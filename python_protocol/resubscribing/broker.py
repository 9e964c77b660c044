"""A broker whose subscriptions flood the tree again at each migration (000, section 3.2), without radio, link or tree.

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

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers import broker
from roambus.python_protocol.brokers.forgetful_broker import ForgetfulBroker
from roambus.python_protocol.brokers.messages import Pub, Sub, Uns
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.brokers.routing import RoutingTable
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self._uplink: NodeId | None = None
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
        }

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i."""
        return {"table": self.table.listing(self.node, names)}

    def migrate(self, parent: NodeId) -> list[Action]:
        """Floods what is behind this broker; what lay where the old parent was lies where the new one is."""
        old, self._uplink = self._uplink, parent
        self.meet(parent)
        actions: list[Action] = []
        for wanted, interface, subscriber in list(self.table):
            if interface == old and old not in self.neighbours:
                self.table.replace(subscriber, parent)
            elif interface != parent:
                actions.append(Send(parent, Sub(wanted, subscriber)))
        return actions

    # Messages

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """New or said again: the way to the subscriber begins where the SUB came from."""
        self.meet_client(sender)
        self.table.add(message.filter, sender, message.subscriber)
        self.table.replace(message.subscriber, sender)
        return self.flood(message, sender)

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Wherever the subscriber was."""
        self.table.remove(message.filter, message.subscriber)
        return self.flood(message, sender)

    def _receive_pub(self, sender: NodeId, message: Pub) -> list[Action]:
        """To each interface with a match, once, but not back."""
        matching = self.table.matching(message.notification)
        actions = broker.note_route(message.notification, (s for found in matching.values() for s in found))
        for interface in matching:
            if not self.is_way_back(interface, sender):
                actions.append(self.send_pub(message, interface))
        return actions
