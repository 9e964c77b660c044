"""A client: publisher and subscriber, which talks to the three brokers of its site.

The paper on replicated brokers has this in sections 4 to 6.4. Whatever a client says it says to all three, and each
replies. Events come from the leader alone, but the client replies to all three, so that each of them can take over.
It watches every broker that has not accepted something.
"""

from __future__ import annotations

from roambus.python_protocol.events import Attach, Publish, Recovered, SendFailed, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive
from roambus.python_protocol.replicated.messages import Accepted, Event, Numbered, Sub, Uns
from roambus.python_protocol.replicated.parameters import NONE, ReplicatedParameters
from roambus.python_protocol.replicated.streams import Incoming, Outgoing
from roambus.python_protocol.replicated.watch import Watch, WatchTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

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
        self._watches = {broker: Watch(broker, parameters.time_out, self) for broker in brokers}

    # The application

    @on(Subscribe)
    def subscribe(self, event: Subscribe, _: SimTime) -> None:
        """Tells all brokers (section 4); what is subscribed to already is not said again."""
        if event.filter not in self.filters:
            self.filters.add(event.filter)
            self._tell_all(Sub(_TO_BE_NUMBERED, event.filter))

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, _: SimTime) -> None:
        """Tells all brokers (section 4), but only of what is subscribed to (section 2)."""
        if event.filter in self.filters:
            self.filters.remove(event.filter)
            self._tell_all(Uns(_TO_BE_NUMBERED, event.filter))

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Section 2: the event gets a number of this publisher."""
        self._tell_all(Event(self.node, _TO_BE_NUMBERED, 1, event.notification))

    @on(Recovered, Attach)
    def resume(self, _event: Recovered | Attach, _now: SimTime) -> None:
        """Whoever answers is told what it has not accepted, and sends what this client has not.

        A client that had no links has missed as much as one that had crashed.
        """
        for broker, watch in self._watches.items():
            watch.satisfied()
            self.send(broker, AreYouAlive())
            self._expect(broker)

    # Brokers

    @on(Accepted)
    def accepted(self, accepted: Accepted, broker: NodeId, _: SimTime) -> None:
        """Section 6.4: what a broker has is not sent to it again."""
        self._outgoing[broker].accept(accepted.key)
        self._heard(broker)

    @on(Event)
    def notify(self, event: Event, broker: NodeId, _: SimTime) -> None:
        """Delivers what its order allows, once; the reply goes to all, so that each can take over."""
        self._heard(broker)
        for ready in self._incoming.take(event):
            if isinstance(ready, Event):
                self.deliver(ready.notification, ready.hops)
        for one in self._outgoing:
            self.send(one, Accepted(*event.key))

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, broker: NodeId, _now: SimTime) -> None:
        """The broker is there, but has not replied: perhaps what it was told got lost in a crash of its own."""
        unaccepted = self._outgoing[broker].unaccepted
        for message in unaccepted.values():
            self.send(broker, message)
        if unaccepted:
            self._watches[broker].alive()
        else:
            self._watches[broker].satisfied()

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, _: SimTime) -> None:
        """A broker has not replied in time (section 6.4)."""
        watch = self._watches[key.node]
        watch.time_up()
        if watch.is_dead:
            self._assume_dead(key.node)

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Section 6.2: there is no connection to a broker."""
        broker = event.destination
        if self._watches[broker].is_dead:
            self._outgoing[broker].unaccepted.clear()
        else:
            self._watches[broker].failed()
            self._assume_dead(broker)

    # Senders

    def _tell_all(self, message: Numbered) -> None:
        """Section 6: each of the three brokers gets it."""
        for broker, outgoing in self._outgoing.items():
            numbered = outgoing.number(message)
            outgoing.put(numbered)
            self.send(broker, numbered)
            self._expect(broker)

    def _assume_dead(self, broker: NodeId) -> None:
        """Tells the other brokers (section 6.4), which have what this one has not accepted."""
        self._outgoing[broker].unaccepted.clear()
        for other in self._outgoing:
            if other != broker:
                self.send(other, AssumedDead(broker))

    # Helpers

    def _heard(self, broker: NodeId) -> None:
        self._watches[broker].satisfied()
        self._expect(broker)

    def _expect(self, broker: NodeId) -> None:
        if self._outgoing[broker].unaccepted:
            self._watches[broker].expect()
