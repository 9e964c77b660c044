"""What every broker of the family has: its interfaces, and how it sends over them.

A broker is a process that knows neither radio nor link nor tree. Whoever drives it (`brokers.agent`) tells it its
interfaces, which are its neighbours N_i and its clients, together the I_i of the thesis, section 2.2. It tells it the
messages that arrive over them, and carries what the broker sends over FIFO links; what a link gives up comes back by
`link_broken`. What a broker sends to its own node is for the client on that node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roambus.python_protocol.brokers.messages import MAX_HOPS
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.process import Process
from roambus.python_protocol.roles import NodeId


class Broker(Process):
    """b_i, whose handlers of messages a protocol adds."""

    def __init__(self, node: NodeId, parameters: Any) -> None:  # each protocol has its own
        """At first nothing is known, not even a neighbour."""
        super().__init__()
        self.node = node
        self.neighbours: dict[NodeId, None] = {}
        """N_i, in the order in which they came."""
        self.clients: set[NodeId] = set()
        """The clients of I_i except the one on this node."""
        self._brokers: set[NodeId] = set()

    # What the tree and the link report

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """A broker has made this one its parent, or is back."""
        self.meet(neighbour)

    def client_appeared(self, client: NodeId) -> None:
        """A client has attached itself, or is back."""
        self.clients.add(client)

    def gone(self, interface: NodeId, *, moved: bool) -> None:  # not all protocols ask
        """A neighbour or client is out of reach; one that has `moved` will be heard of by way of its new parent."""
        self.neighbours.pop(interface, None)
        self.clients.discard(interface)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:  # not all protocols store
        """A link was given up with `messages` under way or waiting, the oldest first."""
        self.gone(interface, moved=False)

    def idle(self, interface: NodeId) -> None:
        """The link to an interface has nothing left to do."""

    def migrate(self, parent: NodeId) -> None:
        """The way to the leader now begins at `parent`."""
        self.meet(parent)

    # Interfaces

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

    def is_way_back(self, interface: NodeId, sender: NodeId) -> bool:
        """Whether y = z, except that a client which publishes what it subscribes to does get it."""
        return interface == sender and not self.is_client(sender)

    # Senders

    def flood(self, message: Message, sender: NodeId) -> None:
        """Sends to all of N_i but the one from which the message came."""
        for neighbour in self.neighbours:
            if neighbour != sender:
                self.send(neighbour, message)

    def note_route(self, notification: Notification, subscribers: Iterable[NodeId]) -> None:
        """Tells the trace for whom the broker takes a notification on; it says nothing if that is nobody."""
        if listed := node_list(subscribers):
            self.note(ROUTE, notification_id=str(notification.id), detail=listed)

    def radio_hops(self, hops: int, interface: NodeId) -> int:
        """The hops of a message that had `hops` when it came, and goes on to an interface."""
        return min(hops + (interface != self.node), MAX_HOPS)

    # What a person can see

    def listings(self, names: Names) -> Mapping[str, Listing]:  # each protocol has its own
        """The tables that a transcript can show, by name: "table" for R_i, "stored" for Q_i."""
        return {}
