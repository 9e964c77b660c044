"""The routing table R_i of (f, z, s): what matches f goes to z for subscriber s (the thesis, table 2.3).

Phoenix and the first approach have this table. For each f and s there is at most one entry, whatever its z is.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.listing import Listing, by_first_column
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId


class Entry(NamedTuple):
    """An entry (f, z, s)."""

    filter: Filter
    interface: NodeId
    subscriber: NodeId


class RoutingTable:
    """R_i, whose entries are in the order in which they came."""

    def __init__(self) -> None:
        self._interfaces: dict[tuple[Filter, NodeId], NodeId] = {}

    def __iter__(self) -> Iterator[Entry]:
        return (Entry(wanted, z, s) for (wanted, s), z in self._interfaces.items())

    def add(self, wanted: Filter, interface: NodeId, subscriber: NodeId) -> None:
        """Adds (f, z, s), unless there is an (f, -, s)."""
        self._interfaces.setdefault((wanted, subscriber), interface)

    def remove(self, unwanted: Filter, subscriber: NodeId) -> None:
        """Removes (f, -, s), if it is there."""
        self._interfaces.pop((unwanted, subscriber), None)

    def replace(self, subscriber: NodeId, interface: NodeId) -> None:
        """Replaces each (-, -, s) with (-, z, s)."""
        for entry in self:
            if entry.subscriber == subscriber:
                self._interfaces[entry.filter, subscriber] = interface

    def forget_all_but(self, subscribers: Container[NodeId]) -> None:
        """Removes each (-, -, s) of other subscribers."""
        for entry in [entry for entry in self if entry.subscriber not in subscribers]:
            self.remove(entry.filter, entry.subscriber)

    def filters(self, subscriber: NodeId) -> tuple[Filter, ...]:
        """The f of each (f, -, s)."""
        return tuple(entry.filter for entry in self if entry.subscriber == subscriber)

    def interfaces(self, subscriber: NodeId) -> list[NodeId]:
        """The different z of each (-, z, s); more than one only while messages about s are under way."""
        return list(dict.fromkeys(entry.interface for entry in self if entry.subscriber == subscriber))

    def subscribers(self) -> list[NodeId]:
        """The different s of all entries."""
        return list(dict.fromkeys(entry.subscriber for entry in self))

    def matching(self, notification: Notification) -> dict[NodeId, list[NodeId]]:
        """The different y of each (f, y, -) with f(e), and the s for whom."""
        found: dict[NodeId, list[NodeId]] = {}
        for entry in self:
            if entry.filter.matches(notification):
                subscribers = found.setdefault(entry.interface, [])
                if entry.subscriber not in subscribers:
                    subscribers.append(entry.subscriber)
        return found

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """The table of a broker, as the thesis prints it in table 2.3."""
        rows = ((names.filter(f), names.interface(z, broker), names.subscriber(s)) for f, z, s in self)
        return by_first_column(("Filter", "Interface", "Subscriber"), rows)
