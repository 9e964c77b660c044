"""Brokers joined by reliable FIFO links, as the algorithms assume, without radio, link layer or tree."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from typing import Generic, TypeVar

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers.broker import Broker, Pub
from roambus.python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from tests.python_protocol.brokers.actions import asked, receive

B = TypeVar("B", bound=Broker)

CLIENTS = 100
"""Subscriber s_i is node 100 + i, unless a test says otherwise."""
PUBLISHER = 99


def topic(number: int) -> Filter:
    """The filter f_number."""
    return Filter((Constraint("topic", Operator.EQUAL, number),))


def event(number: int, sequence: int = 0) -> Notification:
    """A notification that only f_number matches."""
    return Notification(NotificationId(PUBLISHER, sequence), (("topic", number),))


def describe_filter(wanted: Filter) -> str:
    """As the thesis writes it: "f3"."""
    return f"f{wanted.constraints[0].operand}"


def describe_node(node: NodeId) -> str:
    """A broker or subscriber as the thesis writes it: "b3", "s3"."""
    return f"s{node - CLIENTS}" if node >= CLIENTS else f"b{node}"


class Network(Generic[B]):
    """Brokers, the messages between them, and what left the brokers for clients."""

    def __init__(self, *links: tuple[NodeId, NodeId]) -> None:
        self.brokers: dict[NodeId, B] = {}
        self.log: list[str] = []
        """Every message between brokers, as the thesis writes it."""
        self.to_clients: list[tuple[NodeId, Message]] = []
        self.notes: list[tuple[NodeId, Note]] = []
        self._under_way: deque[tuple[NodeId, NodeId, Message]] = deque()
        for a, b in links:
            self.connect(a, b)

    @abstractmethod
    def make(self, node: NodeId) -> B:
        """A new broker."""

    @abstractmethod
    def describe(self, message: Message) -> str:
        """The content of a message as the thesis writes it."""

    @abstractmethod
    def subscribe(self, number: int, broker: NodeId) -> None:
        """s_number subscribes to f_number at a broker."""

    def publication(self, notification: Notification) -> Message:
        """What a publisher sends its broker."""
        return Pub(1, notification)

    def broker(self, node: NodeId) -> B:
        """The broker on a node, made when first asked for."""
        if node not in self.brokers:
            self.brokers[node] = self.make(node)
        return self.brokers[node]

    def connect(self, a: NodeId, b: NodeId) -> None:
        """Makes two brokers neighbours, without any message."""
        self.broker(a).meet(b)
        self.broker(b).meet(a)

    def cut(self, a: NodeId, b: NodeId) -> None:
        """The link is lost, and both notice; what was under way on it is lost."""
        self._under_way = deque(message for message in self._under_way if set(message[:2]) != {a, b})
        self.broker(a).gone(b, moved=False)
        self.broker(b).gone(a, moved=False)

    def client_sends(self, client: NodeId, broker: NodeId, message: Message) -> None:
        """A client sends to its broker, and everything that follows happens."""
        self.perform(broker, receive(self.broker(broker), client, message))
        self.run()

    def publish(self, number: int, broker: NodeId, sequence: int = 0) -> None:
        """A publisher at a broker publishes what f_number matches."""
        self.client_sends(PUBLISHER, broker, self.publication(event(number, sequence)))

    def migrate(self, node: NodeId, parent: NodeId) -> None:
        """A broker migrates, and everything that follows happens."""
        self.perform(node, asked(self.broker(node).migrate, parent))
        self.run()

    def perform(self, node: NodeId, actions: list[Action]) -> None:
        """Puts what a broker sends on its links."""
        for action in actions:
            if isinstance(action, Note):
                self.notes.append((node, action))
            elif isinstance(action, Send) and action.destination in self.brokers and action.destination != node:
                self._under_way.append((node, action.destination, action.message))
            elif isinstance(action, Send):
                self.to_clients.append((action.destination, action.message))

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way."""
        return not self._under_way

    def run(self, most: int = 1000) -> None:
        """Delivers until nothing is under way, or so many messages that they will go on for ever."""
        for _ in range(most):
            if self.is_quiet:
                return
            sender, receiver, message = self._under_way.popleft()
            text = f"{message.message_type} {self.describe(message)}".rstrip()
            self.log.append(f"b{sender} -> b{receiver} {text}")
            self.perform(receiver, receive(self.broker(receiver), sender, message))

    def take_log(self) -> list[str]:
        """The messages since the last call."""
        log, self.log = self.log, []
        return log
