"""A client of Simple Routing, bound to its broker for ever (the thesis, section 2.3).

If it finds itself at another one all the same, it subscribes there anew (the paper on the first approach, section 3.2):
what it has subscribed to before stays in the system, and leads nowhere.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.faithful_client import FaithfulClient
from roambus.python_protocol.brokers.messages import Pub
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.process import on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simple.messages import Sub, Uns
from roambus.python_protocol.simtime import SimTime


class Client(FaithfulClient):
    """s_i and p_i of one node."""

    said_again = (Sub, Uns)

    @on(Pub)
    def receive(self, pub: Pub, broker: NodeId, now: SimTime) -> None:
        """A notification has arrived."""
        self._deliver(pub.notification, pub.hops)

    def _greet(self, broker: NodeId, last: NodeId | None) -> None:
        commands = self._take_commands()
        if broker == last:
            self._say_again(broker)
            self._say_late(commands)
        else:
            self._take_unsaid()  # which the filters say again
            self._subscribe_all()

    def _subscription(self, wanted: Filter) -> Message:
        return Sub(wanted)

    def _unsubscription(self, unwanted: Filter) -> Message:
        return Uns(unwanted)
