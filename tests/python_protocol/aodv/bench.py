"""One AODV node on a test bench: bare links, no jitter, and an answer in one call."""

from __future__ import annotations

from random import Random
from typing import TypeVar

from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.aodv import Aodv, AodvParameters
from roambus.python_protocol.aodv.agent import SWEEP_TIMER
from roambus.python_protocol.aodv.messages import Hello, RouteReply, RouteRequest
from roambus.python_protocol.aodv.routing_table import Route
from roambus.python_protocol.events import Event, Publish, Received, TimerFired, TimerKey
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import DataPacket, UnicastTimer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

M = TypeVar("M", bound=Message)

ME: NodeId = 0
NEWS = Notification(NotificationId(ME, 1), (("topic", "news"),), 10)


class Bench:
    """Node ME; `parameters` are set on top of bare links without jitter."""

    def __init__(self, **parameters: object) -> None:
        chosen: dict[str, object] = {"link_layer": False, "broadcast_jitter": 0, **parameters}
        self.parameters = AodvParameters(**chosen)  # type: ignore[arg-type]  # tests name parameters freely
        self.agent = Aodv(ME, Role.NONE, self.parameters, Random(1))
        self.timers: dict[TimerKey, SimTime] = {}
        self.now: SimTime = 0

    def handle(self, event: Event, now: SimTime | None = None) -> list[Action]:
        """What the node does; postponed sends come out at once."""
        self.now = self.now if now is None else now
        actions: list[Action] = []
        for action in self.agent.handle(event, self.now):
            if isinstance(action, SetTimer) and isinstance(action.key, UnicastTimer):
                actions += self.handle(TimerFired(action.key))
            else:
                self._keep_timers(action)
                actions.append(action)
        return actions

    def _keep_timers(self, action: Action) -> None:
        if isinstance(action, SetTimer):
            self.timers[action.key] = self.now + action.after
        if isinstance(action, CancelTimer):
            self.timers.pop(action.key, None)

    def receive(self, sender: NodeId, message: Message, now: SimTime | None = None) -> list[Send]:
        """What the node sends because of a message."""
        return sends(self.handle(Received(sender, message, -70.0, 20.0), now))

    def fire(self, key: TimerKey) -> list[Action]:
        """Goes on to the time of a timer that is set, and lets it run out."""
        return self.handle(TimerFired(key), self.timers.pop(key))

    def sweep(self, now: SimTime) -> list[Action]:
        """Looks for what is lost or over at `now`."""
        return self.handle(TimerFired(SWEEP_TIMER), now)

    def publish(self, *subscribers: NodeId, now: SimTime | None = None) -> list[Action]:
        """Publishes NEWS for these subscribers."""
        return self.handle(Publish(NEWS, subscribers), now)

    def route(self, destination: NodeId) -> Route:
        """The entry of the routing table, which must be there."""
        route = self.agent.table.get(destination)
        assert route is not None
        return route

    def is_active(self, destination: NodeId) -> bool:
        """Whether there is an active route now."""
        return self.agent.table.active(destination, self.now) is not None


def sends(actions: list[Action]) -> list[Send]:
    return [action for action in actions if isinstance(action, Send)]


def sent(actions: list[Action] | list[Send], kind: type[M]) -> list[M]:
    """The messages of one kind among what is sent."""
    return [action.message for action in actions if isinstance(action, Send) and isinstance(action.message, kind)]


def deliveries(actions: list[Action]) -> list[Deliver]:
    return [action for action in actions if isinstance(action, Deliver)]


def drops(actions: list[Action]) -> list[str | None]:
    """The reasons of what was dropped."""
    return [action.detail for action in actions if isinstance(action, Note) and action.name == "drop"]


def rreq(  # the RFC's fields, with defaults that tests do not care about
    destination: NodeId = 9,
    destination_sequence: int = 0,
    *,
    originator: NodeId = 5,
    originator_sequence: int = 50,
    rreq_id: int = 1,
    hop_count: int = 2,
    ttl: int = 10,
    unknown_sequence: bool = False,
    destination_only: bool = False,
    gratuitous: bool = False,
) -> RouteRequest:
    return RouteRequest(
        hop_count,
        ttl,
        rreq_id,
        destination,
        destination_sequence,
        originator,
        originator_sequence,
        unknown_sequence=unknown_sequence,
        destination_only=destination_only,
        gratuitous=gratuitous,
    )


def rrep(
    destination: NodeId = 9,
    sequence: int = 90,
    *,
    hop_count: int = 1,
    originator: NodeId = ME,
    lifetime_ms: int = 6000,
    ttl: int = 30,
    acknowledge: bool = False,
) -> RouteReply:
    return RouteReply(hop_count, ttl, destination, sequence, originator, lifetime_ms, acknowledge=acknowledge)


def hello(sender: NodeId, sequence: int = 10, lifetime_ms: int = 2000) -> Hello:
    return Hello.of(sender, sequence, lifetime_ms)


def packet(
    originator: NodeId = 5, destination: NodeId = 9, *, ttl: int = 30, hop_count: int = 2, number: int = 1
) -> DataPacket:
    return DataPacket(hop_count, ttl, originator, destination, Notification(NotificationId(originator, number), ()))
