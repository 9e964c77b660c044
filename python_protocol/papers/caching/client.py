"""A client that detaches and comes back, perhaps at another broker; and caching on a node (section 4).

- *It detaches by a REQUEST with its own id*, and is on its way from then on; what its broker still sends it before the
  link goes is delivered.
- *It comes back by SUB for each filter, then a REQUEST* for what was kept at its old broker: in this order, so that the
  subscription is on each link before the old broker gives up its own, and nothing is lost between.
- *While it is on its way it keeps what it publishes*; filters that it adds or gives up count when it is back.
- *Without having said so it cannot leave*: found at another broker, it subscribes there again, as a new client would.

A client remembers which filters it had at each broker that it has left, because that broker keeps a subscription of it
until its REQUEST has come there. A client that is fast can be at a third broker by then, or back at the first; it then
withdraws at the broker where it is what that still has of an earlier visit, and asks for what it has left last.

With `mobility_support` off it leaves as a client would in a network without caches: it unsubscribes, and subscribes
again when it is back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from roambus.python_protocol.agent import Recent, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.papers.caching.broker import Broker
from roambus.python_protocol.papers.caching.cache import ANSWER, CACHE, FORGET, CachingParameters
from roambus.python_protocol.papers.caching.subscriptions import NUMBERS, Request, Response
from roambus.python_protocol.papers.simple import Client as SimpleClient
from roambus.python_protocol.papers.simple import Sub, Uns
from roambus.python_protocol.vocabulary import DROP, NodeId, SimTime


class Client(SimpleClient):
    """A subscriber and a publisher of one node, which says what a client of Simple Routing says, and more."""

    def __init__(self, node: NodeId, parameters: CachingParameters) -> None:
        """The client is not on its way, and nothing is kept for it."""
        super().__init__(node, parameters)
        self._parameters = parameters
        self._near: NodeId | None = None
        self._is_away = False
        self._left: NodeId | None = None
        self._known: dict[NodeId, tuple[Filter, ...]] = {}
        """The filters that the client had at each broker that it has left."""
        self._number = 0
        self._received = Recent(parameters.remembered)

    # Messages

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived when it was published."""
        self._deliver_once(pub.notification, pub.hops)

    @on(Response)
    def receive_old(self, message: Response, broker: NodeId, now: SimTime) -> None:
        """An old message has arrived; the trace tells what a request brings, of which what was kept is no part."""
        if not message.kept:
            self.note(ANSWER, notification_id=str(message.notification.id), detail=str(message.number))
        self._deliver_once(message.notification, message.hops)

    def _deliver_once(self, notification: Notification, hops: int) -> None:
        """By `deliver_once`, drops what was delivered before; what is not wanted now may be wanted later."""
        # Only what is wanted is remembered: `_deliver` drops the rest, and a filter that comes later may ask for it.
        is_wanted = any(one.matches(notification) for one in self.filters)
        if self._parameters.deliver_once and is_wanted and not self._received.add(notification.id):
            self.note(DROP, notification_id=str(notification.id), detail="received already")
        else:
            self._deliver(notification, hops)

    # Where it is

    def attach(self, broker: NodeId) -> None:
        """A broker is there; it is this client's from now on, unless the client is on its way and only looks."""
        self._near = broker
        if not self._is_away:
            super().attach(broker)

    def detach(self) -> None:
        """The broker is out of reach."""
        self._near = None
        super().detach()

    def leave(self) -> None:
        """The application leaves its broker on purpose (section 4), and keeps in mind which filters it had there."""
        if self.broker is not None and not self._parameters.mobility_support:
            for one in self.filters:
                self.send(self.broker, Uns(one))
        elif self.broker is not None and (self.filters or self._known):
            self._left, self._known[self.broker] = self.broker, tuple(self.filters)
            self._request(self.broker, client=self.node)
        self._is_away = True
        self.broker = None

    def come_back(self) -> None:
        """The application is back, at the broker that is near or the next one that will be."""
        self._is_away = False
        if self._near is not None and self.broker is None:
            self.attach(self._near)

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Messages did not arrive: what they say is said again, and also that the client is back."""
        # A return that was lost is made again from the beginning, at whichever broker is there next.
        lost = list(messages)
        for one in lost:
            if isinstance(one, Request) and one.broker is not None:
                self._left = one.broker
                self._known.setdefault(one.broker, one.filters)
        super().link_broken(lost)

    # Commands of the application

    def subscribe(self, wanted: Filter) -> None:
        """The application wants what `wanted` matches; with `request_old` also what was published before."""
        is_new = wanted not in self.filters
        super().subscribe(wanted)
        if is_new:
            self._ask([wanted])

    # Senders

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._left is not None:
            self._take_commands()  # `_return` says what comes of them, and of what was lost
            self._take_unsaid()
            self._return(broker, self._left)
        else:
            self._say_again(broker)
            if broker == last:  # an UNS at another broker could end somebody else's subscription
                self._end_late()
            self._take_commands()
            self._subscribe_all()
            self._ask(self.filters)

    def _return(self, broker: NodeId, left: NodeId) -> None:
        """Sends SUB and UNS for what the broker does not know of, and then the REQUEST for what was kept.

        A broker that was left earlier may not know yet that the client has gone on since.
        """
        asked = self._filters_at(left)
        known = self._known.pop(broker, ())
        for one in self.filters:
            if one not in known or broker != left:
                self.send(broker, Sub(one))
        for one in known:
            if one not in self.filters:
                self.send(broker, Uns(one))
        self._left = None
        self._request(broker, client=self.node, left=left, filters=asked)

    def _filters_at(self, left: NodeId) -> tuple[Filter, ...]:
        """The filters that the client had at a broker, without what it has given up since ("or part of them").

        If nothing of them is left, the request needs them nevertheless where it follows subscriptions.
        """
        known = self._known.get(left, ())
        wanted = tuple(one for one in known if one in self.filters)
        return wanted if wanted or self._parameters.find_left else known

    def _ask(self, filters: Iterable[Filter]) -> None:
        """By `request_old`, asks for old messages that match any of the filters (section 3.2)."""
        asked = tuple(filters)
        if asked and self._parameters.request_old and self.broker is not None:
            self._request(self.broker, filters=asked)

    def _request(
        self,
        broker: NodeId,
        *,
        client: NodeId | None = None,
        left: NodeId | None = None,
        filters: tuple[Filter, ...] = (),
    ) -> None:
        self._number = (self._number + 1) % NUMBERS
        self.send(broker, Request(self._number, client, left, filters, (self.node,)))


class Caching(BrokerAgent):
    """Caches at brokers and support for clients that move, with any combination of roles on a node."""

    parameters: CachingParameters
    broker_type = Broker
    client_type = Client
    client: Client
    migration_messages = (Sub, Uns, Request, Response)
    own_notes: ClassVar[Mapping[str, str]] = {
        CACHE: "{node} caches {subject}",
        FORGET: "{node} forgets {subject} ({detail})",
        ANSWER: "",
    }

    @on(Detach)
    def detach(self, _: Detach, now: SimTime) -> None:
        """The application leaves its broker on purpose."""
        self.client.leave()
        self._carry_out_client(now)

    @on(Attach)
    def attach(self, _: Attach, now: SimTime) -> None:
        """The application is back."""
        self.client.come_back()
        self._carry_out_client(now)
