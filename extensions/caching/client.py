"""A client that detaches and returns, perhaps to another broker; and caching on a node (section 4).

It detaches by a REQUEST with its own id, and delivers arrivals until the link goes. It returns by SUBs, then a REQUEST,
so that each link has the subscription before the old broker gives up its own. Away, it keeps publications and changes
of filters. Without detaching it subscribes elsewhere like a new client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from roambus.extensions.caching.broker import Broker
from roambus.extensions.caching.cache import ANSWER, CACHE, FORGET, CachingParameters
from roambus.extensions.caching.subscriptions import NUMBERS, Request, Response
from roambus.python_protocol.agent import Recent, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.anonymous import Client as AnonymousClient
from roambus.python_protocol.brokers.anonymous import Sub, Uns
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP


class Client(AnonymousClient):
    """A subscriber and publisher of one node."""

    def __init__(self, node: NodeId, parameters: CachingParameters) -> None:
        """The client is connected, and nothing is kept for it."""
        super().__init__(node, parameters)
        self._parameters = parameters
        self._near: NodeId | None = None
        self._is_away = False
        self._left: NodeId | None = None
        self._known: dict[NodeId, tuple[Filter, ...]] = {}
        """The client's filters at each former broker."""
        self._number = 0
        self._received = Recent(parameters.remembered)

    # Messages

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """Take a notification on its first way."""
        self._deliver_once(pub.notification, pub.hops)

    @on(Response)
    def receive_old(self, message: Response, broker: NodeId, now: SimTime) -> None:
        """Take an old message; the trace counts requested ones only."""
        if not message.kept:
            self.note(ANSWER, notification_id=str(message.notification.id), detail=str(message.number))
        self._deliver_once(message.notification, message.hops)

    def _deliver_once(self, notification: Notification, hops: int) -> None:
        """Drop earlier deliveries (`deliver_once`); unwanted messages may be wanted later."""
        # Only what is wanted is remembered: `_deliver` drops the rest, and a filter that comes later may ask for it.
        is_wanted = any(wanted.matches(notification) for wanted in self.filters)
        if self._parameters.deliver_once and is_wanted and not self._received.add(notification.id):
            self.note(DROP, notification_id=str(notification.id), detail="received already")
        else:
            self._deliver(notification, hops)

    # Where it is

    def attach(self, broker: NodeId) -> None:
        """Take a broker, unless away and only looking."""
        self._near = broker
        if not self._is_away:
            super().attach(broker)

    def detach(self) -> None:
        """Lose the broker."""
        self._near = None
        super().detach()

    def leave(self) -> None:
        """Leave the broker on purpose (section 4); remember its filters."""
        if self.broker is not None and not self._parameters.mobility_support:
            for wanted in self.filters:
                self.send(self.broker, Uns(wanted))
        elif self.broker is not None and (self.filters or self._known):
            self._left, self._known[self.broker] = self.broker, tuple(self.filters)
            self._request(self.broker, client=self.node)
        self._is_away = True
        self.broker = None

    def come_back(self) -> None:
        """Return, to the broker in reach or the next."""
        self._is_away = False
        if self._near is not None and self.broker is None:
            self.attach(self._near)

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Repeat undelivered messages and the return."""
        # A return that was lost is made again from the beginning, at whichever broker is there next.
        lost = list(messages)
        for message in lost:
            if isinstance(message, Request) and message.broker is not None:
                self._left = message.broker
                self._known.setdefault(message.broker, message.filters)
        super().link_broken(lost)

    # Commands of the application

    def subscribe(self, wanted: Filter) -> None:
        """Subscribe; with `request_old` ask for earlier messages."""
        is_new = wanted not in self.filters
        super().subscribe(wanted)
        if is_new:
            self._ask([wanted])

    # Senders

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        if self._left is not None:
            self._take_commands()  # `_return` says what comes of them, and of what was lost
            self._take_undelivered()
            self._return(broker, self._left)
        else:
            self._resend(broker)
            if broker == last:  # an UNS at another broker could end somebody else's subscription
                self._send_withdrawals()
            self._take_commands()
            self._subscribe_all()
            self._ask(self.filters)

    def _return(self, broker: NodeId, left: NodeId) -> None:
        """Send changed filters, then the REQUEST; older brokers may miss later moves."""
        asked = self._filters_at(left)
        known = self._known.pop(broker, ())
        for wanted in self.filters:
            if wanted not in known or broker != left:
                self.send(broker, Sub(wanted))
        for filter_ in known:
            if filter_ not in self.filters:
                self.send(broker, Uns(filter_))
        self._left = None
        self._request(broker, client=self.node, left=left, filters=asked)

    def _filters_at(self, left: NodeId) -> tuple[Filter, ...]:
        """Return a broker's filters without those given up since ("or part of them").

        At least one, where the request has to follow subscriptions.
        """
        known = self._known.get(left, ())
        wanted = tuple(filter_ for filter_ in known if filter_ in self.filters)
        return wanted if wanted or self._parameters.find_left else known

    def _ask(self, filters: Iterable[Filter]) -> None:
        """Ask for matching old messages (`request_old`, section 3.2)."""
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
    """Caching and mobility support, with any combination of roles on a node."""

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
