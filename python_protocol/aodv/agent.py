"""Publish/subscribe over AODV, as in the thesis (003, section 4.5): a publisher unicasts to every subscriber."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from roambus.python_protocol.actions import Action, Note
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.aodv.messages import AODV_MESSAGES, DataPacket
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.router import Router
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    SendFailed,
    Started,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.parts.link import LINK_MESSAGES
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Aodv(Agent):
    """Nodes of all roles route for the others; only publishers search routes (003, section 4.5.2)."""

    parameters: AodvParameters
    parameters_type = AodvParameters
    messages = MessageSet((*AODV_MESSAGES, *LINK_MESSAGES))

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._filters: list[Filter] = []
        self._has_crashed = False
        self._forget()
        self._handlers: dict[type[Any], Callable[[Any, SimTime], Iterable[Action]]] = {
            TimerFired: self._timer,
            Publish: self._publish,
            SendFailed: self._send_failed,
            Started: self._start,
            Crashed: self._crash,
            Recovered: self._recover,
            Subscribe: self._subscribe,
            Unsubscribe: self._unsubscribe,
        }

    @property
    def table(self) -> RoutingTable:
        """The routing table, to look at."""
        return self._router.table

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table; see `Agent`."""
        return {"table": self.table.listing(names)}

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Events that AODV has no use for do nothing."""
        if type(event) is Received:  # nearly all of a run's events
            receiver = self._receivers.get(type(event.message))
            if receiver is None:  # a frame of another protocol
                return ()
            receiver(event.sender, event.message, now)
            return self._out.take() if self._pending else ()
        handler = self._handlers.get(type(event))
        return handler(event, now) if handler else ()

    def _timer(self, event: TimerFired, now: SimTime) -> Iterable[Action]:
        return self._router.timer(event.key, now)

    def _publish(self, event: Publish, now: SimTime) -> Iterable[Action]:
        notification = event.notification
        addressed = node_list(event.subscribers)
        self._out.note(Note(ROUTE, notification_id=str(notification.id), detail=addressed))
        for subscriber in event.subscribers:
            if subscriber == self.node:
                self._deliver(notification, 0)
            else:
                self._router.originate(notification, subscriber, now)
        return self._out.take()

    def _send_failed(self, event: SendFailed, now: SimTime) -> Iterable[Action]:
        # With the link layer the frame is retransmitted, and a break is noticed if that does not help either.
        if not self.parameters.link_layer:
            self._router.send_failed(event, now)
        return self._out.take()

    def _start(self, _: Started, __: SimTime) -> Iterable[Action]:
        self._router.start()
        return self._out.take()

    def _crash(self, _: Crashed, __: SimTime) -> Iterable[Action]:
        # The application subscribes once only: its filters are stable storage, everything else is lost.
        self._has_crashed = True
        self._forget()
        return ()

    def _recover(self, _: Recovered, now: SimTime) -> Iterable[Action]:
        if self._has_crashed:
            self._router.reboot(now)
        else:
            self._router.start()
        self._has_crashed = False
        return self._out.take()

    def _subscribe(self, event: Subscribe, _: SimTime) -> Iterable[Action]:
        self._filters.append(event.filter)
        return ()

    def _unsubscribe(self, event: Unsubscribe, _: SimTime) -> Iterable[Action]:
        if event.filter in self._filters:
            self._filters.remove(event.filter)
        return ()

    def _forget(self) -> None:
        self._router = Router(self.node, self.parameters, self.random, self._arrived)
        self._receivers, self._out = self._router.receivers, self._router.out
        self._pending = self._out.pending
        self._delivered = Recent(self.parameters.delivered_memory)

    def _arrived(self, packet: DataPacket) -> None:
        self._deliver(packet.notification, packet.hop_count)

    def _deliver(self, notification: Notification, hops: int) -> None:
        # A packet whose acknowledgement was lost is routed again, and may arrive twice.
        is_wanted = any(entry.matches(notification) for entry in self._filters)
        if is_wanted and self._delivered.add(notification.id):
            self._out.deliver(notification, hops)
