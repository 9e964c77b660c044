"""The parts that several papers' protocols share: SUB and UNS, the routing table, a broker, and a client.

R_i has entries (f, z, s): notifications that match f go to z for subscriber s (the thesis, table 2.3). A
`ForgetfulBroker` has no queues. A `FaithfulClient` repeats lost messages, then the commands it got without a broker.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

from roambus.python_protocol.agent import Listing, by_first_column
from roambus.python_protocol.brokers.broker import Broker, BrokerParameters, Pub
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId, SubscriberId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP


class _Subscription(Message, notation="{filter} {subscriber}"):
    """Base of SUB and UNS."""

    subscriber: SubscriberId
    filter: Filter


class Sub(_Subscription, tag=1):
    """(SUB, f, s): s subscribes to f (the thesis, algorithms 2.2 and 3.1)."""


class Uns(_Subscription, tag=2):
    """(UNS, f, s): s unsubscribes from f (the thesis, algorithms 2.2 and 3.1)."""


class Entry(NamedTuple):
    """An entry (f, z, s)."""

    filter: Filter
    interface: NodeId
    subscriber: NodeId


class RoutingTable:
    """R_i, in order of arrival."""

    def __init__(self) -> None:
        self._interfaces: dict[tuple[Filter, NodeId], NodeId] = {}

    def __iter__(self) -> Iterator[Entry]:
        return (Entry(wanted, z, s) for (wanted, s), z in self._interfaces.items())

    def add(self, wanted: Filter, interface: NodeId, subscriber: NodeId) -> None:
        """Add (f, z, s), unless there is an (f, -, s)."""
        self._interfaces.setdefault((wanted, subscriber), interface)

    def remove(self, unwanted: Filter, subscriber: NodeId) -> None:
        """Remove any (f, -, s)."""
        self._interfaces.pop((unwanted, subscriber), None)

    def replace(self, subscriber: NodeId, interface: NodeId) -> None:
        """Replace each (-, -, s) with (-, z, s)."""
        for entry in self:
            if entry.subscriber == subscriber:
                self._interfaces[entry.filter, subscriber] = interface

    def forget_all_but(self, subscribers: Container[NodeId]) -> None:
        """Remove each (-, -, s) of other subscribers."""
        for entry in [entry for entry in self if entry.subscriber not in subscribers]:
            self.remove(entry.filter, entry.subscriber)

    def filters(self, subscriber: NodeId) -> tuple[Filter, ...]:
        """The f of each (f, -, s)."""
        return tuple(entry.filter for entry in self if entry.subscriber == subscriber)

    def interfaces(self, subscriber: NodeId) -> list[NodeId]:
        """The different z of each (-, z, s); several only while messages about s travel."""
        return list(dict.fromkeys(entry.interface for entry in self if entry.subscriber == subscriber))

    def subscribers(self) -> list[NodeId]:
        """The different s of all entries."""
        return list(dict.fromkeys(entry.subscriber for entry in self))

    def matching(self, notification: Notification) -> dict[NodeId, list[NodeId]]:
        """The different y of each (f, y, -) with f(e), each with its s."""
        found: dict[NodeId, list[NodeId]] = {}
        for entry in self:
            if entry.filter.matches(notification):
                subscribers = found.setdefault(entry.interface, [])
                if entry.subscriber not in subscribers:
                    subscribers.append(entry.subscriber)
        return found

    def ways(self, _: SimTime) -> dict[NodeId, tuple[NodeId, ...]]:
        """Each subscriber's next hops, as explorations read them."""
        return {subscriber: tuple(self.interfaces(subscriber)) for subscriber in self.subscribers()}

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """Return a broker's table, as printed in the thesis, table 2.3."""
        rows = ((names.filter(f), names.interface(z, broker), names.subscriber(s)) for f, z, s in self)
        return by_first_column(("Filter", "Interface", "Subscriber"), rows)


class ForgetfulBroker(Broker):
    """b_i of a protocol without queues, which drops unsendable messages."""

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """Drop the notifications of a broken link."""
        super().link_broken(interface, messages)
        for message in messages:
            if isinstance(message, Pub):
                self._drop(message, interface)

    def send_pub(self, pub: Pub, interface: NodeId) -> None:
        """Pass a PUB to a present interface."""
        if self.reaches(interface):
            self.send(interface, pub.replaced(hops=self.radio_hops(pub.hops, interface)))
        else:
            self._drop(pub, interface)

    def _drop(self, pub: Pub, interface: NodeId) -> None:
        self.note(DROP, notification_id=str(pub.notification.id), peer=interface, detail="no link")


class FaithfulClient(Client):
    """Channels are reliable to the papers: undelivered messages go to the next broker, in order."""

    subscription_types: ClassVar[tuple[type[Any], type[Any]]] = (Sub, Uns)

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """Begin with nothing lost or waiting."""
        super().__init__(node, parameters)
        self._undelivered: list[Message] = []
        self._commands: list[tuple[Filter, bool]] = []
        """Filters subscribed to (True) or given up without a broker, in order."""

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Send undelivered subscriptions and notifications again."""
        lost = list(messages)
        self._undelivered += [message for message in lost if isinstance(message, self.subscription_types)]
        if self.broker is not None:
            self._resend(self.broker)
        super().link_broken(lost)

    def _send_subscription(self, about: Filter, *, is_new: bool) -> None:
        """Send a SUB or UNS, or keep the command for the next broker."""
        if self.broker is None:
            self._commands.append((about, is_new))
        super()._send_subscription(about, is_new=is_new)

    def _resend(self, broker: NodeId) -> None:
        """Send undelivered messages to a broker, new or the same."""
        for message in self._take_undelivered():
            self.send(broker, message)

    def _take_commands(self) -> list[tuple[Filter, bool]]:
        """Take out the commands given without a broker."""
        commands, self._commands = self._commands, []
        return commands

    def _send_commands(self, commands: Iterable[tuple[Filter, bool]]) -> None:
        """Send the commands given without a broker."""
        for about, is_new in commands:
            self._send_subscription(about, is_new=is_new)

    def _send_withdrawals(self) -> None:
        """Unsubscribe from filters given up without a broker; subscriptions follow unchanged."""
        self._send_commands((about, is_new) for about, is_new in self._take_commands() if not is_new)

    def _take_undelivered(self) -> list[Message]:
        """Take out undelivered messages."""
        unsaid, self._undelivered = self._undelivered, []
        return unsaid
