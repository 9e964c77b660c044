"""A broker of Phoenix with numbered migrations, which lose, double and overtake nothing.

- A MIG begins a numbered *stay* and passes only where it is newest; older ones get it as the answer.
- A PUB between brokers names its subscribers. `ts` is (stay, tick), the same at all brokers.
- TURN carries a stay's last ts behind its replay, and names the next stay.
- A subscriber is local until a MIG says otherwise; older commands are ignored (`Commands`).
- Without an entry a MIG follows the last command, or goes everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from roambus.extensions.phoenix.broker import (
    NEVER,
    Broker,
    Mig,
    NumberedSub,
    NumberedUns,
    PhoenixParameters,
    Pub,
    Queued,
    Rep,
    Stamp,
    Stay,
    Turn,
)
from roambus.python_protocol.agent import on
from roambus.python_protocol.brokers.routing import Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP


class _Migration(NamedTuple):
    """The newest MIG of a subscriber, and its interface."""

    mig: Mig
    way: NodeId


class NumberedBroker(Broker):
    """b_i, with each subscriber's newest migration."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """Start without neighbours."""
        super().__init__(node, parameters)
        self._migrations: dict[NodeId, _Migration] = {}
        self._stamps: dict[NodeId, Stamp] = {}
        self._commands = Commands()

    @on(Sub, NumberedSub)  # algorithm 2.2, lines 1 to 7
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """Add a subscription; one older than the MIG gets the MIG's way."""
        known = self._migrations.get(sub.subscriber)
        is_newest = self._commands.take(sub, z)
        if known is None or z in (known.way, sub.subscriber):
            if is_newest:
                super().subscribe(sub, z, now)
            return
        if is_newest:
            self.table.add(sub.filter, known.way, sub.subscriber)
            self.flood(sub, z)
        self.send(z, known.mig)

    @on(Uns, NumberedUns)  # algorithm 2.2, lines 8 to 10, 13 and 14
    def unsubscribe(self, uns: Uns, z: NodeId, now: SimTime) -> None:
        """Remove a subscription; the subscriber stays local."""
        if self._commands.take(uns, z):
            self.table.remove(uns.filter, uns.subscriber)
            self.flood(uns, z)

    @on(Mig)  # algorithm 2.3, lines 1 to 16
    def migrate_subscriber(self, mig: Mig, z: NodeId, now: SimTime) -> None:
        """Pass the MIG on if it is the newest."""
        subscriber = mig.subscriber
        self._commands.migrated(mig, z)
        known = self._migrations.get(subscriber)
        if known is not None and mig.stay <= known.mig.stay:
            self._correct(z, mig, known)
            return
        ways = [b for b in self._ways(subscriber) if b in self.neighbours and b != z]
        self._migrations[subscriber] = _Migration(mig, z)
        self.table.replace(subscriber, z)
        if subscriber in self.local:
            self._let_go(z, mig)
        if self.is_client(z):
            self._begin_stay(mig)
        for b in ways:
            self.send(b, mig)

    def _ways(self, subscriber: NodeId) -> Iterable[NodeId]:
        """Return the interfaces to an old place, all before the first SUB."""
        if ways := self.table.interfaces(subscriber):
            return ways
        known = self._migrations.get(subscriber)
        last = self._commands.way(subscriber) if known is None else known.way
        return tuple(self.neighbours) if last is None else (last,)

    def _correct(self, z: NodeId, mig: Mig, known: _Migration) -> None:
        """Answer an older MIG with the newest; place its stay."""
        if mig.stay != known.mig.stay and z != known.way:
            self.send(z, known.mig)
            self._take_turn(Turn(mig.subscriber, NEVER, mig.stay, over=False))

    def _let_go(self, z: NodeId, mig: Mig) -> None:
        """Replay and forget (2.3, lines 10 to 16); the MIG's interface can be the subscriber."""
        subscriber = mig.subscriber
        self.queues.put(Turn(subscriber, self._stamp(subscriber), mig.stay, over=True))
        del self.local[subscriber]
        missed = [queued for queued in self.queues.take(subscriber) if queued.stamp > mig.last]
        for queued in missed:
            if self.is_client(z):
                self.perform(self.queues.put(queued))
            self._replay(queued, z)

    def _begin_stay(self, mig: Mig) -> None:
        """Make the subscriber local (2.3, line 4)."""
        self.meet_client(mig.subscriber)
        self.local[mig.subscriber] = None
        self._stamps[mig.subscriber] = Stamp(mig.stay, 0)

    @on(Rep)  # algorithm 2.3, lines 17 to 21, 23 and 24
    def replay(self, rep: Rep, z: NodeId, now: SimTime) -> None:
        """Pass a replayed notification on, with its ts."""
        self._follow(rep)

    @on(Turn)
    def turn(self, turn: Turn, z: NodeId, now: SimTime) -> None:
        """Pass a TURN on like a REP."""
        self._take_turn(turn)

    def _take_turn(self, turn: Turn) -> None:
        """Pass a TURN on; the subscriber's broker adds its ts."""
        if turn.stamp == NEVER and turn.subscriber in self.local:
            turn = replace(turn, stamp=self._stamp(turn.subscriber))
        self._follow(turn)

    def _follow(self, message: Queued) -> None:
        """Send along the newest MIG's way, if it is known."""
        if message.subscriber in self.local:
            self._enqueue(message)
        known = self._migrations.get(message.subscriber)
        self._pass_on(message, message.subscriber if known is None else known.way)

    def _matching(self, pub: Pub) -> dict[NodeId, list[NodeId]]:
        """Return the interfaces for the PUB's subscribers; a publisher's PUB is for all.

        A broker that lost its tables sends to none.
        """
        matching = super()._matching(pub)
        if not pub.subscribers:
            return matching
        for unknown in (s for s in pub.subscribers if self._commands.way(s) is None and s not in self._migrations):
            self.note(DROP, notification_id=str(pub.notification.id), peer=unknown, detail="unknown subscriber")
        named = {y: [s for s in subscribers if s in pub.subscribers] for y, subscribers in matching.items()}
        return {y: subscribers for y, subscribers in named.items() if subscribers}

    def _addressees(self, interface: NodeId, subscribers: list[NodeId]) -> tuple[NodeId, ...]:
        """Return a PUB's subscribers towards a broker."""
        return () if self.is_client(interface) else tuple(subscribers)

    def _stamp(self, interface: NodeId) -> Stamp:
        """Return the next ts of a stay here; a PUB to a broker has none."""
        if interface not in self.local:
            return NEVER
        stay, tick = self._stamps.get(interface, NEVER)
        self._stamps[interface] = Stamp(stay, tick + 1)
        return self._stamps[interface]


def is_older(number: int, than: int) -> bool:
    """Whether a 32-bit number precedes another, modulo 2^32."""
    return 0 < (than - number) % 2**32 < 2**31


class Commands:
    """Each subscriber's newest commands, if their order is known."""

    def __init__(self) -> None:
        """All subscribers are in their first stay."""
        self._stays: dict[tuple[NodeId, NodeId], Stay] = {}
        """The stay of each subscriber's newest MIG by interface."""
        self._latest: dict[tuple[NodeId, Filter], Stay] = {}
        """The stay of each subscriber's newest command by filter."""
        self._numbers: dict[tuple[NodeId, Filter], int] = {}
        """That command's number, if any."""
        self._ways: dict[NodeId, NodeId] = {}
        """The interface of each subscriber's newest command."""

    def migrated(self, mig: Mig, z: NodeId) -> None:
        """Assign later commands by z to this stay."""
        at = mig.subscriber, z
        self._stays[at] = max(mig.stay, self._stays.get(at, 0))

    def take(self, command: Sub | Uns, z: NodeId) -> bool:
        """Return whether the filter's command is the latest known."""
        about, stay = (command.subscriber, command.filter), self._stays.get((command.subscriber, z), 0)
        if isinstance(command, NumberedSub | NumberedUns):
            if is_older(command.number, self._numbers.get(about, command.number)):
                return False
            self._numbers[about] = command.number
        elif stay < self._latest.get(about, 0):
            return False
        self._latest[about] = stay
        self._ways[command.subscriber] = z
        return True

    def way(self, subscriber: NodeId) -> NodeId | None:
        """Return the interface of a subscriber's newest command, even without a subscription."""
        return self._ways.get(subscriber)
