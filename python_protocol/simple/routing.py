"""The routing table R_i of (f, z): what matches f goes to z (the thesis, table 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.listing import Listing, by_first_column
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId


class Entry(NamedTuple):
    """(f, z)."""

    filter: Filter
    interface: NodeId


class RoutingTable:
    """R_i, a multiset: an entry is there once for each subscription."""

    def __init__(self) -> None:
        self._entries: Counter[Entry] = Counter()

    def __iter__(self) -> Iterator[Entry]:
        return self._entries.elements()

    def add(self, wanted: Filter, interface: NodeId) -> None:
        """Adds one (f, z)."""
        self._entries[Entry(wanted, interface)] += 1

    def remove(self, unwanted: Filter, interface: NodeId) -> None:
        """Removes one (f, z), if there is any."""
        entry = Entry(unwanted, interface)
        if self._entries[entry] <= 1:
            del self._entries[entry]
        else:
            self._entries[entry] -= 1

    def matching(self, notification: Notification) -> list[NodeId]:
        """The different y of each (f, y) with f(e)."""
        return list(dict.fromkeys(y for f, y in self._entries if f.matches(notification)))

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """That of a broker, as in table 2.2."""
        rows = ((names.filter(f), names.interface(z, broker)) for f, z in self)
        return by_first_column(("Filter", "Interface"), rows)
