"""A client of a protocol without FILTERS: nobody tells it what its broker has wrong, so it says again what was lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId


class FaithfulClient(Client):
    """Channels are reliable to the papers: what a link did not carry goes to the next broker, in its order."""

    said_again: ClassVar[tuple[type[Message], ...]]
    """The SUB and UNS of the protocol."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """At first nothing was lost."""
        super().__init__(node, parameters)
        self._unsaid: list[Message] = []

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

    def _take_unsaid(self) -> list[Message]:
        """What was lost; whoever takes it sends it, or says it in another way."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid
