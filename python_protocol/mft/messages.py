"""The messages of MFT-PubSub (the thesis, tables 2.1, 2.4 and 4.1), timestamps T, R_i, and parameters.

`hops` of SUB, UNS, MIG, BMIG and BSUB is the algorithms' h: 0 at the start, one more with each broker; that of PUB and
REP counts radio hops, its own included. The table keeps one next hop, the filters and T for each subscriber, because
the algorithms replace next hops together. The thesis gives no values of parameters; the last ones correct the published
algorithms. Profile `as_published` has none of them, and each round's first sender as parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

from roambus.python_protocol.brokers.broker import MAX_HOPS, Hops, StorageParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U32, Integer, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BrokerId, NodeId, SubscriberId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SimTime

Counter = U32
"""t: a subscriber numbers its messages."""


Distance = Annotated[int, Integer("B", lambda hops, _: describe_hops(hops))]
"""h: the hops from a broker to a subscriber; its own broker counts 1."""


def describe_hops(hops: int) -> str:
    """The hops in transcripts; the greatest is infinite."""
    return "inf" if hops == MAX_HOPS else str(hops)


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A subscriber's message number and hops; a newer counter is greater, then fewer hops."""

    counter: Counter
    hops: Distance

    @property
    def is_home(self) -> bool:
        """Whether it is the subscriber's own broker's."""
        return self.hops == 1

    def __gt__(self, other: Timestamp) -> bool:
        return (self.counter, -self.hops) > (other.counter, -other.hops)

    def __lt__(self, other: Timestamp) -> bool:
        return other > self

    def __str__(self) -> str:
        return f"({self.counter},{describe_hops(self.hops)})"

    def describe(self, _: Names) -> str:
        """T as transcripts write it: "(4,2)"."""
        return str(self)


UNKNOWN = Timestamp(0, MAX_HOPS)
"""T of an unknown subscriber: every message about it is newer."""


def at_hops(counter: int, hops: int) -> Timestamp:
    """T at a distance that may exceed the greatest."""
    return Timestamp(counter, min(hops, MAX_HOPS))


# Messages


class _Subscription(Message, notation="{filter} {subscriber} t={timestamp} h={hops}"):
    """Base of SUB and UNS."""

    subscriber: SubscriberId
    timestamp: Counter
    hops: Hops
    filter: Filter


class Sub(_Subscription, tag=1):
    """(SUB, f, s, t, h): s subscribes to f."""


class Uns(_Subscription, tag=2):
    """(UNS, f, s, t, h): s unsubscribes from f."""


class Mig(Message, tag=4, notation="{subscriber} b={broker} t={timestamp} h={hops}"):
    """(MIG, s, b, t, h): s, whose last broker was b, has a new one."""

    subscriber: SubscriberId
    broker: BrokerId
    timestamp: Counter
    hops: Hops


class Rep(Message, tag=5, notation="{subscriber} {notifications} hops={hops}"):
    """(REP, e..., s): stored notifications go to s, several at once (the thesis, section 4.3)."""

    subscriber: SubscriberId
    hops: Hops
    notifications: tuple[Notification, ...]


class Known(NamedTuple):
    """(s, t, h): an entry of a BMIG."""

    subscriber: SubscriberId
    timestamp: Counter
    hops: Distance

    def describe(self, names: Names) -> str:
        """The three as transcripts write them: "(s3,1,inf)"."""
        return f"({names.subscriber(self.subscriber)},{self.timestamp},{describe_hops(self.hops)})"


class Bmig(Message, tag=7, notation="C={children} O={others} h={hops}"):
    """(BMIG, C, O, h): a broker has migrated with the subscribers C below it, and knows the others O."""

    hops: Hops
    children: tuple[Known, ...]
    others: tuple[Known, ...]


class Bquery(Message, tag=8, notation="{subscriber} T={known}"):
    """(BQUERY, s, t, h): the sender knows s up to T = (t, h), and asks for its subscriptions."""

    subscriber: SubscriberId
    known: Timestamp


class Bsub(Message, tag=9, notation="{subscriber} {filters} T={known} h={hops}"):
    """(BSUB, s, S, T(s), h): all subscriptions of s, with the first broker's T(s)."""

    subscriber: SubscriberId
    known: Timestamp
    hops: Hops
    filters: tuple[Filter, ...]


# R_i and T_i


@dataclass(slots=True)
class Route:
    """The entries and T of one subscriber; without filters only T."""

    next_hop: NodeId | None
    """None: no way is known."""
    timestamp: Timestamp
    filters: dict[Filter, None] = field(default_factory=dict)
    """The keys, in order of arrival."""

    def matches(self, notification: Notification) -> bool:
        """Whether any of the subscriber's filters does."""
        return any(wanted.matches(notification) for wanted in self.filters)


class RoutingTable:
    """R_i and T_i, by subscriber, the oldest first."""

    def __init__(self) -> None:
        self._routes: dict[NodeId, Route] = {}

    def __iter__(self) -> Iterator[tuple[NodeId, Route]]:
        return iter(self._routes.items())

    def ways(self, _: SimTime) -> dict[NodeId, tuple[NodeId, ...]]:
        """The next hop to each subscriber with entries, as explorations read it."""
        with_entries = ((subscriber, route.next_hop) for subscriber, route in self if route.filters)
        return {subscriber: () if hop is None else (hop,) for subscriber, hop in with_entries}

    def get(self, subscriber: NodeId) -> Route | None:
        """The route of a subscriber with present or former entries."""
        return self._routes.get(subscriber)

    def timestamp(self, subscriber: NodeId) -> Timestamp:
        """Return the timestamp of T_i(s); UNKNOWN for an unknown subscriber."""
        route = self._routes.get(subscriber)
        return UNKNOWN if route is None else route.timestamp

    def filters(self, subscriber: NodeId) -> tuple[Filter, ...]:
        """The f of all (f, -, s)."""
        route = self._routes.get(subscriber)
        return () if route is None else tuple(route.filters)

    def next_hop(self, subscriber: NodeId) -> NodeId | None:
        """Return the z of all (-, z, s); None without such an entry or a way."""
        route = self._routes.get(subscriber)
        return route.next_hop if route is not None and route.filters else None

    def way(self, subscriber: NodeId) -> NodeId | None:
        """The next hop, with or without filters."""
        route = self._routes.get(subscriber)
        return None if route is None else route.next_hop

    def update(self, subscriber: NodeId, next_hop: NodeId, timestamp: Timestamp) -> Route:
        """Set T_i(s), and replace (-, -, s) with (-, next_hop, s)."""
        route = self._routes.get(subscriber)
        if route is None:
            route = self._routes[subscriber] = Route(next_hop, timestamp)
        route.next_hop, route.timestamp = next_hop, timestamp
        return route

    def matching(self, notification: Notification) -> list[tuple[NodeId, NodeId | None]]:
        """Return (s, z) of the subscribers with a matching entry (f, z, s)."""
        return [(s, route.next_hop) for s, route in self._routes.items() if route.matches(notification)]


# Parameters


_AS_PUBLISHED: Mapping[str, Any] = {
    "sticky_parent": False,
    "home_decides": False,
    "correct_old": False,
    "forget_ways": False,
    "replay_always": False,
    "greet_back": False,
    "tell_turns": False,
    "ask_gaps": False,
}


class MftParameters(StorageParameters):
    """Parameters of MFT-PubSub."""

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"as_published": _AS_PUBLISHED, "thesis": {}}
    profile: str = parameter(
        "thesis",
        source="the thesis, chapter 4",
        choices=("as_published", "thesis"),
        doc="defaults of the others: as_published without corrections, thesis with them",
    )
    replay_bytes: int = parameter(
        96,
        unit="B",
        source="IEEE 802.15.4: a frame of 127 bytes, less the headers of MAC, network, link and REP",
        at_least=1,
        doc="notifications are grouped in one REP up to this size, one at least",
    )
    remembered: int = parameter(
        1024,
        source="reasoned: longer than a notification is under way, at a hundred a second",
        at_least=1,
        doc="notifications that a broker remembers to have handled",
    )
    max_hops: int = parameter(
        32,
        source="reasoned: the number of brokers in C32, the longest path there can be",
        at_least=1,
        at_most=255,
        doc="brokers that may pass a BMIG, BSUB or REP on; beyond this it counts as going in circles",
    )
    home_decides: bool = parameter(
        True,
        source="corrects the thesis,  algorithm 4.3, line 12",
        doc="at equal timestamps only the subscriber's own broker contradicts; false: any broker with fewer hops",
    )
    correct_old: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.1 and 4.4, line 1",
        doc="an outdated SUB, UNS, MIG or BSUB is answered with a BSUB; false: it is ignored",
    )
    forget_ways: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.2 and 4.4, line 12",
        doc="a broker that announces a way makes sure that two brokers do not point at each other",
    )
    replay_always: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 3.2, line 23, and 4.1, lines 1 to 6",
        doc="a SUB also triggers the replay, and replays follow a subscriber that has no filters at the moment",
    )
    greet_back: bool = parameter(
        True,
        source="for a loss of a link that only one end has noticed",
        doc="a lost neighbour that is back gets a BMIG, as after a migration",
    )
    tell_turns: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.1 and 4.4, line 1",
        doc="a former next hop gets a BSUB in place of a SUB, UNS or MIG that it would treat as outdated",
    )
    ask_gaps: bool = parameter(
        True,
        source="corrects the thesis,  algorithm 4.1, lines 1, 7 and 13",
        doc="a SUB, UNS or MIG whose number leaves a gap is not carried out: the broker asks the neighbour",
    )
