"""Simple Routing in a static tree of brokers (the thesis, section 2.3, algorithm 2.1).

A subscription floods the tree once, so subscribe after the election, or let the scenario give the tree. R_i is a
multiset; UNS removes one entry (section 2.3.1). Clients get their own notifications: y != z (line 11) concerns brokers.
A lost neighbour gets nothing, and the trace says so. A client at another broker subscribes again (first approach,
section 3.2); old entries stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from roambus.python_protocol.agent import Listing, by_first_column, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.anonymous import Client, Sub, Uns
from roambus.python_protocol.brokers.broker import BrokerParameters, Pub
from roambus.python_protocol.brokers.routing import ForgetfulBroker
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Entry(NamedTuple):
    """(f, z): f's notifications go to z."""

    filter: Filter
    interface: NodeId


class RoutingTable:
    """R_i, a multiset: an entry for each subscription."""

    def __init__(self) -> None:
        self._entries: Counter[Entry] = Counter()

    def __iter__(self) -> Iterator[Entry]:
        return self._entries.elements()

    def add(self, wanted: Filter, interface: NodeId) -> None:
        """Adds one (f, z)."""
        self._entries[Entry(wanted, interface)] += 1

    def remove(self, unwanted: Filter, interface: NodeId) -> None:
        """Remove one (f, z), if any."""
        self._entries -= Counter([Entry(unwanted, interface)])

    def matching(self, notification: Notification) -> list[NodeId]:
        """Return the different y of each (f, y) with f(e)."""
        return list(dict.fromkeys(y for f, y in self._entries if f.matches(notification)))

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """Return a broker's table, as in table 2.2."""
        return by_first_column(
            ("Filter", "Interface"), ((names.filter(f), names.interface(z, broker)) for f, z in self)
        )


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self.table = RoutingTable()

    # Algorithm 2.1

    @on(Sub)  # lines 1 to 4
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Add a subscription from or behind z."""
        self.meet_client(z)
        self.table.add(sub.filter, z)
        self.flood(sub, z)

    @on(Uns)  # lines 5 to 8
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove a subscription from or behind z."""
        self.table.remove(uns.filter, z)
        self.flood(uns, z)

    @on(Pub)  # lines 9 to 15
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Forward a notification to each match, but not back."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, filter(self.is_client, matching))
        for y in matching:
            if not self.is_way_back(y, z):
                self.send_pub(pub, y)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i."""
        return {"table": self.table.listing(self.node, names)}


class Simple(BrokerAgent):
    """Simple Routing, for a system without movement, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
