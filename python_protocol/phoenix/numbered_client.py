"""A client of Phoenix that numbers its migrations, and delivers in order (see `numbered_broker`)."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.phoenix.client import Client
from roambus.python_protocol.phoenix.messages import Mig, Pub, Rep, Turn
from roambus.python_protocol.phoenix.parameters import PhoenixParameters
from roambus.python_protocol.phoenix.sorter import Sorter
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class NumberedClient(Client):
    """s_i and p_i of one node."""

    def __init__(self, node: NodeId, parameters: PhoenixParameters) -> None:
        """The client's first stay has the number 0."""
        super().__init__(node, parameters)
        self._stay = 0
        self._first: Message | None = None
        self._times = 0
        """How often it has said that, and it was not lost as far as is known."""
        self._sorter = Sorter(parameters.hold_limit)
        self._received = Recent(parameters.remembered)

    @on(Pub, Rep, Turn)
    def receive(self, message: Pub | Rep | Turn, broker: NodeId, now: SimTime) -> None:
        """What has arrived is delivered when its turn has come."""
        self._deliver_all(self._sorter.add(message))

    def link_broken(self, messages: Iterable[Message]) -> None:
        """Messages did not arrive: a stay of which no broker knows is none."""
        lost = list(messages)
        cancelled = [message.stay for message in lost if isinstance(message, Mig)]
        if self._first in lost and self._has_lost_first(lost):
            cancelled += self._forget_first()
        super().link_broken(lost)
        for stay in cancelled:
            self._deliver_all(self._sorter.cancel(stay))

    def _migrate(self, broker: NodeId, last: NodeId) -> None:
        self._stay += 1
        self.send(broker, Mig(self.node, last, self._sorter.last, self._stay))
        if not self.filters:
            self._sorter.restart(self._stay)

    def _subscription(self, wanted: Filter) -> Message:
        message = super()._subscription(wanted)
        self._first = self._first or message
        self._times += message == self._first
        return message

    def _take_unsaid(self) -> list[Message]:
        unsaid = super()._take_unsaid()
        self._times += unsaid.count(self._first) if self._first else 0
        return unsaid

    def _has_lost_first(self, lost: list[Message]) -> bool:
        """Whether no broker has heard the first SUB; the same filter may have been taken up again since."""
        self._times -= sum(message == self._first for message in lost)
        return self._times <= 0

    def _forget_first(self) -> list[int]:
        """The first SUB was lost: there is no stay 0, and who has not migrated since has nothing to migrate."""
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
