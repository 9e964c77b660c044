"""Brokers joined by reliable FIFO links, as the algorithms assume, without radio, link layer or election."""

from __future__ import annotations

from collections import deque

from python_protocol.actions import Action, Note, Send
from python_protocol.brokers.messages import Pub
from python_protocol.codec import Message
from python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator
from python_protocol.mft.broker import Broker
from python_protocol.mft.messages import Bmig, Bquery, Bsub, Known, Mig, Rep, Sub, Uns
from python_protocol.mft.parameters import MftParameters
from python_protocol.roles import NodeId

CLIENTS = 100
"""Subscriber s_i is node 100 + i, unless a test says otherwise."""


def topic(number: int) -> Filter:
    """The filter f_number."""
    return Filter((Constraint("topic", Operator.EQUAL, number),))


def event(number: int, sequence: int = 0) -> Notification:
    """A notification that only f_number matches."""
    return Notification(NotificationId(99, sequence), (("topic", number),))


class Network:
    """Brokers, the messages between them, and what left the brokers for clients."""

    def __init__(self, *links: tuple[NodeId, NodeId], parameters: MftParameters | None = None) -> None:
        self.parameters = parameters or MftParameters()
        self.brokers: dict[NodeId, Broker] = {}
        self.log: list[str] = []
        """Every message between brokers, as the thesis writes it."""
        self.to_clients: list[tuple[NodeId, Message]] = []
        self.notes: list[tuple[NodeId, Note]] = []
        self._under_way: deque[tuple[NodeId, NodeId, Message]] = deque()
        for a, b in links:
            self.connect(a, b)

    def broker(self, node: NodeId) -> Broker:
        """The broker on a node, made when first asked for."""
        return self.brokers.setdefault(node, Broker(node, self.parameters))

    def connect(self, a: NodeId, b: NodeId) -> None:
        """Makes two brokers neighbours, without any message."""
        self.broker(a).neighbours[b] = None
        self.broker(b).neighbours[a] = None

    def cut(self, a: NodeId, b: NodeId) -> None:
        """The link is lost, and both notice; what was under way on it is lost."""
        self._under_way = deque(one for one in self._under_way if set(one[:2]) != {a, b})
        self.broker(a).gone(b, moved=False)
        self.broker(b).gone(a, moved=False)

    def client_sends(self, client: NodeId, broker: NodeId, message: Message) -> None:
        """A client sends to its broker, and everything that follows happens."""
        self.perform(broker, self.broker(broker).receive(client, message))
        self.run()

    def subscribe(self, number: int, broker: NodeId, timestamp: int = 1) -> None:
        """s_number subscribes to f_number at a broker."""
        client = CLIENTS + number
        self.client_sends(client, broker, Sub(topic(number), client, timestamp, 0))

    def publish(self, number: int, broker: NodeId, sequence: int = 0) -> None:
        """A publisher at a broker publishes what f_number matches."""
        self.client_sends(99, broker, Pub(event(number, sequence), 1))

    def migrate(self, node: NodeId, parent: NodeId) -> None:
        """A broker migrates, and everything that follows happens."""
        self.perform(node, self.broker(node).migrate(parent))
        self.run()

    def set_uplink(self, node: NodeId, parent: NodeId) -> None:
        """Lets a broker know its parent in a tree that is already there, without messages."""
        self.broker(node).migrate(parent)

    def perform(self, node: NodeId, actions: list[Action]) -> None:
        """Puts what a broker sends on its links."""
        for action in actions:
            if isinstance(action, Note):
                self.notes.append((node, action))
            elif isinstance(action, Send) and action.destination in self.brokers and action.destination != node:
                self._under_way.append((node, action.destination, action.message))
            elif isinstance(action, Send):
                self.to_clients.append((action.destination, action.message))

    def run(self) -> None:
        """Delivers until nothing is under way."""
        while self._under_way:
            sender, receiver, message = self._under_way.popleft()
            self.log.append(f"b{sender} -> b{receiver} {describe(message)}")
            self.perform(receiver, self.broker(receiver).receive(sender, message))

    def take_log(self) -> list[str]:
        """The messages since the last call."""
        log, self.log = self.log, []
        return log

    def next_hops(self, number: int) -> dict[NodeId, NodeId | None]:
        """Where each broker sends what is for s_number."""
        return {node: broker.table.next_hop(CLIENTS + number) for node, broker in sorted(self.brokers.items())}

    def reached(self, number: int) -> list[NotificationId]:
        """The notifications that left a broker for s_number, in their order."""
        found: list[NotificationId] = []
        for client, message in self.to_clients:
            if client == CLIENTS + number and isinstance(message, Pub):
                found.append(message.notification.id)
            elif client == CLIENTS + number and isinstance(message, Rep):
                found.extend(notification.id for notification in message.notifications)
        return found


def describe(message: Message) -> str:
    """A message as the thesis writes it: "BMIG C=[(s3,1,1)] O=[] h=0"."""
    return f"{message.message_type} {_describe_fields(message)}"


def _describe_fields(message: Message) -> str:
    match message:
        case Bmig(children, others, hops):
            return f"C={_describe_known(children)} O={_describe_known(others)} h={hops}"
        case Bsub(subscriber, filters, known, hops):
            numbers = " ".join(f"f{one.constraints[0].operand}" for one in filters)
            return f"s{subscriber - CLIENTS} [{numbers}] T=({known.counter},{known.hops}) h={hops}"
        case Bquery(subscriber, known):
            return f"s{subscriber - CLIENTS} T=({known.counter},{known.hops})"
        case Pub(notification, _):
            return str(notification.id)
        case Rep(subscriber, notifications, _):
            return f"s{subscriber - CLIENTS} {' '.join(str(one.id) for one in notifications)}"
    assert isinstance(message, Sub | Uns | Mig)
    return f"s{message.subscriber - CLIENTS} t={message.timestamp} h={message.hops}"


def _describe_known(known: tuple[Known, ...]) -> str:
    return "[" + " ".join(f"(s{one.subscriber - CLIENTS},{one.timestamp},{one.hops})" for one in known) + "]"
