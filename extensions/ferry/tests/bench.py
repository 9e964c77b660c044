"""One node on a test bench: a ferry or a node of an island, with the actions that an event causes."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from roambus.extensions.ferry.ferries import Ferry, FixedFerry
from roambus.python_protocol.actions import Action, Deliver, GoTo, Note, Send
from roambus.python_protocol.events import Arrived, Event, Publish, Received, Started, Subscribe, TimerFired
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime

M = TypeVar("M", bound=Message)
ME: NodeId = 16
FERRY, ISLANDER = Role.BROKER, Role.PUBLISHER | Role.SUBSCRIBER
ISLANDS = "40,40/160,40/160,160/40,160"
SPORT = parse_filter("topic = 'sport'")


def news(number: int, publisher: NodeId = 3) -> Notification:
    """A notification about sport."""
    return Notification(NotificationId(publisher, number), (("topic", "sport"),), 10)


class Bench:
    """A node of an agent's class."""

    def __init__(self, roles: Role, kind: type[Ferry] = FixedFerry, node: NodeId = ME, /, **parameters: Any) -> None:
        chosen: dict[str, Any] = {"islands": ISLANDS, "first": ME, **parameters}
        self.agent = kind(node, roles, kind.parameters_type(**chosen), Random(1))
        self.now: SimTime = 0

    def handle(self, event: Event) -> list[Action]:
        """Return the node's actions."""
        return list(self.agent.handle(event, self.now))

    def hear(self, message: Message, sender: NodeId) -> list[Action]:
        """Return its actions at a message."""
        return self.handle(Received(sender, message, -50, 50))

    def visit(self, stay_s: float = 5) -> list[Action]:
        """Let the ferry arrive, and leave after its stay; return the actions of the second."""
        self.handle(Arrived(0, 0))
        self.now += round(stay_s * SECOND)
        return self.handle(TimerFired("stay"))

    def start(self) -> list[Action]:
        """Start the node."""
        return self.handle(Started())

    def publish(self, notification: Notification) -> list[Action]:
        """Let its application publish."""
        return self.handle(Publish(notification, ()))

    def subscribe(self) -> None:
        """Let its application subscribe to sport."""
        self.handle(Subscribe(SPORT))


def sent(actions: list[Action], kind: type[M]) -> list[tuple[NodeId, M]]:
    """The messages of a class, with their receivers."""
    return [
        (action.destination, action.message)
        for action in actions
        if isinstance(action, Send) and isinstance(action.message, kind)
    ]


def delivered(actions: list[Action]) -> list[Notification]:
    """The notifications that the application gets."""
    return [action.notification for action in actions if isinstance(action, Deliver)]


def noted(actions: list[Action], name: str) -> list[str]:
    """The notifications or details of notes."""
    return [
        str(action.notification_id or action.detail)
        for action in actions
        if isinstance(action, Note) and action.name == name
    ]


def places(actions: list[Action]) -> list[tuple[float, float]]:
    """Where the node is sent."""
    return [(action.x_m, action.y_m) for action in actions if isinstance(action, GoTo)]
