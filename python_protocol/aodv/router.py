"""The AODV router of one node (RFC 3561): gives every message and timer to the part that it concerns.

| part         | sections         | does                                                        |
|--------------|------------------|-------------------------------------------------------------|
| discovery    | 6.1, 6.3, 6.4, 6.12 | searches routes, expanding the ring                      |
| requests     | 6.5, 6.6         | answers RREQs or passes them on                             |
| replies      | 6.7, 6.8         | learns routes from RREPs, passes them back                  |
| maintenance  | 6.9, 6.10, 6.12  | hellos, lost neighbours, broken links                       |
| route errors | 6.11             | tells who used a route that it is lost                      |
| packets      | 6.2              | sends data, keeps the routes used alive                     |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from roambus.python_protocol.actions import Action
from roambus.python_protocol.aodv.discovery import Discovery, DiscoveryTimer
from roambus.python_protocol.aodv.id_cache import IdCache
from roambus.python_protocol.aodv.maintenance import HELLO_TIMER, Maintenance
from roambus.python_protocol.aodv.messages import DataPacket, Hello, RouteError, RouteReply, RouteReplyAck, RouteRequest
from roambus.python_protocol.aodv.packets import Packets
from roambus.python_protocol.aodv.parameters import AodvParameters
from roambus.python_protocol.aodv.replies import AckTimer, Replies
from roambus.python_protocol.aodv.requests import Requests
from roambus.python_protocol.aodv.route_errors import RouteErrors
from roambus.python_protocol.aodv.routing_table import RoutingTable
from roambus.python_protocol.aodv.state import State
from roambus.python_protocol.aodv.transmitter import Transmitter, UnicastTimer
from roambus.python_protocol.events import NO_LINK, SendFailed, TimerKey
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.parts.link import LinkAck, LinkData, LinkTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

SWEEP_TIMER = "sweep"
REBOOT_TIMER = "reboot"


class Router:
    """Routes packets; what arrives for this node goes to `arrived(packet)`, its hop count complete."""

    def __init__(
        self, node: NodeId, parameters: AodvParameters, random: Random, arrived: Callable[[DataPacket], None]
    ) -> None:
        self._state = state = State(node, parameters, random)
        self._arrived = arrived
        self._seen = IdCache(parameters.path_discovery_time)
        self._errors = RouteErrors(state)
        self._packets = Packets(state)
        self._discovery = Discovery(state, self._packets, self._errors)
        self._replies = Replies(state, self._discovery)
        self._requests = Requests(state, self._discovery, self._replies, self._seen)
        self._maintenance = Maintenance(state, self._packets, self._discovery, self._errors)
        self._hear, self._blacklisted = self._maintenance.hear, state.neighbours.blacklisted
        self._known_until = self._seen.known_until
        self.receivers = self._make_receivers()
        """What takes each kind of message from a neighbour: (sender, message, now)."""
        self._timers = self._make_timers()

    def _make_receivers(self) -> dict[type[Any], Callable[[NodeId, Any, SimTime], None]]:
        return {
            RouteRequest: self._receive_request,
            RouteReply: self._receive_reply,
            Hello: self._maintenance.receive_hello,
            RouteError: self._receive_error,
            RouteReplyAck: self._receive_ack,
            DataPacket: self._receive_packet,
            LinkData: self._receive_frame,
            LinkAck: self._receive_frame,
        }

    def _make_timers(self) -> dict[Any, Callable[[Any, SimTime], None]]:
        return {
            UnicastTimer: self.out.postponed,
            LinkTimer: self._link_timer,
            DiscoveryTimer: self._discovery.timer,
            AckTimer: self._replies.timer,
            HELLO_TIMER: lambda _, now: self._maintenance.say_hello(now),
            SWEEP_TIMER: self._sweep,
            REBOOT_TIMER: self._end_silence,
        }

    @property
    def table(self) -> RoutingTable:
        """The routing table."""
        return self._state.table

    @property
    def out(self) -> Transmitter:
        """Collects the actions of one event."""
        return self._state.out

    def start(self) -> None:
        """The node has booted, or thaws."""
        self._maintenance.start()
        self.out.set_timer(SWEEP_TIMER, self._state.parameters.sweep_interval)

    def reboot(self, now: SimTime) -> None:
        """Section 6.13: a node that lost its sequence numbers keeps silent until nobody routes through it any more."""
        self.start()
        self._keep_silent(now)

    def originate(self, notification: Notification, destination: NodeId, now: SimTime) -> None:
        """Sends a notification to one node, searching a route if there is none."""
        packet = DataPacket(self._state.parameters.net_diameter, 0, self._state.node, destination, notification)
        self._discovery.carry(packet, now)

    def send_failed(self, event: SendFailed, now: SimTime) -> None:
        """A bare frame was not sent: for want of a link (section 6.10), or of room in the MAC."""
        if event.reason == NO_LINK:
            self._maintenance.link_broken(event.destination, [event.message], now)
        elif isinstance(event.message, DataPacket):
            self.out.drop(event.message, event.reason)

    def timer(self, key: TimerKey, now: SimTime) -> Sequence[Action]:
        """One of the timers that were set has run out."""
        self._timers[key if isinstance(key, str) else type(key)](key, now)
        return self.out.take()

    def _receive_request(self, sender: NodeId, request: RouteRequest, now: SimTime) -> None:
        # Most frames of a large network end here: each node hears every request from each of its neighbours.
        if self._blacklisted.get(sender, now) > now:
            return
        self._hear(sender, now)
        originator = request.originator
        if self._known_until.get((originator, request.rreq_id), now) > now:
            return
        if originator != self._state.node:  # one's own needs no memory to be known (section 6.3)
            self._requests.receive(sender, request, now)

    def _receive_reply(self, sender: NodeId, reply: RouteReply, now: SimTime) -> None:
        self._maintenance.hear(sender, now)
        self._replies.receive(sender, reply, now)

    def _receive_error(self, sender: NodeId, error: RouteError, now: SimTime) -> None:
        self._maintenance.hear(sender, now)
        self._errors.receive(sender, error, now)

    def _receive_ack(self, sender: NodeId, _: RouteReplyAck, now: SimTime) -> None:
        self._maintenance.hear(sender, now)
        self._replies.receive_ack(sender)

    def _receive_frame(self, sender: NodeId, frame: LinkData | LinkAck, now: SimTime) -> None:
        self._state.neighbours.hear(sender, now)
        for message in self.out.receive(sender, frame, now):
            self.receivers[type(message)](sender, message, now)

    def _receive_packet(self, sender: NodeId, packet: DataPacket, now: SimTime) -> None:
        self._state.neighbours.hear(sender, now)
        packet = self._packets.hop(packet, sender, now)
        if packet.destination == self._state.node:
            self._arrived(packet)
        elif packet.ttl <= 0:
            self.out.drop(packet, "TTL exceeded")
        else:
            self._forward(sender, packet, now)

    def _forward(self, sender: NodeId, packet: DataPacket, now: SimTime) -> None:
        if self._state.is_silent(now):
            # Section 6.13: somebody still routes over this node, along a route that it has forgotten.
            self._refuse(sender, packet, now)
            self._keep_silent(now)
        elif self._discovery.is_repairing(packet.destination) or self._state.table.active(packet.destination, now):
            self._discovery.carry(packet, now)
        else:
            self._refuse(sender, packet, now)

    def _refuse(self, sender: NodeId, packet: DataPacket, now: SimTime) -> None:
        self.out.drop(packet, "no route")
        self._errors.refuse(packet.destination, sender, now)

    def _link_timer(self, key: LinkTimer, now: SimTime) -> None:
        for broken in self.out.link_timer(key):
            self._maintenance.link_broken(broken.neighbour, broken.messages, now)

    def _sweep(self, _: object, now: SimTime) -> None:
        """Looks for lost neighbours, and deletes what is too old."""
        self._maintenance.check_neighbours(now)
        expired = self._state.table.sweep(now)
        if self._state.parameters.reports_expiry:
            self._errors.report(expired, now)
        self._seen.sweep(now)
        for packet in self._state.queue.sweep(now):
            self.out.drop(packet, "no route in time")
        self.out.set_timer(SWEEP_TIMER, self._state.parameters.sweep_interval)

    def _keep_silent(self, now: SimTime) -> None:
        wait = self._state.parameters.delete_period
        self._state.silent_until = now + wait
        self.out.set_timer(REBOOT_TIMER, wait)

    def _end_silence(self, _: object, now: SimTime) -> None:
        self._state.silent_until = now
        for destination in self._state.queue.destinations():
            self._discovery.start(destination, now)
