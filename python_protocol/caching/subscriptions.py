"""The subscription table ST of a broker, and what of it the neighbours are told (the paper on caching, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from roambus.python_protocol.coverage import covers, overlap, widest
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.listing import Listing, by_first_column
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId


class Changes(NamedTuple):
    """What a neighbour is to be told: first what is new, then what is withdrawn, so that nothing is missed between."""

    new: tuple[Filter, ...]
    withdrawn: tuple[Filter, ...]


class SubscriptionTable:
    """ST: (f, z), each once; z is a client or a neighbouring broker."""

    def __init__(self) -> None:
        self._interfaces: dict[Filter, dict[NodeId, None]] = {}
        self._told: dict[NodeId, dict[Filter, None]] = {}
        """What each neighbour has been told, as if by a subscriber."""

    def __iter__(self) -> Iterator[tuple[Filter, NodeId]]:
        return ((wanted, z) for wanted, interfaces in self._interfaces.items() for z in interfaces)

    def add(self, wanted: Filter, interface: NodeId) -> None:
        """Enters (f, z)."""
        self._interfaces.setdefault(wanted, {})[interface] = None

    def remove(self, unwanted: Filter, interface: NodeId) -> None:
        """Removes (f, z), if it is there."""
        interfaces = self._interfaces.get(unwanted, {})
        interfaces.pop(interface, None)
        if not interfaces:
            self._interfaces.pop(unwanted, None)

    def remove_interface(self, interface: NodeId) -> None:
        """Removes every (f, z) of an interface, and forgets what it was told."""
        for wanted in [wanted for wanted, z in self if z == interface]:
            self.remove(wanted, interface)
        self._told.pop(interface, None)

    def matching(self, notification: Notification) -> list[NodeId]:
        """The different z of each (f, z) with f(e)."""
        return list(dict.fromkeys(self.wanting(notification)))

    def wanting(self, notification: Notification) -> Iterator[NodeId]:
        """The z of each (f, z) with f(e), one after the other."""
        for wanted, interfaces in self._interfaces.items():
            if wanted.matches(notification):
                yield from interfaces

    def overlapping(self, filters: Iterable[Filter]) -> list[NodeId]:
        """The different z of each (f, z) that may have a message in common with one of `filters`."""
        asked = tuple(filters)
        found = (its for wanted, its in self._interfaces.items() if any(overlap(wanted, one) for one in asked))
        return list(dict.fromkeys(z for interfaces in found for z in interfaces))

    def tell(self, neighbour: NodeId) -> Changes:
        """What a neighbour is to be told now, which it then has been.

        It must know of every filter of the others, itself or by one that covers it; what it knows needlessly stays
        until nobody subscribes to it.
        """
        told = self._told.setdefault(neighbour, {})
        needed = [wanted for wanted, interfaces in self._interfaces.items() if interfaces.keys() != {neighbour}]
        withdrawn = tuple(one for one in told if one not in needed)
        for one in withdrawn:
            del told[one]
        new = tuple(widest(one for one in needed if not any(covers(known, one) for known in told)))
        told.update(dict.fromkeys(new))
        return Changes(new, withdrawn)

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """ST of a broker, as in figure 1."""
        rows = ((names.filter(wanted), names.interface(z, broker)) for wanted, z in self)
        return by_first_column(("Filter", "Interface"), rows)
