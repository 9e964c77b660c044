"""The messages of caching (the paper on caching, sections 3.2 and 4), beside SUB and UNS of Simple Routing and PUB.

A route lists nodes, the nearest first: that of a REQUEST grows by each broker that passes it on, that of a RESPONSE
loses the node at which it arrives. The last one is the client.
"""

from __future__ import annotations

from typing import Annotated

from roambus.python_protocol.brokers.messages import Hops
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U16, Integer, LongTuple, Maybe, Several
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names, listed
from roambus.python_protocol.roles import BROADCAST, NodeId


class _Path(Several):
    """The type of a route, in which the last node is shown as a client, and the others as brokers."""

    def show(self, value: tuple[NodeId, ...], names: Names) -> str:
        """In brackets, with blanks between."""
        return listed([*map(names.broker, value[:-1]), *map(names.subscriber, value[-1:])])


_PATH = _Path(Integer("H"))
Route = Annotated[tuple[NodeId, ...], _PATH]
"""Nodes that a message visits one after the other."""

Somebody = Annotated[NodeId | None, Maybe(Integer("H"), BROADCAST)]
"""A node, or nobody, for whom the number stands that no node can have."""

Number = U16
"""A client's own count of its requests, modulo 2^16."""


class Request(Message, tag=4):
    """A client asks for old messages; or it detaches (`client` alone), or is back (`client`, and its old `broker`)."""

    number: Number
    client: Somebody = None
    broker: Somebody = None
    filters: tuple[Filter, ...] = ()
    route: Route = ()
    answered: LongTuple[NotificationId] = ()
    """What brokers on the way have responded with (section 5, the proactive mechanism)."""

    @property
    def is_detachment(self) -> bool:
        """Whether the client is about to leave (section 4)."""
        return self.client is not None and self.broker is None

    def describe(self, names: Names) -> str:
        """REQUEST [f1] path=[b5 s1] ids=[e1]; REQUEST s1 detaches; REQUEST [f1] s1 from b1 path=[b3 s1]."""
        if self.is_detachment:
            return f"REQUEST {names.subscriber(self.client)} detaches"
        back = f" {names.subscriber(self.client)} from {names.broker(self.broker)}" if self.client is not None else ""
        answered = f" ids={listed(one.describe(names) for one in self.answered)}" if self.answered else ""
        return f"REQUEST {names.filters(self.filters)}{back} path={_PATH.show(self.route, names)}{answered}"


class Response(Message, tag=5, notation="{notification} path={route} {kept} hops={hops}"):
    """An old message on its way back to who asked for it; `kept`: it was kept for a client in movement."""

    number: Number
    """That of the request."""
    kept: bool
    hops: Hops
    """Radio hops since the cache, with the one that the message itself makes."""
    route: Route
    notification: Notification
