"""A broker that stores nothing: what cannot go on is dropped, and the trace says so."""

from __future__ import annotations

from collections.abc import Iterable

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.brokers.broker import Broker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.messages.codec import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.roles import NodeId


class ForgetfulBroker(Broker):
    """See `Broker`."""

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> list[Action]:
        """A link was given up with `messages` under way or waiting: they are lost."""
        super().link_broken(interface, messages)
        return [_drop(message, interface) for message in messages if isinstance(message, Pub)]

    def send_pub(self, message: Pub, interface: NodeId) -> Action:
        """Passes a PUB on to an interface, if it is there."""
        if not self.reaches(interface):
            return _drop(message, interface)
        return Send(interface, Pub(message.notification, self.radio_hops(message.hops, interface)))


def _drop(message: Pub, interface: NodeId) -> Note:
    return Note(DROP, notification_id=str(message.notification.id), peer=interface, detail="no link")
