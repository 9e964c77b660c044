"""A client of MFT-PubSub (the thesis, section 4.3).

A subscriber numbers its messages; that number is the timestamp t. When it comes to a broker, another one or the same
after a break, it sends a MIG, and mends what the FILTERS in answer shows to be wrong. So it matters little which of
its messages were lost. Only before its very first message is there nothing to migrate, and it just subscribes.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.client import Client as FamilyClient
from roambus.python_protocol.brokers.messages import Filters, Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.interests import sum_of
from roambus.python_protocol.mft.messages import Beat, Below, Mig, Rep, Sub, Uns
from roambus.python_protocol.mft.parameters import MftParameters
from roambus.python_protocol.parts.election import Heartbeat
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Client(FamilyClient):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """The first message of the client will have the number 1."""
        super().__init__(node, parameters)
        self._parameters = parameters
        self._timestamp = 0
        self._place = 0
        """The number of its last migration."""

    @on(Filters)
    def mend(self, message: Filters, broker: NodeId, now: SimTime) -> None:
        """The new broker has answered a MIG: the client tells it what it has wrong."""
        self._mend(message)

    @on(Pub)
    def receive(self, message: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived on its own way."""
        self._deliver(message.notification, message.hops)

    @on(Rep)
    def receive_replayed(self, message: Rep, broker: NodeId, now: SimTime) -> None:
        """Notifications have arrived that a broker had stored."""
        for one in message.notifications:
            self._deliver(one, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._timestamp and last is not None:
            self._migrate(broker, last)
        else:
            self._subscribe_all()

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        """Tells another broker that this client has come to it, or the same one that it is back."""
        if broker == self.node or not self._parameters.beats_migrate:
            self.send(broker, Mig(self.node, last, self._tick(), 0))
        self._place += 1

    def make_beat(self, heartbeat: Heartbeat) -> Beat:
        """A heartbeat that tells where this client is, if it is a subscriber."""
        below = (Below(self.node, self._place),) if self._timestamp else ()
        return Beat(heartbeat, sum_of([(self.node, self.filters)]), below)

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(self.node, self._tick(), 0, wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(self.node, self._tick(), 0, unwanted)

    def _tick(self) -> int:
        self._timestamp += 1
        return self._timestamp
