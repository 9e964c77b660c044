"""Publish/subscribe over AODV, as in the thesis, section 4.5: a publisher unicasts to every subscriber."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from roambus.python_protocol.aodv.forwarding import Forwarding
from roambus.python_protocol.aodv.maintenance import Maintenance
from roambus.python_protocol.aodv.messages import DataPacket
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.requests import RouteRequests
from roambus.python_protocol.events import Crashed, Publish, Recovered, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Aodv(RouteRequests, Forwarding, Maintenance):
    """Nodes of all roles route for the others; only publishers search routes (the thesis, section 4.5.2)."""

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._filters: list[Filter] = []
        self._has_crashed = False

    def forget(self) -> None:
        """Starts with nothing delivered. The application's filters stay, because it subscribes once only."""
        super().forget()
        self._delivered = Recent(self.parameters.delivered_memory)

    @on(Publish)  # the thesis, section 4.5.2
    def publish(self, event: Publish, now: SimTime) -> None:
        """Sends the notification to each subscriber of the scenario."""
        notification = event.notification
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        for subscriber in event.subscribers:
            if subscriber == self.node:
                self._deliver_once(notification, 0)
            else:
                self.carry(DataPacket(0, self.parameters.net_diameter, self.node, subscriber, notification), now)

    @on(Subscribe)
    def subscribe(self, event: Subscribe, _: SimTime) -> None:
        """Delivers what matches from now on."""
        self._filters.append(event.filter)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, _: SimTime) -> None:
        """Takes one subscription back."""
        if event.filter in self._filters:
            self._filters.remove(event.filter)

    @on(Started)
    def start(self, _: Started, __: SimTime) -> None:
        """Sets the timers of the router."""
        self.begin()

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """Loses everything that is not in stable storage."""
        self._has_crashed = True
        self.forget()

    @on(Recovered)  # section 6.13 of the RFC
    def recover(self, _: Recovered, now: SimTime) -> None:
        """Goes on; a node that has lost its sequence number first waits until nobody routes over it any more."""
        self.begin()
        if self._has_crashed:
            self.keep_silent(now)
        self._has_crashed = False

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table."""
        return {"table": self.table.listing(names)}

    def arrived(self, packet: DataPacket) -> None:
        """Gives a packet that has come here to the application."""
        self._deliver_once(packet.notification, packet.hop_count)

    def _deliver_once(self, notification: Notification, hops: int) -> None:
        # A packet whose acknowledgement was lost is routed again, and may arrive twice.
        is_wanted = any(entry.matches(notification) for entry in self._filters)
        if is_wanted and self._delivered.add(notification.id):
            self.deliver(notification, hops)
