"""Simple Routing: publish/subscribe in a static tree of brokers, to which clients are bound (the thesis, section 2.3).

A subscription floods the tree, and turns at each broker an entry (f, z) towards where it came from; what matches f then
goes to z. That is algorithm 2.1 of the thesis, and algorithm 1 of the paper on the first approach. Subscriptions flood
the tree once: those made before the tree stands, and whatever the tree does afterwards, reach only a part of it. So
subscribe after the election has settled, or let the scenario give the tree.

Where the algorithm leaves something open:

- *R_i is a multiset of (f, z)*; UNS removes one entry (section 2.3.1).
- *A client that publishes what it subscribes to gets it*: y != z (line 11) holds back what came from a broker.
- *The system is static*: a neighbour whose link is lost gets nothing, and nothing is kept for it; the trace says so.
- *A client that finds itself at another broker* all the same subscribes there again (the paper on the first approach,
  section 3.2): what it has subscribed to before stays in the system, and leads nowhere.
- Who subscribes is not known, only where; `route` in the trace is of the brokers whose own clients match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from roambus.python_protocol.agent import Listing, by_first_column, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import BrokerParameters, ForgetfulBroker, Pub
from roambus.python_protocol.brokers.client import FaithfulClient
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId, SimTime


class Sub(Message, tag=1, notation="{filter}"):
    """(SUB, f): somebody subscribes to f."""

    filter: Filter


class Uns(Message, tag=2, notation="{filter}"):
    """(UNS, f): somebody unsubscribes from f."""

    filter: Filter


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    subscription_types = (Sub, Uns)

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived."""
        self._deliver(pub.notification, pub.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        commands = self._take_commands()
        if broker == last:
            self._say_again(broker)
            self._say_late(commands)
        else:
            self._take_unsaid()  # which the filters say again
            self._subscribe_all()

    def _head(self) -> tuple[()]:
        """Nobody is told who subscribes."""
        return ()


class Entry(NamedTuple):
    """(f, z): what matches f goes to interface z."""

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
        self._entries -= Counter([Entry(unwanted, interface)])

    def matching(self, notification: Notification) -> list[NodeId]:
        """The different y of each (f, y) with f(e)."""
        return list(dict.fromkeys(y for f, y in self._entries if f.matches(notification)))

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """That of a broker, as in table 2.2."""
        return by_first_column(
            ("Filter", "Interface"), ((names.filter(f), names.interface(z, broker)) for f, z in self)
        )


class Broker(ForgetfulBroker):
    """b_i: its interfaces and routing table."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing is known, not even a neighbour."""
        super().__init__(node, parameters)
        self.table = RoutingTable()

    # Algorithm 2.1

    @on(Sub)  # lines 1 to 4
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Somebody subscribes at or behind z."""
        self.meet_client(z)
        self.table.add(sub.filter, z)
        self.flood(sub, z)

    @on(Uns)  # lines 5 to 8
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Somebody unsubscribes at or behind z."""
        self.table.remove(uns.filter, z)
        self.flood(uns, z)

    @on(Pub)  # lines 9 to 15
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """A notification goes to every interface with a match, but not back."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, filter(self.is_client, matching))
        for y in matching:
            if not self.is_way_back(y, z):
                self.send_pub(pub, y)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i."""
        return {"table": self.table.listing(self.node, names)}


class Simple(BrokerAgent):
    """Simple Routing, for a system in which nothing moves, with any combination of roles on a node."""

    broker_type = Broker
    client_type = Client
