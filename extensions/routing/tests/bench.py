"""One routing node on a test bench: bare links, no jitter, and an answer in one call."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.events import Event, Received, Started, TimerFired, TimerKey
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import DataPacket, Router
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

M = TypeVar("M", bound=Message)
ME: NodeId = 0
NEWS = Notification(NotificationId(5, 1), (("topic", "news"),), 10)


class Bench:
    """Node ME of an agent's class; `parameters` are set on top of bare links without jitter."""

    def __init__(self, agent: type[Router], seed: int = 1, /, **parameters: object) -> None:
        chosen: dict[str, Any] = {"link_layer": False, "broadcast_jitter": 0, **parameters}
        self.agent: Any = agent(ME, Role.NONE, agent.parameters_type(**chosen), Random(seed))
        self.timers: dict[TimerKey, SimTime] = {}
        self.now: SimTime = 0
        self.handle(Started())

    def handle(self, event: Event, now: SimTime | None = None) -> list[Action]:
        """Return the node's actions."""
        self.now = self.now if now is None else now
        actions = list(self.agent.handle(event, self.now))
        for action in actions:
            if isinstance(action, SetTimer):
                self.timers[action.key] = self.now + action.after
            elif isinstance(action, CancelTimer):
                self.timers.pop(action.key, None)
        return actions

    def hear(self, message: Message, sender: NodeId, now: SimTime | None = None) -> list[Action]:
        """Return its actions at a message."""
        return self.handle(Received(sender, message, -50, 50), now)

    def fire(self, key: TimerKey) -> list[Action]:
        """What it does when a timer runs out in its time."""
        return self.handle(TimerFired(key), self.timers.pop(key))


def sent(actions: list[Action], kind: type[M]) -> list[tuple[NodeId, M]]:
    """The messages of a class, with their receivers."""
    return [
        (action.destination, action.message)
        for action in actions
        if isinstance(action, Send) and isinstance(action.message, kind)
    ]


def dropped(actions: list[Action]) -> list[str | None]:
    """Why packets are given up."""
    return [action.detail for action in actions if isinstance(action, Note) and action.name == "drop"]


def delivered(actions: list[Action]) -> list[Notification]:
    """Return the deliveries to the application."""
    return [action.notification for action in actions if isinstance(action, Deliver)]


def packet(destination: NodeId, *, originator: NodeId = 5, ttl: int = 35) -> DataPacket:
    """A packet with NEWS."""
    return DataPacket(0, ttl, originator, destination, NEWS)
