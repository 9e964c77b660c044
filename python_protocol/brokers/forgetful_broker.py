"""A broker that stores nothing: what cannot go on is dropped, and the trace says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from roambus.python_protocol.brokers.broker import Broker
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.notes import DROP
from roambus.python_protocol.roles import NodeId


class ForgetfulBroker(Broker):
    """b_i of a protocol without queues: it drops what it cannot send."""

    def link_broken(self, interface: NodeId, messages: Iterable[Message]) -> None:
        """A link was given up with `messages` under way or waiting, which are lost."""
        super().link_broken(interface, messages)
        for message in messages:
            if isinstance(message, Pub):
                self._drop(message, interface)

    def send_pub(self, pub: Pub, interface: NodeId) -> None:
        """Passes a PUB on to an interface, if it is there."""
        if self.reaches(interface):
            self.send(interface, replace(pub, hops=self.radio_hops(pub.hops, interface)))
        else:
            self._drop(pub, interface)

    def _drop(self, pub: Pub, interface: NodeId) -> None:
        self.note(DROP, notification_id=str(pub.notification.id), peer=interface, detail="no link")
