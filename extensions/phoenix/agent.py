"""Phoenix on a node, and its clients: as published, and with numbered migrations.

A moved subscriber's MIG carries the timestamp of its last notification, or 0; a numbered MIG begins a stay. The
`Sorter` orders by ticks within a stay, by TURNs between stays. `ts_last` ends the unbroken row: notifications behind a
gap may come again. SimulatorKeys `hold_limit` missing ones count as lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count

from roambus.extensions.phoenix.broker import (
    NEVER,
    Broker,
    Mig,
    NumberedSub,
    NumberedUns,
    PhoenixParameters,
    Pub,
    Rep,
    Stamp,
    Turn,
)
from roambus.extensions.phoenix.numbered import NumberedBroker
from roambus.python_protocol.agent import Recent, on
from roambus.python_protocol.brokers.agent import BrokerAgent
from roambus.python_protocol.brokers.broker import BrokerParameters
from roambus.python_protocol.brokers.routing import FaithfulClient, Sub, Uns
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP


class Client(FaithfulClient):
    """s_i and p_i of one node (algorithm 2.3)."""

    publication_type = Pub

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """The client has received nothing."""
        super().__init__(node, parameters)
        self._last = NEVER

    @on(Pub, Rep)
    def receive(self, message: Pub | Rep, broker: NodeId, now: SimTime) -> None:
        """Take a notification, published or replayed."""
        self._last = max(self._last, message.stamp)
        self._deliver(message.notification, message.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        unsaid, commands = self._take_undelivered(), self._take_commands()
        # Before its first SUB, or with the first broker of all, there is no queue to ask for. All filters are said, and
        # with them whatever was lost or commanded meanwhile.
        if not self._is_subscriber or last is None:
            self._subscribe_all()
            return
        # The MIG goes first: what follows it by the same way was said in the stay that it begins.
        self._migrate(broker, last)
        for message in unsaid:
            self.send(broker, message)
        self._send_commands(commands)

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        self.send(broker, Mig(self.node, last, self._last))
        self._last = NEVER

    def _publication(self, notification: Notification, hops: int) -> Pub:
        return Pub(NEVER, hops, (), notification)


Arrived = Pub | Rep | Turn


class Sorter:
    """Holds notifications until their turn by ticks and TURNs."""

    def __init__(self, limit: int) -> None:
        """Holds at most `limit` back."""
        self._limit = limit
        self.has_given_up = False
        """Whether the last message made it stop waiting."""
        self._begun = 0
        """Earlier stays are not waited for."""
        self._void = 0
        """Notifications of earlier stays are not wanted."""
        self._current = 0
        self._ticks: Counter[int] = Counter()
        """The last tick delivered in each stay."""
        self._following: dict[int, int] = {}
        """The stay after each one that is over."""
        self._held: dict[Stamp, Arrived] = {}

    @property
    def last(self) -> Stamp:
        """ts_last: everything up to here was delivered.

        It belongs to the first stay that may not be over: later ones are only held.
        """
        first = next(stay for stay in count(self._begun) if stay not in self._following)
        return Stamp(first, self._ticks[first])

    def cancel(self, stay: int) -> list[Pub | Rep]:
        """Skip a stay unknown to all brokers; return due notifications."""
        self._following[stay] = stay + 1
        self._current = self._resolve(self._current)
        return self._advance()

    def restart(self, stay: int) -> None:
        """Begin afresh: nothing under way is wanted."""
        self._skip_to(stay)
        self._void = stay

    def is_void(self, stamp: Stamp) -> bool:
        """Whether a notification precedes the last fresh start."""
        return stamp.stay < self._void

    def _skip_to(self, stay: int) -> None:
        self._held.clear()
        self._following.clear()
        self._begun = self._current = stay

    def add(self, arrived: Arrived) -> list[Pub | Rep]:
        """Take a message; return the due notifications in order."""
        stamp = arrived.stamp
        # A stay that is over was delivered up to its TURN. What comes of it nevertheless was given up before; the
        # client's memory of what it has received tells whether it is new.
        if stamp.stay < self._begun or stamp.stay in self._following:
            return [] if isinstance(arrived, Turn) else [arrived]
        if stamp.tick <= self._ticks[stamp.stay]:  # a REP of what came as a PUB before
            return []
        self._held[stamp] = arrived
        self.has_given_up = len(self._held) > self._limit
        return self._give_up() if self.has_given_up else self._advance()

    def _advance(self) -> list[Pub | Rep]:
        released: list[Pub | Rep] = []
        while (stamp := Stamp(self._current, self._ticks[self._current] + 1)) in self._held:
            arrived = self._held.pop(stamp)
            self._ticks[self._current] += 1
            if not isinstance(arrived, Turn):
                released.append(arrived)
                continue
            if arrived.over:
                self._following[self._current] = arrived.following
            self._current = self._resolve(arrived.following)
        return released

    def _resolve(self, stay: int) -> int:
        """Return a stay, or its successor if over; stays can be empty."""
        stay = max(stay, self._begun)
        while stay in self._following:
            stay = self._following[stay]
        return stay

    def _give_up(self) -> list[Pub | Rep]:
        """Stop waiting for missing ones; return the others in order."""
        held = [self._held[stamp] for stamp in sorted(self._held)]
        last = max(self._held)
        self._skip_to(last.stay)
        self._ticks[last.stay] = last.tick
        return [arrived for arrived in held if not isinstance(arrived, Turn)]


class NumberedClient(Client):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """The first stay has the number 0."""
        super().__init__(node, parameters)
        self._stay = 0
        self._is_numbered = parameters.number_commands
        self._said = 0
        """The number of the last SUB or UNS."""
        self._first: Filter | None = None
        """The filter of the first SUB."""
        self._times = 0
        """SUBs that are not known to be lost."""
        self._sorter = Sorter(parameters.hold_limit)
        self._received = Recent(parameters.remembered)

    @on(Pub, Rep, Turn)
    def receive(self, message: Pub | Rep | Turn, broker: NodeId, now: SimTime) -> None:
        """Deliver notifications whose turn has come."""
        if not self._sorter.is_void(message.stamp):
            self._deliver_all(self._sorter.add(message))
            if self._sorter.has_given_up:
                self._sorter.has_given_up = False
                self.note(DROP, message_type=Pub.message_type, detail="earlier ones are waited for no longer")
        elif not isinstance(message, Turn):
            self.note(DROP, notification_id=str(message.notification.id), detail="of a stay without subscriptions")

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Repeat undelivered messages; a lost MIG makes no stay."""
        lost = list(messages)
        cancelled = [message.stay for message in lost if isinstance(message, Mig)]
        # What was said first begins stay 0 wherever it arrives first. It may have been said at several brokers, so it
        # counts how often it may have arrived, and stay 0 is there as long as that is not 0.
        if first := self._count_first(lost):
            self._times -= first
            if self._times <= 0:  # no broker has heard it; the same filter may have been subscribed to again since
                cancelled += self._forget_first()
        super().link_broken(lost)
        for stay in cancelled:
            self._deliver_all(self._sorter.cancel(stay))

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        self._stay += 1
        if not self.filters:  # what brokers keep from before is not wanted, so the MIG asks for nothing of it
            self._sorter.restart(self._stay)
        self.send(broker, Mig(self.node, last, self._sorter.last, self._stay))

    def _subscription(self, about: Filter, *, is_new: bool) -> Message:
        message = super()._subscription(about, is_new=is_new)
        if is_new:
            self._first = about if self._first is None else self._first
            self._times += about == self._first
        if not self._is_numbered:
            return message
        self._said = (self._said + 1) % 2**32
        return (NumberedSub if is_new else NumberedUns)(self.node, about, self._said)

    def _count_first(self, messages: Iterable[Message]) -> int:
        """Count the SUBs of the first filter."""
        return sum(isinstance(message, Sub) and message.filter == self._first for message in messages)

    def _take_undelivered(self) -> list[Message]:
        unsaid = super()._take_undelivered()
        self._times += self._count_first(unsaid)
        return unsaid

    def _forget_first(self) -> list[int]:
        """Skip stay 0 if the first SUB was lost: there is nothing to migrate."""
        if self._stay > 0:
            return [0]
        self._first, self._times = None, 0
        self._is_subscriber = False
        return []

    def _deliver_all(self, released: Iterable[Pub | Rep]) -> None:
        for message in released:
            notification = message.notification
            if self._received.add(notification.id):
                self._deliver(notification, message.hops)
            else:
                self.note(DROP, notification_id=str(notification.id), detail="received before")


class Phoenix(BrokerAgent):
    """Phoenix, for clients that move among static brokers, with any combination of roles on a node."""

    parameters: PhoenixParameters
    broker_type = NumberedBroker
    client_type = NumberedClient
    migration_messages = (Sub, Uns, Mig, NumberedSub, NumberedUns, Turn)

    def _make_broker(self) -> Broker:
        return (NumberedBroker if self.parameters.number_migrations else Broker)(self.node, self.parameters)

    def _make_client(self) -> Client:
        return (NumberedClient if self.parameters.number_migrations else Client)(self.node, self.parameters)
