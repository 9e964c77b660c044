"""A client: publisher and subscriber of one site (sections 4 to 6.4).

It sends everything, numbered from 1, to all three brokers, because it does not know the leader, and accepts events to
all three, so that each can take over. It reports a silent broker (section 6.4), and forgets messages that the other two
accepted. If all three seem dead, it is itself out of reach.
"""

from __future__ import annotations

from roambus.extensions.replicated.messages import (
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
    acceptance,
)
from roambus.extensions.replicated.neighbours import Patience, Watch, WatchTimer
from roambus.extensions.replicated.site_state import Incoming, Outgoing
from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Attach, Publish, Recovered, SendFailed, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_TO_BE_NUMBERED = 0


class Client(Process):
    """A client with its state in stable storage."""

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
        self._delivered: set[NotificationId] = set()
        self._subscriptions: dict[Key, Numbered] = {}
        """All SUBs and UNSs ever sent, for a site that lost its state."""
        self._patience = Patience(parameters)
        self._watches = {broker: Watch(broker, self._patience, self) for broker in brokers}

    # The application

    @on(Subscribe)
    def subscribe(self, event: Subscribe, now: SimTime) -> None:
        """Send SUB to all brokers (section 4), unless subscribed."""
        if event.filter not in self.filters:
            self.filters.add(event.filter)
            self._tell_all(Sub(_TO_BE_NUMBERED, event.filter), now)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, now: SimTime) -> None:
        """Send UNS to all brokers (section 4), if subscribed (section 2)."""
        if event.filter in self.filters:
            self.filters.remove(event.filter)
            self._tell_all(Uns(_TO_BE_NUMBERED, event.filter), now)

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Number the event and send it to all brokers (section 2)."""
        self._tell_all(Event(self.node, _TO_BE_NUMBERED, 1, event.notification), now)

    @on(Recovered, Attach)
    def resume(self, _event: Recovered | Attach, _now: SimTime) -> None:
        """Ask the brokers after an absence; both sides repeat unaccepted messages."""
        for broker, watch in self._watches.items():
            watch.satisfied()
            self._patience.forget(broker)
            self.send(broker, AreYouAlive())
            self._expect(broker)

    # Brokers

    @on(Accepted)
    def accepted(self, accepted: Accepted, broker: NodeId, now: SimTime) -> None:
        """Stop sending a message to this broker (section 6.4)."""
        self._patience.answered(broker, accepted.key, now)
        self._outgoing[broker].accept(accepted)
        self._spare_dead(accepted.key)
        self._heard(broker)

    @on(Event)
    def notify(self, event: Event, broker: NodeId, _: SimTime) -> None:
        """Deliver in order and once; accept to all three."""
        self._heard(broker)
        # A copy that has come before delivers nothing, but is replied to: the reply to the first one may be lost.
        for ready in self._ready(event):
            if isinstance(ready, Event) and ready.notification.id not in self._delivered:
                self._delivered.add(ready.notification.id)
                self.deliver(ready.notification, ready.hops)
        for peer in self._outgoing:
            self.send(peer, acceptance(event))

    @on(Missing)
    def missing(self, asked: Missing, broker: NodeId, _: SimTime) -> None:
        """Repeat the leader's missing message, or send UPDATE."""
        key = asked.key
        kept = [outgoing.unaccepted[key] for outgoing in self._outgoing.values() if key in outgoing.unaccepted]
        self.send(broker, kept[0] if kept else self._subscriptions.get(key, Update(*key)))

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, broker: NodeId, now: SimTime) -> None:
        """Repeat unaccepted messages after a possible crash."""
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
        """Ask or report a late broker (section 6.4)."""
        if self._watches[key.node].time_up(key, now):
            self._assume_dead(key.node)

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Report a broker without connection (section 6.2)."""
        broker = event.destination
        self._patience.forget(broker)
        if not self._watches[broker].is_dead:
            self._watches[broker].failed()
            self._assume_dead(broker)

    # Senders

    def _tell_all(self, message: Numbered, now: SimTime) -> None:
        """Send to the three brokers (section 6)."""
        for broker, outgoing in self._outgoing.items():
            numbered = outgoing.number(message)
            outgoing.put(numbered)
            self.send(broker, numbered)
            self._patience.asked(broker, numbered.key, now)
            self._expect(broker)
            if isinstance(numbered, Sub | Uns):
                self._subscriptions[numbered.key] = numbered

    def _assume_dead(self, broker: NodeId) -> None:
        """Inform the other brokers (section 6.4)."""
        for key in list(self._outgoing[broker].unaccepted):
            self._spare_dead(key)
        for other in self._outgoing:
            if other != broker:
                self.send(other, AssumedDead(broker))

    # Helpers

    def _ready(self, event: Event) -> list[Numbered]:
        """Return the deliverable messages.

        A site without its state can reuse a number without waiting.
        """
        if self._incoming.is_new(event):
            return self._incoming.take(event)
        return [] if self._incoming.holds(event) else [event]

    def _spare_dead(self, key: Key) -> None:
        """Drop a dead broker's messages that both others have, unless all seem dead."""
        without = [broker for broker, outgoing in self._outgoing.items() if key in outgoing.unaccepted]
        if len(without) == 1 and self._watches[without[0]].is_dead:
            del self._outgoing[without[0]].unaccepted[key]

    def _heard(self, broker: NodeId) -> None:
        self._watches[broker].satisfied()
        self._expect(broker)

    def _expect(self, broker: NodeId) -> None:
        if self._outgoing[broker].unaccepted:
            self._watches[broker].expect()
