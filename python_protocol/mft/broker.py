"""A broker of MFT-PubSub: algorithms 4.1 to 4.4 of the thesis, without radio, link or tree.

Handlers bear the algorithms' names: z is a message's interface, b_j the neighbour behind it, s a subscriber. Where the
algorithms leave a choice:

- A BMIG compares its sender's hops; a tie goes to the sender. Subscribers without filters go in O.
- Control messages from a broker outside N_i are ignored.
- MIG follows the next hops to their end, even past b (4.1, line 20).

T(s) shows the newer claim, not whether it is complete or its way still exists: hence the corrections (`parameters`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roambus.python_protocol.agent import Listing, by_first_column, on
from roambus.python_protocol.brokers.broker import MAX_HOPS, Filters, Pub
from roambus.python_protocol.events import Received
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.mft.forwarding import Forwarding
from roambus.python_protocol.mft.messages import (
    Bmig,
    Bquery,
    Bsub,
    Known,
    MftParameters,
    Mig,
    Rep,
    Route,
    Sub,
    Timestamp,
    Uns,
    at_hops,
)
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Broker(Forwarding):
    """b_i: its interfaces, routing table and queues."""

    def __init__(self, node: NodeId, parameters: MftParameters) -> None:
        """Begin without neighbours."""
        super().__init__(node, parameters)
        self._uplink: NodeId | None = None
        self._lost: set[NodeId] = set()
        self._owed_filters: set[NodeId] = set()

    def _handle_message(self, message: Message, sender: NodeId, now: SimTime, event: Received | None = None) -> None:
        """Take a message from an interface or the own client; from others only notifications."""
        if isinstance(message, Bmig) and message.hops == 0:
            self.meet(sender)  # a message that begins at its sender shows that this broker is the sender's
        elif isinstance(message, Sub | Uns | Mig) and _is_from_client(sender, message):
            self.meet_client(sender)
        if isinstance(message, Pub | Rep) or self.reaches(sender):
            super()._handle_message(message, sender, now, event)

    # Algorithm 4.1

    @on(Sub)  # lines 1 to 6
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Enter the filter of a newer SUB, and flood it."""
        if not self._is_next(z, sub):
            return
        misled = self._misled(z, sub)
        self._locate(z, sub).filters[sub.filter] = None
        self._flood_command(sub, z, misled)
        if self._parameters.replay_always:
            self._send_queued(sub.subscriber, z)

    @on(Uns)  # lines 7 to 12
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove the filter of a newer UNS, and flood it."""
        if not self._is_next(z, uns):
            return
        misled = self._misled(z, uns)
        self._locate(z, uns).filters.pop(uns.filter, None)
        self._flood_command(uns, z, misled)

    @on(Mig)  # lines 13 to 26
    def migrate_subscriber(self, mig: Mig, z: NodeId, now: SimTime) -> None:
        """Turn to the new broker of a subscriber, and pass the MIG on along the old next hops."""
        if not self._is_next(z, mig):
            return
        old, misled = self.table.next_hop(mig.subscriber), self._misled(z, mig)
        if _is_from_client(z, mig):
            self._send_filters(mig.subscriber)
        self._locate(z, mig)
        if old in self.neighbours and old != z:
            self._pass_on_command(mig, old, misled)
        self._send_queued(mig.subscriber, z)

    def _is_next(self, z: NodeId, message: Sub | Uns | Mig) -> bool:
        """Whether a message is newer, lines 1, 7 and 13, and no message before it is missing.

        `correct_old` answers an outdated one with a BSUB; `ask_gaps` asks for everything after a gap.
        """
        own = self.table.timestamp(message.subscriber)
        is_newer = Timestamp(message.timestamp, message.hops) > own
        if is_newer and z in self.neighbours and message.timestamp > own.counter + 1 and self._parameters.ask_gaps:
            self.send(z, Bquery(message.subscriber, own))
            return False
        if message.timestamp < own.counter and z in self.neighbours and self._parameters.correct_old:
            self._send_subscriptions(message.subscriber, z)
        return is_newer

    def _misled(self, z: NodeId, message: Sub | Uns | Mig) -> NodeId | None:
        """Return, by `tell_turns`, the neighbour that was the way until z sent the same timestamp."""
        route = self.table.get(message.subscriber)
        is_same = route is not None and route.timestamp.counter == message.timestamp
        old = self.table.way(message.subscriber)
        return old if self._parameters.tell_turns and is_same and old in self.neighbours and old != z else None

    def _flood_command(self, message: Sub | Uns, z: NodeId, misled: NodeId | None) -> None:
        """Carry out lines 5, 6, 11 and 12."""
        for neighbour in self.neighbours:
            if neighbour != z:
                self._pass_on_command(message, neighbour, misled)

    def _pass_on_command(self, message: Sub | Uns | Mig, neighbour: NodeId, misled: NodeId | None) -> None:
        """Send a message on; a neighbour that would take it for old gets a BSUB instead."""
        if neighbour == misled:
            self._send_subscriptions(message.subscriber, neighbour)
        else:
            self.send(neighbour, one_hop_on(message))

    # Algorithm 4.2

    def migrate(self, parent: NodeId) -> None:
        """Migrate to `parent`, b_n of the algorithm.

        Carry out lines 2 to 12: C holds the subscribers on this side, O the others, whose stored notifications are
        replayed.
        """
        # What lies not below this broker: b_n, those without a way, and b_o once it is no neighbour any more.
        beyond = {parent, None} if self._uplink in self.neighbours else {parent, None, self._uplink}
        children = [_known(s, route) for s, route in self.table if _is_below(route, beyond)]
        others = [(s, route) for s, route in self.table if not _is_below(route, beyond)]
        self._uplink = parent
        self.meet(parent)
        self.send(parent, Bmig(0, tuple(children), tuple(_known(s, route) for s, route in others)))
        for subscriber, route in others:
            if route.filters:
                route.next_hop = parent
                self._send_queued(subscriber, parent)

    # Algorithm 4.3

    @on(Bmig)  # lines 1 to 35
    def migrate_broker(self, bmig: Bmig, b_j: NodeId, now: SimTime) -> None:
        """Take a migrated broker as the way to its children C, where it is right."""
        believed: list[Known] = []
        old_hops: dict[NodeId, None] = {}
        for child in bmig.children:
            self._check_child(b_j, child)
            if self._believes(child):
                believed.append(child._replace(timestamp=self.table.timestamp(child.subscriber).counter))
                old_hops |= self._redirect(b_j, child, bmig.hops)
        self._check_others(b_j, bmig)
        if bmig.hops < self._parameters.max_hops:
            for old in old_hops:
                self.send(old, Bmig(bmig.hops + 1, tuple(believed), ()))
        for child in believed:
            self._send_queued(child.subscriber, b_j)

    def _check_child(self, b_j: NodeId, child: Known) -> None:
        """Carry out lines 4 to 10 and 16 to 18: ask b_j for newer subscriptions, or send it newer ones."""
        if child.timestamp != self.table.timestamp(child.subscriber).counter:
            self._compare(b_j, child)
        elif not self._believes(child):
            self._send_subscriptions(child.subscriber, b_j)

    def _believes(self, child: Known) -> bool:
        """Whether b_j is the way to a child of its BMIG: lines 4, 11 and 12.

        By `home_decides` only the subscriber's own broker denies it.
        """
        own = self.table.timestamp(child.subscriber)
        if child.timestamp != own.counter:
            return child.timestamp > own.counter
        return not own.is_home if self._parameters.home_decides else child.hops <= own.hops

    def _redirect(self, b_j: NodeId, child: Known, hops: int) -> dict[NodeId, None]:
        """Carry out lines 15 and 29 to 31: b_j is the next hop; return the old one if the BMIG must go there."""
        route = self.table.get(child.subscriber)
        if route is None:
            return {}
        old = self.table.next_hop(child.subscriber)
        if child.timestamp == route.timestamp.counter:
            route.timestamp = at_hops(child.timestamp, hops + child.hops + 1)
        route.next_hop = b_j
        return {old: None} if old in self.neighbours and old != b_j else {}

    def _check_others(self, b_j: NodeId, bmig: Bmig) -> None:
        """Carry out lines 19 to 26, for O and, at the first broker, for subscribers absent from the message."""
        for other in bmig.others:
            if other.hops < MAX_HOPS:
                self._forget_way(other.subscriber, b_j)
            self._compare(b_j, other)
        if bmig.hops == 0:
            mentioned = {known.subscriber for known in bmig.children + bmig.others}
            for subscriber in [s for s, route in self.table if route.filters and s not in mentioned]:
                self._send_subscriptions(subscriber, b_j)

    def _compare(self, b_j: NodeId, known: Known) -> None:
        """Carry out lines 20 to 23: ask for newer subscriptions, or send newer ones."""
        own = self.table.timestamp(known.subscriber)
        if known.timestamp > own.counter:
            self.send(b_j, Bquery(known.subscriber, own))
        elif known.timestamp < own.counter:
            self._send_subscriptions(known.subscriber, b_j)

    # Algorithm 4.4

    @on(Bsub)  # lines 1 to 9
    def take_subscriptions(self, bsub: Bsub, z: NodeId, now: SimTime) -> None:
        """Replace the subscriptions of a subscriber by newer ones."""
        subscriber, known = bsub.subscriber, bsub.known
        if self._contradicts(bsub):
            self._send_subscriptions(subscriber, z)
        elif known > self.table.timestamp(subscriber):
            route = self.table.update(subscriber, z, at_hops(known.counter, known.hops + bsub.hops + 1))
            route.filters = dict.fromkeys(bsub.filters)
            self._flood_news(bsub, z)
            self._send_queued(subscriber, z)
        else:
            self._turn(z, bsub)

    def _flood_news(self, bsub: Bsub, z: NodeId) -> None:
        """Carry out line 7."""
        if bsub.hops < self._parameters.max_hops:
            self.flood(one_hop_on(bsub), z)

    def _contradicts(self, bsub: Bsub) -> bool:
        """Whether the sender is wrong, by `correct_old` or, at the own broker, `home_decides`."""
        own = self.table.timestamp(bsub.subscriber)
        if bsub.known.counter == own.counter:
            return own.is_home and self._parameters.home_decides
        return bsub.known.counter < own.counter and self._parameters.correct_old

    def _turn(self, z: NodeId, bsub: Bsub) -> None:
        """By `home_decides`, believe a claim of the same timestamp, and pass it on along the old way only.

        Hops can be those of a lost way. If the old way leads to the subscriber's broker, its BSUB corrects everybody.
        """
        subscriber = bsub.subscriber
        route, old = self.table.get(subscriber), self.table.next_hop(subscriber)
        is_same = bsub.known.counter == self.table.timestamp(subscriber).counter
        if route is None or not route.filters or old == z or not (is_same and self._parameters.home_decides):
            return
        route.next_hop = z
        if old in self.neighbours:
            self.send(old, one_hop_on(bsub))
        self._send_queued(subscriber, z)

    @on(Bquery)  # lines 10 and 11
    def answer_query(self, bquery: Bquery, z: NodeId, now: SimTime) -> None:
        """Send the subscriptions of a subscriber if they are newer than the sender's."""
        if bquery.known < self.table.timestamp(bquery.subscriber):
            self._send_subscriptions(bquery.subscriber, z)

    def _send_subscriptions(self, subscriber: NodeId, z: NodeId) -> None:
        """Carry out sendSubscriptions(s, z), lines 12 to 16."""
        route = self.table.get(subscriber)
        if route is not None:
            self._forget_way(subscriber, z)
            self.send(z, Bsub(subscriber, route.timestamp, 0, tuple(route.filters)))

    # What the tree and the link report

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Meet a broker that has made this one its parent, or is back."""
        was_lost = neighbour in self._lost and neighbour not in self.neighbours
        self.meet(neighbour)
        if was_lost and self._parameters.greet_back:
            self._greet(neighbour)

    def client_appeared(self, client: NodeId) -> None:
        """Attach a client, and send it owed FILTERS and stored notifications."""
        self.clients.add(client)
        if client in self._owed_filters:
            self._send_filters(client)
        self._send_queued(client, self._way(client))

    def gone(self, interface: NodeId, *, moved: bool) -> None:
        """Forget an unreachable interface; one that has `moved` reports through its new parent."""
        if interface in self.neighbours and not moved:
            self._lost.add(interface)
        super().gone(interface, moved=moved)

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Send unacknowledged notifications another way, or store them."""
        self.gone(interface, moved=False)
        lost = list(messages)
        if any(isinstance(message, Filters) for message in lost):
            self._owed_filters.add(interface)
        self._store_undelivered(interface, lost)

    def meet(self, neighbour: NodeId) -> None:
        """Enter a broker in N_i."""
        self._lost.discard(neighbour)
        super().meet(neighbour)

    # Senders

    def _greet(self, neighbour: NodeId) -> None:
        """By `greet_back`, send a lost neighbour a BMIG; infinite hops in O leave its ways alone."""
        beyond = {neighbour, None}
        children = (_known(s, route) for s, route in self.table if _is_below(route, beyond))
        others = (_known(s, route)._replace(hops=MAX_HOPS) for s, route in self.table if not _is_below(route, beyond))
        self.send(neighbour, Bmig(0, tuple(children), tuple(others)))

    def _send_filters(self, client: NodeId) -> None:
        """Carry out algorithm 4.1, lines 16 to 19."""
        self._owed_filters.discard(client)
        self.send(client, Filters(self.table.filters(client)))

    # Helpers

    def _forget_way(self, subscriber: NodeId, interface: NodeId) -> None:
        """By `forget_ways`, drop a way that would point back: two brokers would point at each other."""
        route = self.table.get(subscriber)
        if self._parameters.forget_ways and route is not None and route.next_hop == interface:
            route.next_hop = None

    def _locate(self, z: NodeId, message: Sub | Uns | Mig) -> Route:
        """Set T_i(s) to (t, h + 1), and replace (-, -, s) with (-, z, s)."""
        return self.table.update(message.subscriber, z, at_hops(message.timestamp, message.hops + 1))

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """R_i with T_i, and Q_i."""
        rows: list[tuple[str, ...]] = []
        for subscriber, route in self.table:
            place = (names.interface(route.next_hop, self.node), names.subscriber(subscriber), str(route.timestamp))
            rows += [(name, *place) for name in map(names.filter, route.filters)] or [(NOBODY, *place)]
        head = ("Filter", "Interface", "Subscriber", "T")
        return {"table": by_first_column(head, rows), "stored": self.storage.listing(names)}


def one_hop_on(message: Sub | Uns | Mig | Bsub) -> Message:
    """Return the next broker's message."""
    return message.replaced(hops=min(message.hops + 1, MAX_HOPS))


def _known(subscriber: NodeId, route: Route) -> Known:
    return Known(subscriber, route.timestamp.counter, route.timestamp.hops)


def _is_below(route: Route, beyond: set[NodeId | None]) -> bool:
    """Whether a subscriber with entries lies on this side: its next hop is not `beyond`."""
    return bool(route.filters) and route.next_hop not in beyond


def _is_from_client(sender: NodeId, message: Sub | Uns | Mig) -> bool:
    """Whether z = s: the subscriber sent it, not its node's broker."""
    return sender == message.subscriber and message.hops == 0
