"""A broker whose subscriptions flood the tree again at each migration (000, section 3.2), without radio, link or tree.

- *A SUB turns the way*: every entry of its subscriber leads to where the SUB came from. So the last flood wins, no
  UNS has to go before it, and what is stored for the subscriber follows it as a REP.
- *A broker that migrates sends each subscription that is behind it to its new parent*, in a SUB of its own, which goes
  on to every broker that is not below it. It speaks for its clients and for those of the brokers below, who need not
  know: sent by every subscriber itself, the SUBs would cross the links below it as well.
- *The others lie where the new parent is*, as they lay where the old one was: below the broker nothing has changed,
  and nothing is sent there.
- PUB, REP and storage are those of the first approach.
"""

from __future__ import annotations

from python_protocol.actions import Action, Send
from python_protocol.brokers.messages import Pub, Sub, Uns
from python_protocol.first_approach import broker
from python_protocol.first_approach.messages import Rep
from python_protocol.first_approach.parameters import FirstApproachParameters
from python_protocol.roles import NodeId


class Broker(broker.Broker):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: FirstApproachParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self._uplink: NodeId | None = None
        self._handlers = {
            Sub: self._receive_sub,
            Uns: self._receive_uns,
            Pub: self._receive_pub,
            Rep: self._receive_rep,
        }

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
        return actions + self.idle(parent)

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """New or said again: the way to the subscriber begins where the SUB came from."""
        actions = super()._receive_sub(sender, message)
        self.table.replace(message.subscriber, sender)
        return actions + self._send_queued(message.subscriber, sender)
