"""A client of Phoenix that numbers its migrations, and delivers in order (see `numbered_broker`)."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.phoenix import client
from roambus.python_protocol.phoenix.messages import Mig, Pub, Rep, Turn
from roambus.python_protocol.phoenix.parameters import PhoenixParameters
from roambus.python_protocol.phoenix.sorter import Sorter
from roambus.python_protocol.roles import NodeId


class NumberedClient(client.Client):
    """See `brokers.client.Client`."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """See `brokers.client.Client`."""
        super().__init__(node, parameters)
        self._stay = 0
        self._first: Message | None = None
        self._sorter = Sorter(parameters.hold_limit)
        self._received = Recent(parameters.remembered)

    def receive(self, message: Message) -> list[Action]:
        """See `brokers.client.Client`."""
        if isinstance(message, Pub | Rep | Turn):
            return self._deliver_all(self._sorter.add(message))
        return []

    def link_broken(self, messages: Iterable[Message]) -> list[Action]:
        """See `brokers.client.Client`; a stay of which no broker knows is none."""
        lost = list(messages)
        cancelled = [message.stay for message in lost if isinstance(message, Mig)]
        if self._first in lost:
            cancelled += self._forget_first()
        actions = super().link_broken(lost)
        return actions + [action for stay in cancelled for action in self._deliver_all(self._sorter.cancel(stay))]

    def _greet(self, broker: NodeId, last: NodeId | None) -> list[Action]:
        unsaid = self._say_again(broker)
        if not self._is_subscriber or last is None:
            return self._subscribe_all()
        self._stay += 1
        mig = Mig(self.node, last, self._sorter.last, self._stay)
        if not self.filters:
            self._sorter.restart(self._stay)
        return [Send(broker, mig), *unsaid]

    def _subscription(self, wanted: Filter) -> Message:
        message = super()._subscription(wanted)
        self._first = self._first or message
        return message

    def _forget_first(self) -> list[int]:
        """The first SUB was lost: there is no stay 0, and who has not migrated since has nothing to migrate."""
        if self._stay > 0:
            return [0]
        self._first = None
        self._is_subscriber = False
        return []

    def _deliver_all(self, released: Iterable[Pub | Rep]) -> list[Action]:
        actions: list[Action] = []
        for message in released:
            notification = message.notification
            if self._received.add(notification.id):
                actions += self._deliver(notification, message.hops)
            else:
                actions.append(Note(DROP, notification_id=str(notification.id), detail="received before"))
        return actions
