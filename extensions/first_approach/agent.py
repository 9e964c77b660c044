"""The first approach: clients and brokers move (the thesis, chapter 3).

A subscriber's MIG turns the old next hops (algorithm 3.2). A migrating broker sends its local subscribers C_i in a
BMIG, takes the parent's BTAB, and makes neighbours migrate by FMIG (3.3). In handlers, z is the interface of arrival
and y one of departure. Each correction has a parameter. The *phantom* of section 3.5 remains: a subscription that ended
in one partition returns from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from roambus.python_protocol.agent import Listing, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import Broker as FamilyBroker
from roambus.python_protocol.brokers.broker import Filters, Hops, Pub, Storage, StorageParameters
from roambus.python_protocol.brokers.client import Client as FamilyClient
from roambus.python_protocol.brokers.routing import RoutingTable, Sub, Uns
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import LongTuple, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, BrokerId, NodeId, SubscriberId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import REPLAY


class Mig(Message, tag=4, notation="{subscriber} b={broker}"):
    """(MIG, s, b): s has moved here from b (algorithm 3.2)."""

    subscriber: SubscriberId
    broker: BrokerId


class Rep(Message, tag=5, notation="{notification} {subscriber} hops={hops}"):
    """(REP, e, s): replays a stored notification to s (algorithm 3.2)."""

    subscriber: SubscriberId
    hops: Hops
    notification: Notification


class Bmig(Message, tag=7, notation="C={subscribers} b={broker}"):
    """(BMIG, C_j, b_j): b_j has migrated with C_j (algorithm 3.3)."""

    broker: BrokerId
    subscribers: tuple[SubscriberId, ...]


class Row(NamedTuple):
    """(f, z, s): an entry in a BTAB."""

    interface: NodeId
    subscriber: SubscriberId
    filter: Filter

    def describe(self, names: Names) -> str:
        """The three as transcripts write them: "(f1,b1,s1)"."""
        interface = names.node(self.interface)
        return f"({names.filter(self.filter)},{interface},{names.subscriber(self.subscriber)})"


class Btab(Message, tag=10, notation="R={rows}"):
    """(BTAB, R_j): the sender's routing table (algorithm 3.3)."""

    rows: LongTuple[Row]


class Fmig(Message, tag=11):
    """(FMIG): migrate to the sender (algorithm 3.3)."""


class Client(FamilyClient):
    """s_i and p_i of one node."""

    subscription_types = (Sub, Uns)

    @on(Filters)
    def correct_filters(self, message: Filters, broker: NodeId, now: SimTime) -> None:
        """Correct the filters in an answer to a MIG (3.2, line 5)."""
        self._correct(message)

    @on(Pub, Rep)
    def receive(self, message: Pub | Rep, broker: NodeId, now: SimTime) -> None:
        """Take a notification, published or replayed."""
        self._deliver(message.notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._is_subscriber and last is not None:
            self.send(broker, Mig(self.node, last))
        else:
            self._subscribe_all()


class FirstApproachParameters(StorageParameters):
    """Parameters of the first approach; the thesis gives no values."""

    pass_back: bool = parameter(
        False,
        source="the thesis, algorithm 3.2, lines 10 and 27",
        doc="a MIG or REP may return to its sender, as in the algorithm: two brokers that point at each other then "
        "exchange it for ever",
    )
    sub_redirects: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.1, lines 2 and 3",
        doc="a SUB for a known filter also shows the way to its subscriber, and triggers the replay",
    )
    connected_only: bool = parameter(
        True,
        source="the paper on the first approach, section 3.3; corrects the thesis, algorithm 3.3, line 27",
        doc="C_i holds the connected subscribers; false: all subscribers that are local in the routing table",
    )
    follow_table: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.2, line 7",
        doc="a MIG follows the table, also at the subscriber's last broker",
    )
    keep_connected: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.3, lines 2 to 6",
        doc="a broker keeps a connected subscriber when an outdated BMIG arrives, and answers with its own BMIG",
    )
    answer_late: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.1, lines 1 to 5, and algorithm 3.2, lines 1 to 13",
        doc="a broker answers with a BMIG when a neighbour passes on a SUB or MIG of a connected subscriber that is "
        "older than the subscriber's place",
    )
    filters_again: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.2, line 5, and algorithm 3.3, lines 13 to 25",
        doc="a connected subscriber gets FILTERS again when a neighbour reports another subscription of it",
    )
    tell_late: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.3, lines 13 to 25",
        doc="a broker sends another BMIG if its local subscribers have changed between its BMIG and the BTAB",
    )
    break_circles: bool = parameter(
        True,
        source="corrects the thesis, algorithm 3.3, lines 13 to 17",
        doc="a row of a BTAB whose next hop is its receiver gives no way; false: the way leads to the sender",
    )


NOWHERE = BROADCAST
"""An unreachable subscriber's interface; no node's number."""


class Broker(FamilyBroker):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: FirstApproachParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self.table = RoutingTable()
        self.storage = Storage(parameters.storage_limit)
        self._parameters = parameters
        self._announced: dict[NodeId, tuple[NodeId, ...]] = {}
        """The C_i of the last BMIG to each neighbour."""

    # Algorithm 3.1

    @on(Sub)  # lines 1 to 5
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Enter a subscription, and pass it on."""
        self.meet_client(z)
        known = self.table.filters(sub.subscriber)
        self.table.add(sub.filter, z, sub.subscriber)
        self.flood(sub, z)
        if z != sub.subscriber and sub.filter not in known:
            self._ask_about_filters(sub.subscriber)
        if self._parameters.sub_redirects:
            self._redirect(sub.subscriber, z)

    def _redirect(self, subscriber: NodeId, z: NodeId) -> None:
        """Turn an unconnected subscriber to z (`sub_redirects`)."""
        if z not in self.neighbours or not self._is_connected(subscriber):
            self.table.replace(subscriber, z)
        elif self._parameters.answer_late:
            self._send_bmig(z)
        self._send_queued(subscriber, z)

    @on(Uns)  # lines 6 to 10
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove the entry, whatever its interface; pass it on."""
        self.table.remove(uns.filter, uns.subscriber)
        self.flood(uns, z)

    @on(Pub)  # lines 11 to 21
    def publish(self, pub: Pub, z: NodeId, now: SimTime) -> None:
        """Send a notification once to each match, or store it."""
        matching = self.table.matching(pub.notification)
        self.note_route(pub.notification, (s for subscribers in matching.values() for s in subscribers))
        for y, subscribers in matching.items():
            if self.is_way_back(y, z):
                continue
            if self.reaches(y):
                self.send(y, replace(pub, hops=self.radio_hops(pub.hops, y)))
            else:
                self._enqueue(pub.notification, subscribers)

    # Algorithm 3.2

    @on(Mig)  # lines 1 to 13
    def migrate_subscriber(self, mig: Mig, z: NodeId, now: SimTime) -> None:
        """Pass a subscriber's MIG along the old next hops."""
        s = mig.subscriber
        if self._parameters.answer_late and z in self.neighbours and self._is_connected(s):
            self._send_bmig(z)
            return
        if z == s and self.is_client(z):
            self.meet_client(z)
            self.send(s, Filters(self.table.filters(s)))
        if mig.broker != self.node or self._parameters.follow_table:
            self._pass_on(mig, z)
        self.table.replace(s, z)
        self._send_queued(s, z)

    def _pass_on(self, mig: Mig, z: NodeId) -> None:
        """Send the MIG to the old next hop (lines 8 to 10)."""
        ways = [y for y in self.table.interfaces(mig.subscriber) if y in self.neighbours]
        if ways and (ways[0] != z or self._parameters.pass_back):
            self.send(ways[0], mig)

    def _send_queued(self, subscriber: NodeId, y: NodeId) -> None:
        """Send the queue (lines 14 to 21, sendQueuedMessages(s, y))."""
        if self.reaches(y):
            self._replay(subscriber, y)

    @on(Rep)  # lines 22 to 27
    def replay(self, rep: Rep, z: NodeId, now: SimTime) -> None:
        """Pass a replayed notification on, or store it."""
        self._pass_on_rep(rep, z)

    def _pass_on_rep(self, rep: Rep, z: NodeId) -> None:
        """Send or queue the REP (lines 22 to 27)."""
        # More than one next hop is there only while messages about the subscriber are under way; one REP is enough.
        for y in self.table.interfaces(rep.subscriber):
            if self.reaches(y) and (self._parameters.pass_back or not self.is_way_back(y, z)):
                self.send(y, replace(rep, hops=self.radio_hops(rep.hops, y)))
                return
        self._enqueue(rep.notification, [rep.subscriber])

    # Algorithm 3.3

    @on(Bmig)  # lines 1 to 12
    def migrate_broker(self, bmig: Bmig, z: NodeId, now: SimTime) -> None:
        """Turn a BMIG's subscribers to z and inform the old next hops."""
        is_from_b_j = z == bmig.broker
        if is_from_b_j:
            self.meet(z)
        moved = self._not_kept(bmig)
        for y in self._turn(moved, z):
            self.send(y, bmig)
        if is_from_b_j:
            self.send(z, Btab(tuple(Row(y, s, f) for f, y, s in self.table)))
        for s in moved:
            self._send_queued(s, z)
        if len(moved) < len(bmig.subscribers):
            self._send_bmig(z)

    def _not_kept(self, bmig: Bmig) -> tuple[NodeId, ...]:
        """Return a BMIG's subscribers that are not connected here (`keep_connected`)."""
        if not self._parameters.keep_connected:
            return bmig.subscribers
        return tuple(s for s in bmig.subscribers if bmig.broker != self.node and not self._is_connected(s))

    def _turn(self, subscribers: Iterable[NodeId], z: NodeId) -> Iterable[NodeId]:
        """Make z the next hop (lines 2 to 6); return the distinct old ones."""
        old: dict[NodeId, None] = {}
        for s in subscribers:
            old |= {y: None for y in self.table.interfaces(s) if y in self.neighbours and y != z}
            self.table.replace(s, z)
        return old

    @on(Btab)  # lines 13 to 25
    def take_table(self, btab: Btab, b_j: NodeId, now: SimTime) -> None:
        """Replace all but local entries by the new parent's table."""
        # Lines 13 to 17: of its own subscribers a broker knows better, everybody else is where the new parent is.
        local = self.local_subscribers()
        theirs = [row for row in btab.rows if row.subscriber not in local]
        self.table.forget_all_but(local)
        for row in theirs:
            is_circle = self._parameters.break_circles and row.interface == self.node
            self.table.add(row.filter, NOWHERE if is_circle else b_j, row.subscriber)
        self._reconcile(btab, b_j)
        # The corrections go before FMIG, and what is stored goes last: it is to find ways that are right.
        subscribers = dict.fromkeys(row.subscriber for row in theirs)
        for s in subscribers:
            self._ask_about_filters(s)
        if self._parameters.tell_late and self._announced.get(b_j) != local:
            self._send_bmig(b_j)
        self.flood(Fmig(), b_j)
        for s in subscribers:
            if b_j in self.table.interfaces(s):
                self._send_queued(s, b_j)

    def _reconcile(self, btab: Btab, b_j: NodeId) -> None:
        """Send SUB for R_i - R_j and UNS for R_j - R_i (lines 18 to 21)."""
        here = dict.fromkeys((s, f) for f, _, s in self.table)
        there = dict.fromkeys((row.subscriber, row.filter) for row in btab.rows)
        for kind, of, without in ((Sub, here, there), (Uns, there, here)):
            for s, f in of:
                if (s, f) not in without:
                    self.send(b_j, kind(s, f))

    @on(Fmig)  # lines 26 and 27
    def force_migration(self, fmig: Fmig, z: NodeId, now: SimTime) -> None:
        """Migrate to a neighbour that has migrated."""
        self._send_bmig(z)

    # What the tree and the link report

    def migrate(self, parent: NodeId) -> None:
        """Send the new parent a BMIG (section 3.3)."""
        super().migrate(parent)
        self._send_bmig(parent)

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Send a returning broker its subscribers' stored notifications."""
        super().neighbour_appeared(neighbour)
        self.idle(neighbour)

    def client_appeared(self, client: NodeId) -> None:
        """Send a returning client its stored notifications."""
        super().client_appeared(client)
        self.idle(client)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Store an abandoned link's unacknowledged notifications (section 3.3)."""
        self.gone(interface, moved=False)
        for message in messages:
            if isinstance(message, Pub):
                self._enqueue(message.notification, self.table.matching(message.notification).get(interface, ()))
            elif isinstance(message, Rep):
                self._pass_on_rep(message, self.node)

    def idle(self, interface: NodeId) -> None:
        """Continue the replay on an idle link."""
        for s in self.storage.subscribers():
            if interface in self.table.interfaces(s):
                self._replay(s, interface)

    # Senders

    def _ask_about_filters(self, subscriber: NodeId) -> None:
        """Have a connected subscriber correct a neighbour's view (`filters_again`)."""
        if self._parameters.filters_again and self.is_client(subscriber) and self.reaches(subscriber):
            self.send(subscriber, Filters(self.table.filters(subscriber)))

    def _send_bmig(self, neighbour: NodeId) -> None:
        self._announced[neighbour] = self.local_subscribers()
        self.send(neighbour, Bmig(self.node, self._announced[neighbour]))

    def _replay(self, subscriber: NodeId, y: NodeId) -> None:
        """Replay a queue (3.2, lines 15, 16 and 21); `idle` continues it."""
        for notification in self.storage.take(subscriber, 0 if self.is_paced else None):
            self.note(REPLAY, notification_id=str(notification.id), peer=subscriber)
            self.send(y, Rep(subscriber, self.radio_hops(0, y), notification))

    # Helpers

    def local_subscribers(self) -> tuple[NodeId, ...]:
        """C_i: the s of each (-, s, s) in R_i, with `connected_only` those in I_i."""
        is_in = self._is_connected if self._parameters.connected_only else self._is_local
        return tuple(s for s in self.table.subscribers() if is_in(s))

    def _is_local(self, subscriber: NodeId) -> bool:
        return self.is_client(subscriber) and subscriber in self.table.interfaces(subscriber)

    def _is_connected(self, subscriber: NodeId) -> bool:
        return self._is_local(subscriber) and self.reaches(subscriber)

    def _enqueue(self, notification: Notification, subscribers: Iterable[NodeId]) -> None:
        for s in subscribers:
            self.perform(self.storage.put(s, notification))

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The routing table R_i, and the queues Q_i."""
        return {"table": self.table.listing(self.node, names), "stored": self.storage.listing(names)}


class FirstApproach(BrokerAgent):
    """The first approach to mobile publish/subscribe, with any combination of roles on a node."""

    parameters: FirstApproachParameters
    broker_type = Broker
    client_type = Client
    migration_messages = (Sub, Uns, Mig, Bmig, Btab, Fmig, Filters)
