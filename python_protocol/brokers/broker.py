"""What every broker of the family has: its interfaces, and a handler for each message.

Whoever drives it (`brokers.agent`) tells it its interfaces (N_i, `neighbours`, and the clients: together I_i of 003,
section 2.2) and the messages that arrive over them, and carries its `Send` actions out over FIFO links; what a link
gives up comes back by `link_broken`. A `Send` to the broker's own node is for the client on that node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers.messages import MAX_HOPS
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.roles import NodeId


class Broker:
    """b_i, without radio, link or tree."""

    def __init__(self, node: NodeId, parameters: Any) -> None:  # noqa: ARG002  # each protocol has its own
        """Nothing is known at first, not even a neighbour."""
        self.node = node
        self.neighbours: dict[NodeId, None] = {}
        """N_i, in the order in which they came."""
        self.clients: set[NodeId] = set()
        """The clients of I_i, but for the one on this node."""
        self._brokers: set[NodeId] = set()
        self._handlers: dict[type[Message], Callable[[NodeId, Any], list[Action]]] = {}

    def receive(self, sender: NodeId, message: Message) -> list[Action]:
        """A message has arrived from an interface z, or the client on this node; what is for clients is ignored."""
        handler = self._handlers.get(type(message))
        return [] if handler is None else handler(sender, message)

    def neighbour_appeared(self, neighbour: NodeId) -> list[Action]:
        """A broker has made this one its parent, or is back."""
        self.meet(neighbour)
        return []

    def client_appeared(self, client: NodeId) -> list[Action]:
        """A client has attached itself, or is back."""
        self.clients.add(client)
        return []

    def gone(self, interface: NodeId, *, moved: bool) -> None:  # noqa: ARG002  # not all protocols ask
        """A neighbour or client is out of reach; one that `moved` will tell of itself by its new parent."""
        self.neighbours.pop(interface, None)
        self.clients.discard(interface)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:  # noqa: ARG002  # not all protocols store
        """A link was given up with `messages` under way or waiting, the oldest first."""
        self.gone(interface, moved=False)
        return []

    def idle(self, interface: NodeId) -> list[Action]:  # noqa: ARG002  # not all protocols store
        """The link to an interface has nothing left to do."""
        return []

    def migrate(self, parent: NodeId) -> list[Action]:
        """The way to the leader now begins at `parent`."""
        self.meet(parent)
        return []

    def meet(self, neighbour: NodeId) -> None:
        """Enters a broker in N_i."""
        self.neighbours[neighbour] = None
        self.clients.discard(neighbour)
        self._brokers.add(neighbour)

    def meet_client(self, sender: NodeId) -> None:
        """Enters the sender of a client's message in I_i, unless its node is known to be a broker."""
        if self.is_client(sender) and sender != self.node:
            self.clients.add(sender)

    def is_client(self, interface: NodeId) -> bool:
        """Whether z is a client. A broker's node is its broker to all others: its client has no other interface."""
        return interface not in self._brokers

    def reaches(self, interface: NodeId | None) -> bool:
        """Whether an interface is in I_i."""
        return interface == self.node or interface in self.neighbours or interface in self.clients

    def listings(self, names: Names) -> Mapping[str, Listing]:  # noqa: ARG002  # each protocol has its own
        """What a transcript can show of the broker, by name: "table" for R_i, "stored" for Q_i."""
        return {}

    def is_way_back(self, interface: NodeId, sender: NodeId) -> bool:
        """Whether y = z; but a client that publishes what it subscribes to does get it."""
        return interface == sender and not self.is_client(sender)

    def flood(self, message: Message, sender: NodeId) -> list[Action]:
        """Sends to all of N_i but the one from which the message came."""
        return [Send(neighbour, message) for neighbour in self.neighbours if neighbour != sender]

    def radio_hops(self, hops: int, interface: NodeId) -> int:
        """The hops of a message that had `hops` when it came, and goes on to an interface."""
        return min(hops + (interface != self.node), MAX_HOPS)


def note_route(notification: Notification, subscribers: Iterable[NodeId]) -> list[Action]:
    """Tells the trace for whom a broker takes a notification on; nothing if for nobody."""
    listed = node_list(subscribers)
    return [Note(ROUTE, notification_id=str(notification.id), detail=listed)] if listed else []
