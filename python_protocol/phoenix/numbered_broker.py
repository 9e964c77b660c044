"""A broker of Phoenix with numbered migrations: what algorithm 2.3 needs to lose, double and overtake nothing.

To the letter (`broker`) all three happen on a static tree with reliable links; `tests/python_protocol/phoenix` has the
smallest networks:

- Two MIGs of a subscriber that moves fast can overtake each other. The older one then turns the way back to a broker
  that the subscriber has left, and finds no queue.
- `ts_last` is compared at whichever broker the MIG finds the subscriber local, by a clock that is not its own.
- A subscriber that comes back to its broker is no longer local there (lines 9 to 16), and nothing is queued for it.
- A SUB that is still under way when the subscriber moves arrives behind the MIG, and points the way back.
- What is published while a MIG is under way, and goes to the new broker for somebody else, is queued at the old one and
  delivered by the new one: twice.
- And it can reach the new broker before what was published earlier comes back from the old one: overtaken.

The mend numbers the migrations of a subscriber. Its *stay* at a broker has the number of the MIG that began it, the
first stay 0.

- A broker passes a MIG on only if its number is newer than what the broker knows. An older one is answered with the
  newer, which so reaches the brokers that the older one has misled. So is a SUB from elsewhere than the newest MIG.
- A PUB between brokers names the subscribers for whom it goes that way. For others its sender's way is elsewhere,
  though the receiver's may not be, because a MIG crosses the PUB.
- `ts` is (stay, tick); the ticks of a stay count from 1, for that subscriber alone, and a REP keeps its ts: so ts_last
  means the same at all brokers.
- TURN tells the subscriber in which order it has to deliver (`sorter`). It takes the last ts of a stay, after what is
  replayed, and names the stay whose MIG ended it. Where an older MIG meets a newer one, its stay has been going on for
  some brokers while the newer one was for others: a TURN then follows the newer MIG to the subscriber, behind what came
  before the older MIG, and says that it is now the turn of the older stay.
- A subscriber is local until a MIG says otherwise: to come back ends one stay and begins another, UNS does neither.
- REP and TURN follow the newest MIG back, for an UNS may have removed all entries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers.messages import Sub, Uns
from roambus.python_protocol.phoenix import broker
from roambus.python_protocol.phoenix.messages import NEVER, Mig, Pub, Rep, Stamp, Turn
from roambus.python_protocol.phoenix.parameters import PhoenixParameters
from roambus.python_protocol.phoenix.queues import Queued
from roambus.python_protocol.roles import NodeId


class _Migration(NamedTuple):
    """The newest MIG of a subscriber, and where it came from."""

    mig: Mig
    way: NodeId


class NumberedBroker(broker.Broker):
    """See `broker.Broker`."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """Nothing is known at first, not even a neighbour."""
        super().__init__(node, parameters)
        self._migrations: dict[NodeId, _Migration] = {}
        self._stamps: dict[NodeId, Stamp] = {}
        self._handlers[Turn] = self._receive_turn

    def _receive_sub(self, sender: NodeId, message: Sub) -> list[Action]:
        """Algorithm 2.2, lines 1 to 7; a SUB older than the MIG gets the MIG's way."""
        known = self._migrations.get(message.subscriber)
        if known is None or sender in (known.way, message.subscriber):
            return super()._receive_sub(sender, message)
        self.table.add(message.filter, known.way, message.subscriber)
        return [*self.flood(message, sender), Send(sender, known.mig)]

    def _receive_uns(self, sender: NodeId, message: Uns) -> list[Action]:
        """Algorithm 2.2, lines 8 to 10, 13 and 14."""
        self.table.remove(message.filter, message.subscriber)
        return self.flood(message, sender)

    def _receive_mig(self, sender: NodeId, message: Mig) -> list[Action]:
        """Algorithm 2.3, lines 1 to 16."""
        subscriber = message.subscriber
        known = self._migrations.get(subscriber)
        if known is not None and message.stay <= known.mig.stay:
            return self._correct(sender, message, known)
        ways = [b for b in self.table.interfaces(subscriber) if b in self.neighbours and b != sender]
        self._migrations[subscriber] = _Migration(message, sender)
        self.table.replace(subscriber, sender)
        actions = self._let_go(sender, message) if subscriber in self.local else []
        if self.is_client(sender):
            self._begin_stay(message)
        return [*actions, *(Send(b, message) for b in ways)]

    def _correct(self, sender: NodeId, message: Mig, known: _Migration) -> list[Action]:
        """A MIG older than the newest: whoever it has misled is told, and the subscriber where its stay belongs."""
        if message.stay == known.mig.stay or sender == known.way:
            return []
        turn = Turn(message.subscriber, NEVER, message.stay, is_over=False)
        return [Send(sender, known.mig), *self._receive_turn(sender, turn)]

    def _let_go(self, sender: NodeId, message: Mig) -> list[Action]:
        """Lines 10 to 16; a subscriber that came back may go before it gets what is replayed."""
        subscriber = message.subscriber
        self.queues.put(Turn(subscriber, self._stamp(subscriber), message.stay, is_over=True))
        del self.local[subscriber]
        missed = [queued for queued in self.queues.take(subscriber) if queued.stamp > message.last]
        actions: list[Action] = []
        for queued in missed:
            if self.is_client(sender):
                actions += self.queues.put(queued)
            actions += self._replay(queued, sender)
        return actions

    def _begin_stay(self, message: Mig) -> None:
        """Line 4."""
        self.meet_client(message.subscriber)
        self.local[message.subscriber] = None
        self._stamps[message.subscriber] = Stamp(message.stay, 0)

    def _receive_rep(self, sender: NodeId, message: Rep) -> list[Action]:  # noqa: ARG002  # as the algorithm
        """Lines 17 to 24, without line 22."""
        return self._follow(message)

    def _receive_turn(self, sender: NodeId, message: Turn) -> list[Action]:  # noqa: ARG002  # as for a REP
        """As a REP; where the subscriber is now, it gets its ts."""
        if message.stamp == NEVER and message.subscriber in self.local:
            return self._follow(replace(message, stamp=self._stamp(message.subscriber)))
        return self._follow(message)

    def _follow(self, message: Queued) -> list[Action]:
        """To where the newest MIG came from; a broker that has forgotten it has no way."""
        stored = self._enqueue(message) if message.subscriber in self.local else []
        known = self._migrations.get(message.subscriber)
        return [*stored, *self._pass_on(message, message.subscriber if known is None else known.way)]

    def _matching(self, message: Pub) -> dict[NodeId, list[NodeId]]:
        """Algorithm 2.2, lines 18 to 20, for those whom the PUB names; a publisher's names nobody, and is for all."""
        matching = super()._matching(message)
        if not message.subscribers:
            return matching
        named = {y: [s for s in subscribers if s in message.subscribers] for y, subscribers in matching.items()}
        return {y: subscribers for y, subscribers in named.items() if subscribers}

    def _addressees(self, interface: NodeId, subscribers: list[NodeId]) -> tuple[NodeId, ...]:
        """Those for whom a PUB goes to a broker."""
        return () if self.is_client(interface) else tuple(subscribers)

    def _stamp(self, interface: NodeId) -> Stamp:
        """The next ts of a subscriber's stay here; a PUB to a broker has none."""
        if interface not in self.local:
            return NEVER
        stay, tick = self._stamps.get(interface, NEVER)
        self._stamps[interface] = Stamp(stay, tick + 1)
        return self._stamps[interface]
