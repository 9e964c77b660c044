"""A client of a protocol without FILTERS: nobody tells it what its broker has wrong.

So it says again what was lost, and says later what it was commanded while it had no broker. What was lost comes first:
a link that is given up carries what was said before the client lost its broker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from roambus.python_protocol.brokers.client import Client
from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId


class FaithfulClient(Client):
    """Channels are reliable to the papers: what a link did not carry goes to the next broker, in its order."""

    said_again: ClassVar[tuple[type[Message], ...]]
    """The SUB and UNS of the protocol."""

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
            make = self._subscription if isinstance(command, Subscribe) else self._unsubscription
            self._tell_broker(make, command.filter)

    def _end_late(self) -> None:
        """Tells the broker what was given up before there was one; its subscriptions will be said as they are."""
        self._say_late(one for one in self._take_commands() if isinstance(one, Unsubscribe))

    def _take_unsaid(self) -> list[Message]:
        """What was lost; whoever takes it sends it, or says it in another way."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid
