"""A broker of the family: its interfaces, shared messages and queues.

Its driver (`brokers.agent`) reports its interfaces I_i, neighbours N_i and clients (the thesis, section 2.2), hands it
messages, carries its own over FIFO links, and returns undelivered ones by `link_broken`. The queues Q_i(s) keep
notifications for unreachable subscribers (section 4.3), with one limit for the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roambus.python_protocol.actions import Note
from roambus.python_protocol.agent import Listing, Process
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import bytes_of
from roambus.python_protocol.parts.election import ElectionParameters
from roambus.python_protocol.parts.link import LinkParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.trace_rows import DROP, ROUTE, STORE, node_list

TREES = ("election", "given")


class BrokerParameters(LinkParameters, ElectionParameters):
    """Parameters of every protocol of the broker family."""

    tree: str = parameter(
        "election",
        source="the thesis, section 2.5",
        choices=TREES,
        doc="the source of the tree: an election among brokers, or the scenario",
    )
    link_layer: bool = parameter(
        True,
        source="the thesis, section 2.2: reliable FIFO channels, which a radio does not have",
        doc="use the shared link layer; false: send directly, over reliable links or a MAC that acknowledges",
    )
    publisher_buffer: int = parameter(
        64,
        source="reasoned: a minute of the thesis' publishers",
        at_least=1,
        doc="notifications that a publisher keeps while it has no broker",
    )


class StorageParameters(BrokerParameters):
    """Parameters of protocols whose brokers store notifications."""

    storage_limit: int = parameter(
        16384,
        source="reasoned: 1 MiB, the flash of a TelosB, in notifications of 64 bytes",
        at_least=1,
        doc="notifications that a broker stores, all subscribers together",
    )


# Messages


MAX_HOPS = 0xFF
"""The greatest number of hops in a message."""


Hops = U8
"""Hops, at most MAX_HOPS."""


class Pub(Message, tag=3, notation="{notification} hops={hops}"):
    """(PUB, e): e is published."""

    hops: Hops
    notification: Notification


class Filters(Message, tag=6, notation="{filters}"):
    """(FILTERS, X): the subscriptions of the receiver that its new broker knows."""

    filters: tuple[Filter, ...]


def losses(message: Message, reason: str) -> list[Note]:
    """Return a drop row for each notification in a message, for its subscriber if it names one."""
    notification = getattr(message, "notification", None)
    lost = getattr(message, "notifications", ()) if notification is None else (notification,)
    peer = getattr(message, "subscriber", None)
    return [
        Note(DROP, message_type=message.message_type, notification_id=str(each.id), peer=peer, detail=reason)
        for each in lost
    ]


# Brokers


class Broker(Process):
    """b_i, whose handlers of messages a protocol adds."""

    def __init__(self, node: NodeId, parameters: Any) -> None:  # each protocol has its own
        """Begin without neighbours."""
        super().__init__()
        self.node = node
        self.neighbours: dict[NodeId, None] = {}
        """N_i, in order of arrival."""
        self.clients: set[NodeId] = set()
        """The clients of I_i on other nodes."""
        self._brokers: set[NodeId] = set()
        self.is_paced = bool(parameters.link_layer)
        """Whether `idle` reports when an interface has taken what was sent."""

    # What the tree and the link report

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Meet a broker that chose this parent, or is back."""
        self.meet(neighbour)

    def client_appeared(self, client: NodeId) -> None:
        """Meet a client, perhaps back."""
        self.clients.add(client)

    def gone(self, interface: NodeId, *, moved: bool) -> None:  # not all protocols ask
        """Forget an unreachable interface; one that has `moved` reports through its new parent."""
        self.neighbours.pop(interface, None)
        self.clients.discard(interface)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:  # not all protocols store
        """Take back the `messages` of a broken link, oldest first."""
        self.gone(interface, moved=False)

    def lose(self, interface: NodeId, message: Message, reason: str) -> None:
        """Note the loss of a message that cannot be sent, such as one too long for a frame."""
        self.perform(losses(message, reason))

    def idle(self, interface: NodeId) -> None:
        """React to an idle link to an interface."""

    def migrate(self, parent: NodeId) -> None:
        """Turn to `parent` as the way to the leader."""
        self.meet(parent)

    # Interfaces

    def meet(self, neighbour: NodeId) -> None:
        """Enter a broker in N_i."""
        self.neighbours[neighbour] = None
        self.clients.discard(neighbour)
        self._brokers.add(neighbour)

    def meet_client(self, sender: NodeId) -> None:
        """Enter the sender of a client's message in I_i, unless its node is a broker."""
        if self.is_client(sender) and sender != self.node:
            self.clients.add(sender)

    def is_client(self, interface: NodeId) -> bool:
        """Whether z is a client; a broker's node is its broker to all others."""
        return interface not in self._brokers

    def reaches(self, interface: NodeId | None) -> bool:
        """Whether an interface is in I_i."""
        return interface == self.node or interface in self.neighbours or interface in self.clients

    def is_way_back(self, interface: NodeId, sender: NodeId) -> bool:
        """Whether y = z and z is no client, which may want its own notifications."""
        return interface == sender and not self.is_client(sender)

    # Senders

    def flood(self, message: Message, sender: NodeId) -> None:
        """Send to N_i without the message's sender."""
        for neighbour in self.neighbours:
            if neighbour != sender:
                self.send(neighbour, message)

    def note_route(self, notification: Notification, subscribers: Iterable[NodeId]) -> None:
        """Note the subscribers that a notification goes on to."""
        if listed := node_list(subscribers):
            self.note(ROUTE, notification_id=str(notification.id), detail=listed)

    def radio_hops(self, hops: int, interface: NodeId) -> int:
        """The hops of a message, `hops` so far, on to an interface."""
        return min(hops + (interface != self.node), MAX_HOPS)

    # What a person can see

    def listings(self, names: Names) -> Mapping[str, Listing]:  # each protocol has its own
        """The tables for transcripts: "table" for R_i, "stored" for Q_i."""
        return {}


# Q_i


class Storage:
    """The queues of all subscribers; each holds a notification once, oldest first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queues: dict[NodeId, dict[NotificationId, Notification]] = {}
        self._stored = 0

    def put(self, subscriber: NodeId, notification: Notification) -> list[Note]:
        """Enqueue a notification; return the rows for the trace, a drop if full."""
        if notification.id in self._queues.get(subscriber, {}):
            return []
        if self._stored >= self._limit:
            return [Note(DROP, notification_id=str(notification.id), peer=subscriber, detail="storage full")]
        self._queues.setdefault(subscriber, {})[notification.id] = notification
        self._stored += 1
        return [Note(STORE, notification_id=str(notification.id), peer=subscriber)]

    def take(self, subscriber: NodeId, size: int | None = None) -> list[Notification]:
        """Dequeue notifications of a subscriber, at most `size` bytes, at least one."""
        queue = self._queues.get(subscriber, {})
        taken: list[Notification] = []
        used = 0
        for notification in queue.values():
            used += len(bytes_of(notification))
            if taken and size is not None and used > size:
                break
            taken.append(notification)
        for notification in taken:
            del queue[notification.id]
        if not queue:
            self._queues.pop(subscriber, None)
        self._stored -= len(taken)
        return taken

    def subscribers(self) -> list[NodeId]:
        """The subscribers with stored notifications."""
        return list(self._queues)

    def listing(self, names: Names) -> Listing:
        """The queues as a table."""
        queues = self._queues.items()
        rows = ((names.subscriber(subscriber), names.notifications(queue.values())) for subscriber, queue in queues)
        return Listing(("Subscriber", "Notifications"), tuple(rows))

    def __len__(self) -> int:
        return self._stored
