"""A client: publisher and subscriber, which talks to the three brokers of its site (002, sections 4 to 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roambus.python_protocol.actions import Action, Deliver, Send
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive
from roambus.python_protocol.replicated.messages import Accepted, Event, Key, Numbered, Sub, Uns
from roambus.python_protocol.replicated.parameters import NONE, ReplicatedParameters
from roambus.python_protocol.replicated.streams import Incoming, Outgoing
from roambus.python_protocol.replicated.watch import Watch
from roambus.python_protocol.roles import NodeId


class Client:
    """All of it is in stable storage: a client that crashes goes on where it was."""

    def __init__(self, node: NodeId, brokers: tuple[NodeId, ...], parameters: ReplicatedParameters) -> None:
        self.node = node
        self.filters: set[Filter] = set()
        self._incoming = Incoming(events_in_order=parameters.order != NONE)
        self._outgoing = {broker: Outgoing() for broker in brokers}
        self._watches = {broker: Watch(broker, parameters.time_out) for broker in brokers}

    def subscribe(self, one: Filter) -> list[Action]:
        """Section 4. What is subscribed to already is not said again."""
        if one in self.filters:
            return []
        self.filters.add(one)
        return self._tell_all(Sub(0, one))

    def unsubscribe(self, one: Filter) -> list[Action]:
        """Section 4; only of what is subscribed to (section 2)."""
        if one not in self.filters:
            return []
        self.filters.remove(one)
        return self._tell_all(Uns(0, one))

    def publish(self, notification: Notification) -> list[Action]:
        """With a number of this publisher (section 2)."""
        return self._tell_all(Event(self.node, 0, notification, 1))

    def receive(self, broker: NodeId, message: Message) -> list[Action]:
        """Of a broker of the site."""
        match message:
            case Accepted():
                return self._accepted(broker, (message.stream, message.number))
            case Event():
                return [*self._heard(broker), *self._event(message)]
            case IAmAlive():
                return self._alive(broker)
        return []

    def timer(self, broker: NodeId) -> list[Action]:
        """A broker has not replied in time."""
        watch = self._watches[broker]
        return [*watch.timer(), *(self._assume_dead(broker) if watch.is_dead else ())]

    def failed(self, broker: NodeId) -> list[Action]:
        """Section 6.2: no connection to a broker."""
        watch = self._watches[broker]
        if watch.is_dead:
            self._outgoing[broker].unaccepted.clear()
            return []
        return [*watch.failed(), *self._assume_dead(broker)]

    def resume(self) -> list[Action]:
        """After a crash: whoever answers is told what it has not accepted, and sends what this client has not."""
        actions: list[Action] = []
        for broker, watch in self._watches.items():
            actions += [*watch.satisfied(), Send(broker, AreYouAlive()), *self._expect(broker)]
        return actions

    # Replies

    def _accepted(self, broker: NodeId, key: Key) -> list[Action]:
        self._outgoing[broker].accept(key)
        return self._heard(broker)

    def _heard(self, broker: NodeId) -> list[Action]:
        return [*self._watches[broker].satisfied(), *self._expect(broker)]

    def _alive(self, broker: NodeId) -> list[Action]:
        """It is there, but has not replied: perhaps what it was told got lost in a crash of its own."""
        actions: list[Action] = [Send(broker, message) for message in self._outgoing[broker].unaccepted.values()]
        watch = self._watches[broker]
        return [*actions, *(watch.alive() if actions else watch.satisfied())]

    def _event(self, event: Event) -> Iterator[Action]:
        """Delivers what its order allows, once; the reply goes to all, so that each can take over."""
        for ready in self._incoming.take(event):
            if isinstance(ready, Event):
                yield Deliver(ready.notification, ready.hops)
        for broker in self._outgoing:
            yield Send(broker, Accepted(event.stream, event.number))

    # Senders

    def _tell_all(self, message: Numbered) -> list[Action]:
        """Section 6: each of the three brokers gets it."""
        actions: list[Action] = []
        for broker, outgoing in self._outgoing.items():
            numbered = outgoing.number(message)
            outgoing.put(numbered)
            actions += [Send(broker, numbered), *self._expect(broker)]
        return actions

    def _expect(self, broker: NodeId) -> list[Action]:
        return self._watches[broker].expect() if self._outgoing[broker].unaccepted else []

    def _assume_dead(self, broker: NodeId) -> Iterable[Action]:
        """Section 6.4. What it has not accepted, the others have."""
        self._outgoing[broker].unaccepted.clear()
        return [Send(other, AssumedDead(broker)) for other in self._outgoing if other != broker]
