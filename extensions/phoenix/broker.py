"""A broker of Phoenix as published (algorithms 2.2 and 2.3), and the messages (tables 2.1 and 2.4).

clock() counts stamped notifications: timestamps compare within one broker only. The old next hop is read before it is
replaced (2.3, lines 5 to 8). y != z (2.2, line 18) concerns brokers; a client gets its own notifications. Notifications
are lost, doubled and overtaken; see `numbered`. `hops` counts radio hops, including the message's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from roambus.python_protocol.actions import Note
from roambus.python_protocol.agent import Listing, on
from roambus.python_protocol.brokers.broker import Broker as FamilyBroker
from roambus.python_protocol.brokers.broker import Hops, StorageParameters
from roambus.python_protocol.brokers.routing import RoutingTable, Sub, Uns
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U16, U32, LongTuple, Names, listed
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BrokerId, NodeId, SubscriberId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, REPLAY, STORE

Stay = U16
"""The number of a migration and its stay; 0 without numbers."""


class Stamp(NamedTuple):
    """ts of one broker or, numbered, of one subscriber."""

    stay: Stay
    tick: U32
    """The broker's count of stamps, from 1."""

    def __str__(self) -> str:
        return f"{self.stay}.{self.tick}" if self.stay else str(self.tick)

    def describe(self, _: Names) -> str:
        """In transcripts: "3", or with the stay "5.7"."""
        return str(self)


NEVER = Stamp(0, 0)
"""Before any other: unstamped, or the first ts_last."""


class Pub(Message, tag=3, notation="{notification} ts={stamp} hops={hops} S={subscribers}?"):
    """(PUB, e, ts) for `subscribers`, as published none."""

    stamp: Stamp
    hops: Hops
    subscribers: LongTuple[SubscriberId]
    notification: Notification


class Mig(Message, tag=4, notation="{subscriber} b={broker} ts_last={last} stay={stay}?"):
    """(MIG, s, b, ts_last): s left b, with everything up to ts_last."""

    subscriber: SubscriberId
    broker: BrokerId
    last: Stamp
    stay: Stay = 0


class Rep(Message, tag=5, notation="{notification} {subscriber} ts={stamp} hops={hops}"):
    """(REP, e, s, ts): e is replayed towards s."""

    subscriber: SubscriberId
    stamp: Stamp
    hops: Hops
    notification: Notification


class Turn(Message, tag=12, notation="{subscriber} ts={stamp} n={following} {over}"):
    """(TURN, s, ts, n): stay n follows ts; not in the thesis (see `numbered`)."""

    subscriber: SubscriberId
    stamp: Stamp
    following: Stay
    over: bool
    """Whether ts is the last of its stay."""


Queued = Rep | Turn
"""(e, ts) as the REP to send, with the hops so far."""


Number = U32
"""The count of a subscriber's commands."""


class NumberedSub(Sub, tag=13, name="SUB", notation="{filter} {subscriber} n={number}"):
    """(SUB, f, s) with a number (see `numbered`)."""

    number: Number


class NumberedUns(Uns, tag=14, name="UNS", notation="{filter} {subscriber} n={number}"):
    """(UNS, f, s) with a number (see `numbered`)."""

    number: Number


class PhoenixParameters(StorageParameters):
    """Parameters of Phoenix; the thesis gives no values."""

    number_migrations: bool = parameter(
        True,
        source="the thesis, algorithm 2.3, which loses, duplicates and reorders without numbers (see `phoenix`)",
        doc="a subscriber numbers its migrations, and gets everything once and in order; false: as published",
    )
    number_commands: bool = parameter(
        True,
        source="the thesis, algorithm 2.2, whose SUB and UNS overtake each other when a subscriber moves",
        doc="with numbered migrations a subscriber also numbers its SUBs and UNSs, in 2 bytes each; false: it does not",
    )
    hold_limit: int = parameter(
        256,
        source="reasoned: the notifications of four minutes from the thesis' publishers",
        at_least=1,
        doc="notifications that a subscriber holds back for earlier ones; with more it stops waiting",
    )
    remembered: int = parameter(
        1024,
        source="reasoned: more than are published while a migration is under way",
        at_least=1,
        doc="notifications that a subscriber remembers to have received",
    )


class Broker(FamilyBroker):
    """b_i: interfaces, routing table, local subscribers and queues."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.local: dict[NodeId, None] = {}
        """C_i, in order of arrival."""
        self.queues = Queues(parameters.storage_limit)
        self._clock = 0

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Drop an abandoned link's messages; local subscribers have queues."""
        super().link_broken(interface, messages)
        for message in messages:
            if isinstance(message, Pub | Rep) and interface not in self.local:
                self._drop(message.notification, interface)

    # Algorithm 2.2

    @on(Sub)  # lines 1 to 7
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Add a subscription; a client here becomes local."""
        self.table.add(sub.filter, z, sub.subscriber)
        if self.is_client(z):
            self.meet_client(z)
            self.local[sub.subscriber] = None
        self.flood(sub, z)

    @on(Uns)  # lines 8 to 14
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove a subscription; without any a subscriber is not local."""
        self.table.remove(uns.filter, uns.subscriber)
        if self.is_client(z) and not self.table.interfaces(uns.subscriber):
            self.local.pop(uns.subscriber, None)
        self.flood(uns, z)

    @on(Pub)  # lines 15 to 24
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Forward a notification to matches and queue it for local subscribers."""
        # Line 16 counts the clock once for each PUB, whatever the number of interfaces: all of them get the same ts.
        matching = self._matching(pub)
        self.note_route(pub.notification, (s for found in matching.values() for s in found))
        self._clock += 1
        for y, subscribers in matching.items():
            if not self.is_way_back(y, z):
                self._forward(pub, y, subscribers)

    def _forward(self, pub: Pub, y: NodeId, subscribers: list[NodeId]) -> None:
        """Send to one interface y (lines 19 to 24)."""
        stamp = self._stamp(y)
        # Queued whether it is sent or not: nobody knows what a subscriber has received until it migrates, and says so.
        if y in self.local:
            self._enqueue(Rep(y, stamp, pub.hops, pub.notification))
        named = self._addressees(y, subscribers)
        self._send(y, Pub(stamp, self.radio_hops(pub.hops, y), named, pub.notification))

    # Algorithm 2.3

    @on(Mig)  # lines 1 to 16
    def migrate_subscriber(self, mig: Mig, z: NodeId, now: SimTime) -> None:
        """Pass the MIG along the old next hops."""
        subscriber = mig.subscriber
        if subscriber in self.local:
            self._let_go(z, mig)
            return
        if z == subscriber and self.is_client(z):
            self.meet_client(z)
            self.local[subscriber] = None
        old = next((b for b in self.table.interfaces(subscriber) if b in self.neighbours), None)
        self.table.replace(subscriber, z)
        if old is not None:
            self.send(old, mig)

    def _let_go(self, z: NodeId, mig: Mig) -> None:
        """Replay and forget a moved subscriber (lines 10 to 16)."""
        subscriber = mig.subscriber
        del self.local[subscriber]
        self.table.replace(subscriber, z)
        # Line 16 replays without ts; the broker where the subscriber is local stamps it by its own clock (line 22).
        for queued in self.queues.take(subscriber):
            if queued.stamp > mig.last:
                self._replay(replace(queued, stamp=NEVER), z)

    @on(Rep)  # lines 17 to 24
    def replay(self, rep: Rep, z: NodeId, now: SimTime) -> None:
        """Pass a replayed notification on; the subscriber's broker stamps it."""
        subscriber = rep.subscriber
        if subscriber in self.local:
            self._clock += 1
            stamped = replace(rep, stamp=self._stamp(subscriber))
            self._enqueue(stamped)
            self._pass_on(stamped, subscriber)
            return
        ways = [b for b in self.table.interfaces(subscriber) if not self.is_client(b)]
        if ways:
            self._pass_on(rep, ways[0])
        else:
            self._drop(rep.notification, subscriber)

    # Senders

    def _send(self, interface: NodeId, message: Pub | Queued) -> None:
        """Send to an interface in reach.

        Queues hold local subscribers' messages; others are lost and traced: the tree has no other way.
        """
        if self.reaches(interface):
            self.send(interface, message)
        elif interface not in self.local and not isinstance(message, Turn):
            self._drop(message.notification, interface)

    def _pass_on(self, message: Queued, interface: NodeId) -> None:
        if isinstance(message, Rep):
            message = replace(message, hops=self.radio_hops(message.hops, interface))
        self._send(interface, message)

    def _replay(self, queued: Queued, interface: NodeId) -> None:
        """Send a queued notification (line 16) with 0 hops."""
        if isinstance(queued, Turn):
            self._send(interface, queued)
            return
        self.note(REPLAY, notification_id=str(queued.notification.id), peer=queued.subscriber)
        self._pass_on(replace(queued, hops=0), interface)

    # Helpers

    def _matching(self, pub: Pub) -> dict[NodeId, list[NodeId]]:
        """Return the interfaces of algorithm 2.2, lines 18 to 20, with their subscribers."""
        return self.table.matching(pub.notification)

    def _addressees(self, interface: NodeId, subscribers: list[NodeId]) -> tuple[NodeId, ...]:
        """Return a PUB's subscribers; as published none."""
        return ()

    def _stamp(self, interface: NodeId) -> Stamp:
        """Return the next ts of an interface."""
        return Stamp(0, self._clock)

    def _enqueue(self, queued: Queued) -> None:
        """Store in Q_i(s); trace a subscriber out of reach."""
        self.perform(self.queues.put(queued))
        if isinstance(queued, Rep) and not self.reaches(queued.subscriber):
            self.note(STORE, notification_id=str(queued.notification.id), peer=queued.subscriber)

    def _drop(self, notification: Notification, interface: NodeId) -> None:
        self.note(DROP, notification_id=str(notification.id), peer=interface, detail="no link")

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i, and the stamped queues Q_i."""
        return {"table": self.table.listing(self.node, names), "stored": self.queues.listing(names)}


class Queues:
    """One broker's queues, bounded together; the oldest entries go first.

    The thesis bounds none (algorithm 2.3, lines 10 to 16). Old entries have mostly been delivered.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: deque[Queued] = deque()

    def put(self, queued: Queued) -> list[Note]:
        """Enqueue in Q_i(s); return the drops that make room."""
        self._entries.append(queued)
        oldest = self._entries.popleft() if len(self._entries) > self._limit else None
        if oldest is None or isinstance(oldest, Turn):
            return []
        return [Note(DROP, notification_id=str(oldest.notification.id), peer=oldest.subscriber, detail="storage full")]

    def take(self, subscriber: NodeId) -> list[Queued]:
        """Dequeues all of Q_i(s)."""
        taken = [entry for entry in self._entries if entry.subscriber == subscriber]
        self._entries = deque(entry for entry in self._entries if entry.subscriber != subscriber)
        return taken

    def listing(self, names: Names) -> Listing:
        """The queues, each notification with its timestamp."""
        queues: dict[NodeId, list[str]] = {}
        for entry in self._entries:
            queues.setdefault(entry.subscriber, []).append(_describe(entry, names))
        rows = ((names.subscriber(subscriber), listed(queue)) for subscriber, queue in queues.items())
        return Listing(("Subscriber", "Notifications"), tuple(rows))


def _describe(queued: Queued, names: Names) -> str:
    what = f"TURN {queued.following}" if isinstance(queued, Turn) else names.notification(queued.notification)
    return f"({what},{queued.stamp})"
