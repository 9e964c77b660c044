"""A broker of Phoenix with numbered migrations: what algorithm 2.3 needs to lose, double and overtake nothing.

As it stands (`broker`) it does all three on a static tree with reliable links.
`tests/python_protocol/papers/phoenix` has the smallest networks:

- Two MIGs of a subscriber that moves fast can overtake each other. The older one then turns the way back to a broker
  that the subscriber has left, and finds no queue.
- `ts_last` is compared at whichever broker the MIG finds the subscriber local, by a clock that is not its own.
- A subscriber that comes back to its broker is no longer local there (lines 9 to 16), and nothing is queued for it.
- A SUB that is still under way when the subscriber moves arrives behind the MIG, and points the way back.
- What is published while a MIG is under way, and goes to the new broker for somebody else, is queued at the old one and
  delivered by the new one: twice.
- And it can reach the new broker before what was published earlier comes back from the old one: overtaken.

So a subscriber numbers its migrations. Its *stay* at a broker has the number of the MIG that began it, the first stay
0.

- A broker passes a MIG on only if its number is newer than what the broker knows. An older one is answered with the
  newer, which so reaches the brokers that the older one has misled. So is a SUB from elsewhere than the newest MIG.
- A PUB between brokers names the subscribers for whom it goes that way. For others its sender's way is elsewhere,
  though the receiver's may not be, because a MIG crosses the PUB.
- `ts` is (stay, tick); the ticks of a stay count from 1, for that subscriber alone, and a REP keeps its ts: so ts_last
  means the same at all brokers.
- TURN tells the subscriber in which order it has to deliver (`Sorter`). It takes the last ts of a stay, after what is
  replayed, and names the stay whose MIG ended it. Where an older MIG meets a newer one, its stay has been going on for
  some brokers while the newer one was for others: a TURN then follows the newer MIG to the subscriber, behind what came
  before the older MIG, and says that it is now the turn of the older stay.
- A subscriber is local until a MIG says otherwise: to come back ends one stay and begins another, UNS does neither.
- REP and TURN follow the newest MIG back, for an UNS may have removed all entries.
- A SUB or UNS that was said before one about the same filter that has come already says nothing any more (`Commands`):
  it goes to nobody, and changes nothing. Links keep the order of what was said at one broker, but not of what was said
  at two. So a subscriber numbers what it says. Without these numbers (`number_commands` false) a broker only knows that
  what comes by a link was said in the stay of the newest MIG that has come by it, or in a later one. Then a MIG has to
  go ahead of what is said after it; but one that follows the ways of subscriptions does not come to all brokers, and
  one off its way takes what was said after it for older than it is. Of 10,000 random histories of two subscribers 25
  ended with a wrong table, by which a publisher at that broker would have lost everything for ever.
- For the replay a MIG follows the way of the last SUB or UNS if no entry is left, and goes everywhere if not even a SUB
  has come yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from roambus.python_protocol.agent import on
from roambus.python_protocol.brokers.broker import Sub, Uns
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.papers.phoenix.broker import (
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
from roambus.python_protocol.vocabulary import NodeId, SimTime


class _Migration(NamedTuple):
    """The newest MIG of a subscriber, and where it came from."""

    mig: Mig
    way: NodeId


class NumberedBroker(Broker):
    """b_i, with the newest migration of each subscriber that it has heard of."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """At first nothing is known, not even a neighbour."""
        super().__init__(node, parameters)
        self._migrations: dict[NodeId, _Migration] = {}
        self._stamps: dict[NodeId, Stamp] = {}
        self._commands = Commands()

    @on(Sub, NumberedSub)  # algorithm 2.2, lines 1 to 7
    def subscribe(self, sub: Sub, z: NodeId, now: SimTime) -> None:
        """A subscriber subscribes; a SUB that is older than the MIG gets the MIG's way."""
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
        """A subscriber unsubscribes, and stays local."""
        if self._commands.take(uns, z):
            self.table.remove(uns.filter, uns.subscriber)
            self.flood(uns, z)

    @on(Mig)  # algorithm 2.3, lines 1 to 16
    def migrate_subscriber(self, mig: Mig, z: NodeId, now: SimTime) -> None:
        """A subscriber has moved to another broker: the MIG goes on if it is the newest."""
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
        """To where a subscriber was; everywhere, if its first SUB is still under way to here."""
        if ways := self.table.interfaces(subscriber):
            return ways
        known = self._migrations.get(subscriber)
        last = self._commands.way(subscriber) if known is None else known.way
        return tuple(self.neighbours) if last is None else (last,)

    def _correct(self, z: NodeId, mig: Mig, known: _Migration) -> None:
        """A MIG is older than the newest: tells whom it has misled, and the subscriber where its stay belongs."""
        if mig.stay != known.mig.stay and z != known.way:
            self.send(z, known.mig)
            self._take_turn(Turn(mig.subscriber, NEVER, mig.stay, over=False))

    def _let_go(self, z: NodeId, mig: Mig) -> None:
        """Carries out lines 10 to 16; a subscriber that came back may go before it gets what is replayed."""
        subscriber = mig.subscriber
        self.queues.put(Turn(subscriber, self._stamp(subscriber), mig.stay, over=True))
        del self.local[subscriber]
        missed = [queued for queued in self.queues.take(subscriber) if queued.stamp > mig.last]
        for queued in missed:
            if self.is_client(z):
                self.perform(self.queues.put(queued))
            self._replay(queued, z)

    def _begin_stay(self, mig: Mig) -> None:
        """Carries out line 4: the subscriber is local from now on."""
        self.meet_client(mig.subscriber)
        self.local[mig.subscriber] = None
        self._stamps[mig.subscriber] = Stamp(mig.stay, 0)

    @on(Rep)  # algorithm 2.3, lines 17 to 24 without line 22
    def replay(self, rep: Rep, z: NodeId, now: SimTime) -> None:
        """What another broker had in its queue goes on to the subscriber, with the ts that it has."""
        self._follow(rep)

    @on(Turn)
    def turn(self, turn: Turn, z: NodeId, now: SimTime) -> None:
        """What a subscriber is to deliver next goes to it like a REP."""
        self._take_turn(turn)

    def _take_turn(self, turn: Turn) -> None:
        """Passes a TURN on; where the subscriber is now, the TURN gets its ts."""
        if turn.stamp == NEVER and turn.subscriber in self.local:
            turn = replace(turn, stamp=self._stamp(turn.subscriber))
        self._follow(turn)

    def _follow(self, message: Queued) -> None:
        """Sends to where the newest MIG came from; a broker that has forgotten it has no way."""
        if message.subscriber in self.local:
            self._enqueue(message)
        known = self._migrations.get(message.subscriber)
        self._pass_on(message, message.subscriber if known is None else known.way)

    def _matching(self, pub: Pub) -> dict[NodeId, list[NodeId]]:
        """The interfaces for those whom the PUB names; a publisher's names nobody, and is for all."""
        matching = super()._matching(pub)
        if not pub.subscribers:
            return matching
        named = {y: [s for s in subscribers if s in pub.subscribers] for y, subscribers in matching.items()}
        return {y: subscribers for y, subscribers in named.items() if subscribers}

    def _addressees(self, interface: NodeId, subscribers: list[NodeId]) -> tuple[NodeId, ...]:
        """The subscribers for whom a PUB goes to a broker."""
        return () if self.is_client(interface) else tuple(subscribers)

    def _stamp(self, interface: NodeId) -> Stamp:
        """The next ts of a subscriber's stay here; a PUB to a broker has none."""
        if interface not in self.local:
            return NEVER
        stay, tick = self._stamps.get(interface, NEVER)
        self._stamps[interface] = Stamp(stay, tick + 1)
        return self._stamps[interface]


def is_older(number: int, than: int) -> bool:
    """Whether a number of 16 bits comes before another, of which it is less than half of all numbers away."""
    return 0 < (than - number) % 2**16 < 2**15


class Commands:
    """What one broker has heard of subscribers, in the order in which they have said it as far as that is known."""

    def __init__(self) -> None:
        """At first everybody is in the first stay."""
        self._stays: dict[tuple[NodeId, NodeId], Stay] = {}
        """The newest that a MIG of the subscriber has told by the interface."""
        self._latest: dict[tuple[NodeId, Filter], Stay] = {}
        """The one in which the subscriber has said the last that is known of the filter."""
        self._numbers: dict[tuple[NodeId, Filter], int] = {}
        """The number of that, if it has one."""
        self._ways: dict[NodeId, NodeId] = {}
        """Where the last of a subscriber has come from."""

    def migrated(self, mig: Mig, z: NodeId) -> None:
        """What comes by z from now on was said in this stay."""
        at = mig.subscriber, z
        self._stays[at] = max(mig.stay, self._stays.get(at, 0))

    def take(self, command: Sub | Uns, z: NodeId) -> bool:
        """Whether nothing later was said about the filter."""
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
        """Where the last of a subscriber has come from, even if it has given up everything since."""
        return self._ways.get(subscriber)
