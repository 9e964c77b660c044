"""What protocols share that broadcast every notification through the whole network: flooding and gossip.

Who publishes broadcasts, and whoever hears the first copy of a notification delivers it and may repeat it. A protocol
says whether and when a copy is repeated, in `hear_first` and `hear_again`.
"""

from __future__ import annotations

from random import Random

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime


class FloodParameters(Parameters):
    """How far a notification spreads; raises ValueError for values that make no sense."""

    ttl: int = parameter(
        35,
        unit="hops",
        source="RFC 3561, section 10: NET_DIAMETER",
        at_least=1,
        at_most=255,
        doc="radio hops of a flood",
    )
    memory: int = parameter(
        1024, source="reasoned: minutes of traffic", at_least=1, doc="notifications recognised as duplicates"
    )


class Flood(Message, tag=0x02):
    """A copy of a notification; `hop_count` hops lie behind it when it is sent, at most `ttl` before it."""

    ttl: U8
    hop_count: U8
    notification: Notification


class Broadcasting(Agent):
    """Delivers the first copy of everything, whatever the node's roles."""

    parameters: FloodParameters

    def __init__(self, node: NodeId, roles: Role, parameters: FloodParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._filters: list[Filter] = []
        self.forget()

    def forget(self) -> None:
        """Starts with nothing seen. The filters are in stable storage, because the application subscribes once only."""
        self._seen = Recent(self.parameters.memory)

    def hear_first(self, copy: Flood) -> None:
        """The first copy of a notification has come; `copy` is what this node would repeat, and has hops left."""

    def hear_again(self, flood: Flood) -> None:
        """Another copy of a notification has come."""

    @on(Flood)
    def receive(self, flood: Flood, _: NodeId, __: SimTime) -> None:
        """Delivers the first copy, and lets the protocol decide about repeating it."""
        if not self._seen.add(flood.notification.id):
            self.hear_again(flood)
            return
        hops = flood.hop_count + 1
        self._deliver_if_wanted(flood.notification, hops)
        if flood.ttl > 1:
            self.hear_first(Flood(flood.ttl - 1, hops, flood.notification))

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Starts a flood, for all subscribers that there are."""
        notification = event.notification
        self._seen.add(notification.id)
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        self._deliver_if_wanted(notification, 0)
        self.send(BROADCAST, Flood(self.parameters.ttl, 0, notification))

    @on(Subscribe)
    def subscribe(self, event: Subscribe, _: SimTime) -> None:
        """Delivers what matches from now on."""
        self._filters.append(event.filter)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, _: SimTime) -> None:
        """Takes one subscription back."""
        if event.filter in self._filters:
            self._filters.remove(event.filter)

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """Forgets what was seen."""
        self.forget()

    def _deliver_if_wanted(self, notification: Notification, hops: int) -> None:
        if any(entry.matches(notification) for entry in self._filters):
            self.deliver(notification, hops)
