"""A client of the family: one broker at a time, its filters, and what it could not publish yet.

The thesis, section 2.2, has publishers and subscribers as processes of their own; a client is both of one node. A
publisher without a broker keeps what it publishes, and sends it once it has one. Every copy of a notification that
arrives is delivered, as in the thesis; the trace shows how rare further copies are.

Some protocols have FILTERS, by which a new broker tells a client what it knows of it, and the client corrects that. In
the others nobody tells a client what its broker has wrong. There a `FaithfulClient` says again what was lost, and says
later what it was commanded while it had no broker. What was lost comes first: a link that is given up carries what was
said before the client lost its broker.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from roambus.python_protocol.actions import DROP
from roambus.python_protocol.agent import Process
from roambus.python_protocol.brokers.broker import BrokerParameters, Filters, Pub, Sub, Uns
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import NodeId


class Client(Process):
    """s_i and p_i of one node, to which a protocol adds the handlers of messages from brokers."""

    publication_type: ClassVar[type[Any]] = Pub
    """The PUB of the protocol."""
    said_again: ClassVar[tuple[type[Any], type[Any]]] = (Sub, Uns)
    """The SUB and the UNS of the protocol, whose fields are those of `_head`, and then the filter."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """A client is detached at first."""
        super().__init__()
        self.node = node
        self.broker: NodeId | None = None
        self.filters: dict[Filter, None] = {}
        """The filters are the keys, in the order in which they came."""
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
        """Messages did not arrive: what they publish is published anew, in its order."""
        lost = [message.notification for message in messages if isinstance(message, self.publication_type)]
        self._unpublished = sorted([*lost, *self._unpublished], key=lambda one: one.id.sequence)
        self._flush()
        self._drop_overflow()

    # Commands of the application

    def subscribe(self, wanted: Filter) -> None:
        """The application wants what `wanted` matches."""
        if wanted not in self.filters:
            self.filters[wanted] = None
            self._tell_broker(self._subscription, wanted)

    def unsubscribe(self, unwanted: Filter) -> None:
        """The application no longer wants what `unwanted` matches."""
        if unwanted in self.filters:
            del self.filters[unwanted]
            self._tell_broker(self._unsubscription, unwanted)

    def publish(self, notification: Notification) -> None:
        """The application publishes."""
        self._unpublished.append(notification)
        self._flush()
        self._drop_overflow()

    # Messages

    def _deliver(self, notification: Notification, hops: int) -> None:
        if any(one.matches(notification) for one in self.filters):
            self.deliver(notification, hops)
        else:
            self.note(DROP, notification_id=str(notification.id), detail="not subscribed")

    def _mend(self, message: Filters) -> None:
        """Corrects what the broker has wrong (the thesis, section 3.2)."""
        for one in self.filters:
            if one not in message.filters:
                self._tell_broker(self._subscription, one)
        for one in message.filters:
            if one not in self.filters:
                self._tell_broker(self._unsubscription, one)

    # Senders

    @abstractmethod
    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        """Sends what the client of a new broker has to tell it; `last` is the broker before, the same one perhaps."""

    def _head(self) -> tuple[Any, ...]:
        """What stands before the filter in a SUB or UNS made now; a protocol that numbers them counts up here."""
        return (self.node,)

    def _subscription(self, wanted: Filter) -> Message:
        """The SUB for a filter."""
        made: Message = self.said_again[0](*self._head(), wanted)
        return made

    def _unsubscription(self, unwanted: Filter) -> Message:
        """The UNS for a filter."""
        made: Message = self.said_again[1](*self._head(), unwanted)
        return made

    def _publication(self, notification: Notification, hops: int) -> Message:
        """The PUB for a notification."""
        return Pub(hops, notification)

    def _tell_broker(self, make: Callable[[Filter], Message], about: Filter) -> None:
        """Makes and sends a message about a filter; without a broker it is not even made."""
        if self.broker is not None:
            self.send(self.broker, make(about))

    def _subscribe_all(self) -> None:
        for one in self.filters:
            self._tell_broker(self._subscription, one)

    def _flush(self) -> None:
        if self.broker is None:
            return
        hops = int(self.broker != self.node)
        for one in self._unpublished:
            self.send(self.broker, self._publication(one, hops))
        self._unpublished.clear()

    def _drop_overflow(self) -> None:
        """Keeps the newest notifications that wait for a broker."""
        dropped, self._unpublished = self._unpublished[: -self._limit], self._unpublished[-self._limit :]
        for one in dropped:
            self.note(DROP, notification_id=str(one.id), detail="publisher has no broker")


class FaithfulClient(Client):
    """Channels are reliable to the papers: what a link did not carry goes to the next broker, in its order."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing was lost, and nothing waits."""
        super().__init__(node, parameters)
        self._unsaid: list[Message] = []
        self._commands: list[Subscribe | Unsubscribe] = []
        """What the application has commanded while there was no broker, in its order."""

    def subscribe(self, wanted: Filter) -> None:
        """The application wants what `wanted` matches; without a broker the next one will be told."""
        if self.broker is None and wanted not in self.filters:
            self._commands.append(Subscribe(wanted))
        super().subscribe(wanted)

    def unsubscribe(self, unwanted: Filter) -> None:
        """The application no longer wants what `unwanted` matches; without a broker the next one will be told."""
        if self.broker is None and unwanted in self.filters:
            self._commands.append(Unsubscribe(unwanted))
        super().unsubscribe(unwanted)

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Messages did not arrive: subscriptions are said again, and what they publish is published anew."""
        lost = list(messages)
        self._unsaid += [message for message in lost if isinstance(message, self.said_again)]
        if self.broker is not None:
            self._say_again(self.broker)
        super().link_broken(lost)

    def _say_again(self, broker: NodeId) -> None:
        """Sends what was lost to another broker than the last one, or to the same one again."""
        for message in self._take_unsaid():
            self.send(broker, message)

    def _take_commands(self) -> list[Subscribe | Unsubscribe]:
        """What was commanded without a broker; whoever takes it says it, or what comes of it."""
        commands, self._commands = self._commands, []
        return commands

    def _say_late(self, commands: Iterable[Subscribe | Unsubscribe]) -> None:
        """Tells the broker what was commanded before there was one."""
        for command in commands:
            is_new = isinstance(command, Subscribe)
            self._tell_broker(self._subscription if is_new else self._unsubscription, command.filter)

    def _end_late(self) -> None:
        """Tells the broker what was given up before there was one; its subscriptions will be said as they are."""
        self._say_late(one for one in self._take_commands() if isinstance(one, Unsubscribe))

    def _take_unsaid(self) -> list[Message]:
        """What was lost; whoever takes it sends it, or says it in another way."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid
