"""How transcripts write what messages hold: nodes, filters and notifications by names, everything else as it is.

`Names` itself knows no names and writes identifiers; a transcript's own has those of its network. A node can have
several names, one for each process on it (the thesis, section 2.2), so a message says which process it speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import NOBODY, listed
from roambus.python_protocol.roles import BROADCAST, NodeId

__all__ = ["NOBODY", "Names", "listed"]


class Names:
    """Names of nodes, filters and notifications; subclasses replace what they know better."""

    def node(self, node: NodeId | None) -> str:
        """A node as a sender or receiver."""
        if node is None:
            return NOBODY
        return "*" if node == BROADCAST else f"n{node}"

    def broker(self, node: NodeId | None) -> str:
        """The broker on a node."""
        return self.node(node)

    def subscriber(self, node: NodeId | None) -> str:
        """The subscriber on a node."""
        return self.node(node)

    def interface(self, interface: NodeId | None, broker: NodeId) -> str:
        """The z of a broker's routing table: another node, or the client on its own."""
        return self.subscriber(interface) if interface == broker else self.node(interface)

    def filter(self, one: Filter) -> str:
        """A filter."""
        return f"{{{one}}}"

    def notification(self, one: Notification) -> str:
        """A notification."""
        return self.notification_id(str(one.id))

    def notification_id(self, identifier: str) -> str:
        """A notification of which only the identifier is known."""
        return identifier

    def filters(self, several: Iterable[Filter]) -> str:
        """As a list: "[f1 f2]"."""
        return listed(map(self.filter, several))

    def notifications(self, several: Iterable[Notification]) -> str:
        """As a list: "[e1 e2]"."""
        return listed(map(self.notification, several))
