"""A client of a protocol without FILTERS: nobody tells it what its broker has wrong, so it says again what was lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.roles import NodeId


class FaithfulClient(Client):
    """Channels are reliable to the papers: what a link did not carry goes to the next broker, in its order."""

    said_again: ClassVar[tuple[type[Message], ...]]
    """SUB and UNS of the protocol."""

    def __init__(self, node: NodeId, parameters: BrokerParameters) -> None:
        """See `Client`."""
        super().__init__(node, parameters)
        self._unsaid: list[Message] = []

    def link_broken(self, messages: Iterable[Message]) -> list[Action]:
        """See `Client`."""
        lost = list(messages)
        self._unsaid += [message for message in lost if isinstance(message, self.said_again)]
        actions = self._say_again(self.broker) if self.broker is not None else []
        return actions + super().link_broken(lost)

    def _say_again(self, broker: NodeId) -> list[Action]:
        """What was lost, for another broker than the last one, or the same one again."""
        unsaid, self._unsaid = self._unsaid, []
        return [Send(broker, message) for message in unsaid]
