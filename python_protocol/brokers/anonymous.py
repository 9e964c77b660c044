"""SUB and UNS that do not name the subscriber (the thesis, algorithm 2.1), and the client that sends them.

A broker counts such subscriptions by interface alone, so a client that moves on subscribes anew.
"""

from __future__ import annotations

from roambus.python_protocol.agent import on
from roambus.python_protocol.brokers.broker import Pub
from roambus.python_protocol.brokers.routing import FaithfulClient
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Sub(Message, tag=1, notation="{filter}"):
    """(SUB, f): a client subscribes to f."""

    filter: Filter


class Uns(Message, tag=2, notation="{filter}"):
    """(UNS, f): a client unsubscribes from f."""

    filter: Filter


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    subscription_types = (Sub, Uns)

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived."""
        self._deliver(pub.notification, pub.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        commands = self._take_commands()
        if broker == last:
            self._resend(broker)
            self._send_commands(commands)
        else:
            self._take_undelivered()  # which the filters say again
            self._subscribe_all()

    def _head(self) -> tuple[()]:
        """SUB and UNS do not name the subscriber."""
        return ()
