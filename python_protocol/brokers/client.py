"""A client of the broker family: one broker at a time, its filters, and what it could not publish yet.

The thesis, section 2.2, has publishers and subscribers as processes of their own; a client is both of one node. A
publisher without a broker keeps what it publishes, and sends it once it has one. Every copy of a notification that
arrives is delivered, as in the thesis; the trace shows how rare further copies are.

*What a protocol adds.* All protocols of the family have SUB and UNS, and differ in the fields before the filter: none
in Simple Routing (the thesis, table 2.1), the subscriber elsewhere, in MFT-PubSub its timestamp as well. So a protocol
names its two classes (`subscription_types`) and those fields (`_head`). It says what a client tells a broker to which
it comes (`_greet`), and has the handlers of what brokers send.

*What a broker has wrong.* Some protocols have FILTERS, by which a new broker tells a client what it knows of it, and
the client corrects that (the thesis, section 3.2). In the others nobody tells a client what its broker has wrong. There
a `FaithfulClient` repeats what was lost, and says later what it was commanded while it had no broker. What was lost
comes first: a link that is given up carries what was said before the client lost its broker.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from roambus.python_protocol.agent import Process
from roambus.python_protocol.brokers.broker import BrokerParameters, Filters, Pub, Sub, Uns
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import DROP, NodeId


class Client(Process):
    """s_i and p_i of one node, to which a protocol adds the handlers of messages from brokers."""

    publication_type: ClassVar[type[Any]] = Pub
    """The PUB of the protocol."""
    subscription_types: ClassVar[tuple[type[Any], type[Any]]] = (Sub, Uns)
    """The SUB and the UNS of the protocol, whose fields are those of `_head`, and then the filter."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """A client is detached at first."""
        super().__init__()
        self.node = node
        self.broker: NodeId | None = None
        self.filters: dict[Filter, None] = {}
        """The filters are the keys, in the order in which they came."""
        self._is_subscriber = False
        """Whether it has ever subscribed; before that there is nothing to migrate (algorithms 2.3 and 3.2)."""
        self._last_broker: NodeId | None = None
        self._limit = parameters.publisher_buffer
        self._unpublished: list[Notification] = []

    # What the tree and the link report

    def attach(self, broker: NodeId) -> None:
        """A broker is there; it is this client's from now on."""
        last, self._last_broker = self._last_broker, broker
        self.broker = broker
        self._greet(broker, last)
        self._flush()

    def detach(self) -> None:
        """The broker is out of reach."""
        self.broker = None

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Messages did not arrive: what they publish is published again, in its order."""
        lost = [message.notification for message in messages if isinstance(message, self.publication_type)]
        self._unpublished = sorted([*lost, *self._unpublished], key=lambda one: one.id.sequence)
        self._flush()

    # Commands of the application

    def subscribe(self, wanted: Filter) -> None:
        """The application wants what `wanted` matches."""
        if wanted not in self.filters:
            self.filters[wanted] = None
            self._tell_broker(wanted, is_new=True)

    def unsubscribe(self, unwanted: Filter) -> None:
        """The application no longer wants what `unwanted` matches."""
        if unwanted in self.filters:
            del self.filters[unwanted]
            self._tell_broker(unwanted, is_new=False)

    def publish(self, notification: Notification) -> None:
        """The application publishes, at once or as soon as there is a broker."""
        self._unpublished.append(notification)
        self._flush()

    # Messages

    def _deliver(self, notification: Notification, hops: int) -> None:
        if any(one.matches(notification) for one in self.filters):
            self.deliver(notification, hops)
        else:
            self.note(DROP, notification_id=str(notification.id), detail="not subscribed")

    def _correct(self, message: Filters) -> None:
        """Tells the broker what it has wrong, first what it lacks (the thesis, section 3.2)."""
        for one in self.filters:
            if one not in message.filters:
                self._tell_broker(one, is_new=True)
        for one in message.filters:
            if one not in self.filters:
                self._tell_broker(one, is_new=False)

    # Senders

    @abstractmethod
    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        """Sends what the client of a new broker has to tell it; `last` is the broker before, the same one perhaps."""

    def _head(self) -> tuple[Any, ...]:
        """What stands before the filter in a SUB or UNS made now; a protocol that numbers them counts up here."""
        return (self.node,)

    def _subscription(self, about: Filter, *, is_new: bool) -> Message:
        """The SUB for a filter, or its UNS."""
        self._is_subscriber |= is_new
        made: Message = self.subscription_types[0 if is_new else 1](*self._head(), about)
        return made

    def _publication(self, notification: Notification, hops: int) -> Message:
        """The PUB for a notification."""
        return Pub(hops, notification)

    def _tell_broker(self, about: Filter, *, is_new: bool) -> None:
        """Sends a SUB or UNS; without a broker it is not even made, so that no number of it is used up."""
        if self.broker is not None:
            self.send(self.broker, self._subscription(about, is_new=is_new))

    def _subscribe_all(self) -> None:
        for one in self.filters:
            self._tell_broker(one, is_new=True)

    def _flush(self) -> None:
        """Sends what waits for a broker; as long as there is none, only the newest notifications are kept."""
        if self.broker is None:
            dropped, self._unpublished = self._unpublished[: -self._limit], self._unpublished[-self._limit :]
            for one in dropped:
                self.note(DROP, notification_id=str(one.id), detail="publisher has no broker")
            return
        hops = int(self.broker != self.node)
        for one in self._unpublished:
            self.send(self.broker, self._publication(one, hops))
        self._unpublished.clear()


class FaithfulClient(Client):
    """Channels are reliable to the papers: what a link did not carry goes to the next broker, in its order."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing was lost, and nothing waits."""
        super().__init__(node, parameters)
        self._unsaid: list[Message] = []
        self._commands: list[tuple[Filter, bool]] = []
        """Filters that the application has subscribed to (True) or given up without a broker, in its order."""

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Messages did not arrive: subscriptions are sent again, and what they publish is published again."""
        lost = list(messages)
        self._unsaid += [message for message in lost if isinstance(message, self.subscription_types)]
        if self.broker is not None:
            self._say_again(self.broker)
        super().link_broken(lost)

    def _tell_broker(self, about: Filter, *, is_new: bool) -> None:
        """Sends a SUB or UNS; without a broker the next one is told."""
        if self.broker is None:
            self._commands.append((about, is_new))
        super()._tell_broker(about, is_new=is_new)

    def _say_again(self, broker: NodeId) -> None:
        """Sends what was lost to another broker than the last one, or to the same one again."""
        for message in self._take_unsaid():
            self.send(broker, message)

    def _take_commands(self) -> list[tuple[Filter, bool]]:
        """What was commanded without a broker; whoever takes it says it, or what comes of it."""
        commands, self._commands = self._commands, []
        return commands

    def _say_late(self, commands: Iterable[tuple[Filter, bool]]) -> None:
        """Tells the broker what was commanded before there was one."""
        for about, is_new in commands:
            self._tell_broker(about, is_new=is_new)

    def _end_late(self) -> None:
        """Tells the broker what was given up before there was one; its subscriptions will be said as they are."""
        self._say_late((about, is_new) for about, is_new in self._take_commands() if not is_new)

    def _take_unsaid(self) -> list[Message]:
        """What was lost; whoever takes it sends it, or says it in another way."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid
