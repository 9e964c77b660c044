"""A client: publisher and subscriber, which talks to the three brokers of its site (sections 4 to 6.4).

Whatever a client says it says to all three, and each replies. Events come from the leader alone, but the client replies
to all three, so that each of them can take over. It watches every broker that has not accepted something.

- *A client counts its own messages for each broker* (section 2), all three from 1, so that they get the same numbers.
- *It does not know who leads*, and need not: a broker that does not lead keeps what it is told for the one that does.
- *It tells the two others of a broker that does not answer* (section 6.4), and does not choose who leads next.
- *What two of three have accepted is safe*, and is not sent again to a third that is assumed dead. The paper has the
  client assume that they have; if the client itself is out of reach, all three look dead, and nothing may be forgotten.
"""

from __future__ import annotations

from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Attach, Publish, Recovered, SendFailed, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.papers.replicated.messages import (
    NONE,
    Accepted,
    AreYouAlive,
    AssumedDead,
    Event,
    IAmAlive,
    Key,
    Missing,
    Numbered,
    ReplicatedParameters,
    Sub,
    Uns,
    Update,
)
from roambus.python_protocol.papers.replicated.neighbours import Patience, Watch, WatchTimer
from roambus.python_protocol.papers.replicated.site_state import Incoming, Outgoing
from roambus.python_protocol.vocabulary import NodeId, SimTime

_TO_BE_NUMBERED = 0


class Client(Process):
    """All of it is in stable storage: a client that crashes goes on where it was."""

    def __init__(
        self,
        node: NodeId,
        brokers: tuple[NodeId, ...],
        parameters: ReplicatedParameters,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.node = node
        self.filters: set[Filter] = set()
        self._incoming = Incoming(events_in_order=parameters.order != NONE)
        self._outgoing = {broker: Outgoing() for broker in brokers}
        self._subscriptions: dict[Key, Numbered] = {}
        """All that was ever said of filters. It is kept, because without it what the site holds would stay wrong."""
        self._patience = Patience(parameters)
        self._watches = {broker: Watch(broker, self._patience, self) for broker in brokers}

    # The application

    @on(Subscribe)
    def subscribe(self, event: Subscribe, now: SimTime) -> None:
        """Tells all brokers (section 4); what is subscribed to already is not said again."""
        if event.filter not in self.filters:
            self.filters.add(event.filter)
            self._tell_all(Sub(_TO_BE_NUMBERED, event.filter), now)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, now: SimTime) -> None:
        """Tells all brokers (section 4), but only of what is subscribed to (section 2)."""
        if event.filter in self.filters:
            self.filters.remove(event.filter)
            self._tell_all(Uns(_TO_BE_NUMBERED, event.filter), now)

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Section 2: the event gets a number of this publisher."""
        self._tell_all(Event(self.node, _TO_BE_NUMBERED, 1, event.notification), now)

    @on(Recovered, Attach)
    def resume(self, _event: Recovered | Attach, _now: SimTime) -> None:
        """Whoever answers is told what it has not accepted, and sends what this client has not.

        A client that had no links has missed as much as one that had crashed.
        """
        for broker, watch in self._watches.items():
            watch.satisfied()
            self._patience.forget(broker)
            self.send(broker, AreYouAlive())
            self._expect(broker)

    # Brokers

    @on(Accepted)
    def accepted(self, accepted: Accepted, broker: NodeId, now: SimTime) -> None:
        """Section 6.4: what a broker has is not sent to it again."""
        self._patience.answered(broker, accepted.key, now)
        self._outgoing[broker].accept(accepted.key)
        self._spare_dead(accepted.key)
        self._heard(broker)

    @on(Event)
    def notify(self, event: Event, broker: NodeId, _: SimTime) -> None:
        """Delivers what its order allows, once; the reply goes to all, so that each can take over."""
        self._heard(broker)
        # A copy that has come before delivers nothing, but is replied to: the reply to the first one may be lost.
        for ready in self._incoming.take(event):
            if isinstance(ready, Event):
                self.deliver(ready.notification, ready.hops)
        for one in self._outgoing:
            self.send(one, Accepted(*event.key))

    @on(Missing)
    def missing(self, asked: Missing, broker: NodeId, _: SimTime) -> None:
        """Says again what the leader lacks, or UPDATE if others have accepted it, and it is not kept here any more."""
        key = asked.key
        kept = [outgoing.unaccepted[key] for outgoing in self._outgoing.values() if key in outgoing.unaccepted]
        self.send(broker, kept[0] if kept else self._subscriptions.get(key, Update(*key)))

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, broker: NodeId, now: SimTime) -> None:
        """The broker is there, but has not replied: perhaps what it was told got lost in a crash of its own."""
        self._patience.answered(broker, AreYouAlive(), now)
        unaccepted = self._outgoing[broker].unaccepted
        for message in unaccepted.values():
            self.send(broker, message)
        # What is sent again measures no delay: an answer could be to either.
        if unaccepted:
            self._patience.forget(broker)
            self._watches[broker].alive()
        else:
            self._watches[broker].satisfied()

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """A broker has not replied in time (section 6.4)."""
        if self._watches[key.node].time_up(key, now):
            self._assume_dead(key.node)

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Section 6.2: there is no connection to a broker."""
        broker = event.destination
        self._patience.forget(broker)
        if not self._watches[broker].is_dead:
            self._watches[broker].failed()
            self._assume_dead(broker)

    # Senders

    def _tell_all(self, message: Numbered, now: SimTime) -> None:
        """Section 6: each of the three brokers gets it."""
        for broker, outgoing in self._outgoing.items():
            numbered = outgoing.number(message)
            outgoing.put(numbered)
            self.send(broker, numbered)
            self._patience.asked(broker, numbered.key, now)
            self._expect(broker)
            if isinstance(numbered, Sub | Uns):
                self._subscriptions[numbered.key] = numbered

    def _assume_dead(self, broker: NodeId) -> None:
        """Tells the other brokers (section 6.4)."""
        for key in list(self._outgoing[broker].unaccepted):
            self._spare_dead(key)
        for other in self._outgoing:
            if other != broker:
                self.send(other, AssumedDead(broker))

    # Helpers

    def _spare_dead(self, key: Key) -> None:
        """What both others have accepted is not said again to a broker that is assumed dead: it learns it from them.

        If all three are out of reach, because this client is, nothing is forgotten.
        """
        without = [broker for broker, outgoing in self._outgoing.items() if key in outgoing.unaccepted]
        if len(without) == 1 and self._watches[without[0]].is_dead:
            del self._outgoing[without[0]].unaccepted[key]

    def _heard(self, broker: NodeId) -> None:
        self._watches[broker].satisfied()
        self._expect(broker)

    def _expect(self, broker: NodeId) -> None:
        if self._outgoing[broker].unaccepted:
            self._watches[broker].expect()
