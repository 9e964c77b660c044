"""A client that detaches and comes back, perhaps at another broker (001, section 4).

- *It detaches by a REQUEST with its own id*, and is on its way from then on; what its broker still sends it before the
  link goes is delivered.
- *It comes back by SUB for each filter, then a REQUEST* for what was kept at its old broker: in this order, so that the
  subscription is on each link before the old broker gives up its own, and nothing is lost between.
- *While it is on its way it keeps what it publishes*; filters that it takes up or gives up count when it is back.
- *Without having said so it cannot leave*: found at another broker, it subscribes there anew, as a new client would.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.actions import Action, Deliver, Note, Send
from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.caching.messages import Request, Response
from roambus.python_protocol.caching.parameters import CachingParameters
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import ANSWER, DROP
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns

_NUMBERS = 1 << 16


class Client(FaithfulClient):
    """See `brokers.client.Client`."""

    said_again = (Sub, Uns)

    def __init__(self, node: NodeId, parameters: CachingParameters) -> None:
        """See `brokers.client.Client`."""
        super().__init__(node, parameters)
        self._parameters = parameters
        self._near: NodeId | None = None
        self._is_away = False
        self._left: NodeId | None = None
        self._kept: tuple[Filter, ...] = ()
        self._number = 0
        self._received = Recent(parameters.remembered)

    # Where it is

    def attach(self, broker: NodeId) -> list[Action]:
        """See `brokers.client.Client`; on its way it only looks."""
        self._near = broker
        return [] if self._is_away else super().attach(broker)

    def detach(self) -> None:
        """See `brokers.client.Client`."""
        self._near = None
        super().detach()

    def leave(self) -> list[Action]:
        """The application leaves its broker on purpose (section 4)."""
        actions = self._say_goodbye() if self.broker is not None else []
        self._is_away = True
        self.broker = None
        return actions

    def come_back(self) -> list[Action]:
        """The application is back, at the broker that is near or the next one that will be."""
        self._is_away = False
        return [] if self._near is None or self.broker is not None else self.attach(self._near)

    def link_broken(self, messages: Iterable[Message]) -> list[Action]:
        """See `brokers.client.Client`; that it is back it says again."""
        lost = list(messages)
        for one in lost:
            if isinstance(one, Request) and one.broker is not None:
                self._left, self._kept = one.broker, one.filters
        return super().link_broken(lost)

    # Commands of the application

    def subscribe(self, wanted: Filter) -> list[Action]:
        """See `brokers.client.Client`; with `request_old` it asks for what was published before."""
        is_new = wanted not in self.filters
        actions = super().subscribe(wanted)
        return [*actions, *self._ask([wanted])] if is_new else actions

    # Messages

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        match message:
            case Pub():
                return self._take(message.notification, message.hops)
            case Response():
                return [*self._note_answer(message), *self._take(message.notification, message.hops)]
        return []

    def _take(self, message: Notification, hops: int) -> list[Action]:
        actions = self._deliver(message, hops)
        if not self._parameters.deliver_once or not isinstance(actions[0], Deliver) or self._received.add(message.id):
            return actions
        return [Note(DROP, notification_id=str(message.id), detail="received already")]

    def _note_answer(self, response: Response) -> list[Action]:
        """For the trace: what a request for old messages brings. What was kept is no answer to one."""
        if response.kept:
            return []
        return [Note(ANSWER, notification_id=str(response.notification.id), detail=str(response.number))]

    # Senders

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:  # noqa: ARG002  # the same at every broker
        if self._left is not None:
            return self._return(broker, self._left)
        return [*self._say_again(broker), *self._subscribe_all(), *self._ask(self.filters)]

    def _say_goodbye(self) -> list[Action]:
        """Keeps in mind where it was, and with what filters."""
        if not self._parameters.mobility_support:
            return [action for one in self.filters for action in self._tell_broker(self._unsubscription, one)]
        if not self.filters:
            return []
        self._left, self._kept = self.broker, tuple(self.filters)
        return self._request((), client=self.node)

    def _return(self, broker: NodeId, left: NodeId) -> list[Action]:
        """SUB and UNS for what the broker does not know of, then the REQUEST."""
        known = self._kept if broker == left else ()
        actions = [Send(broker, Sub(one)) for one in self.filters if one not in known]
        actions += [Send(broker, Uns(one)) for one in known if one not in self.filters]
        self._left = None
        return [*actions, *self._request(self._kept, client=self.node, broker=left)]

    def _ask(self, filters: Iterable[Filter]) -> list[Action]:
        """For old messages, if it wants any (section 3.2)."""
        asked = tuple(filters)
        return self._request(asked) if asked and self._parameters.request_old else []

    def _request(
        self, filters: tuple[Filter, ...], client: NodeId | None = None, broker: NodeId | None = None
    ) -> list[Action]:
        if self.broker is None:
            return []
        self._number = (self._number + 1) % _NUMBERS
        return [Send(self.broker, Request(self._number, filters, (self.node,), client, broker))]

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted)
