"""A node of an island: it keeps its notifications until a ferry has their custody, and takes those that one brings."""

from __future__ import annotations

from itertools import islice

from roambus.extensions.ferry.islands import parse_places
from roambus.extensions.ferry.messages import Carried, Here, News, Taken, Wants
from roambus.python_protocol.agent import Brokerless, Recent, on
from roambus.python_protocol.events import Publish, SendFailed
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP, KEEP, RELEASE, ROUTE, node_list

MOST = 65535
"""The numbers in a WANTS have two bytes."""
GONE = 3
"""Hellos without which a ferry is gone."""


class FerryParameters(Parameters):
    """Parameters that both kinds of ferries share, and the nodes of islands."""

    islands: str = parameter(
        "",
        source="the scenario",
        doc="places of the islands in m, in the order of the tour, such as 40,40/160,40; empty: ferries rest",
    )
    first: int = parameter(0, source="the scenario", at_least=0, doc="number of the first ferry's node")
    ferries: int = parameter(
        1,
        source="the scenario",
        at_least=1,
        doc="ferries, whose numbers follow each other; they begin at islands apart",
    )
    speed: float = parameter(5.0, unit="m/s", source="the scenario", above=0, doc="speed between islands")
    stay: SimTime = parameter(
        5 * SECOND, unit="s", source="reasoned: five hellos", above=0, doc="how long a ferry stays at an island"
    )
    hello: SimTime = parameter(
        SECOND, unit="s", source="RFC 3561, section 10, HELLO_INTERVAL", above=0, doc="time from one HERE to the next"
    )
    buffer: int = parameter(
        200,
        source="reasoned: more than waits at a stop",
        at_least=1,
        doc="notifications aboard; a full ferry takes no more",
    )
    queue: int = parameter(
        50,
        source="reasoned: a quarter of a ferry",
        at_least=1,
        doc="notifications that wait at a node; a full queue drops its oldest",
    )
    batch: int = parameter(
        8,
        source="reasoned: a quarter of the 32 frames of the MAC's queue",
        at_least=1,
        doc="notifications sent for one HERE or WANTS",
    )
    lifetime: SimTime = parameter(
        600 * SECOND, unit="s", source="reasoned: several tours", above=0, doc="how long a ferry carries a notification"
    )
    trust: SimTime = parameter(
        200 * SECOND,
        unit="s",
        source="reasoned: two tours",
        above=0,
        doc="how long a ferry by need trusts its knowledge of an island; an older one counts as unknown",
    )
    apart: bool = parameter(
        True, source="reasoned", doc="a ferry by need avoids islands for which ferries within earshot are bound"
    )

    def __post_init__(self) -> None:
        """Refuse places that are none."""
        super().__post_init__()
        parse_places(self.islands)


class Dweller(Brokerless):
    """Waits for ferries. It deals with one at a time, so that one alone gets the custody of a notification."""

    parameters: FerryParameters

    def forget(self) -> None:
        """Start with an empty queue."""
        self._queue: dict[NotificationId, Notification] = {}
        self._had = Recent(4 * self.parameters.buffer)
        self._published = 0
        self._ferry: NodeId | None = None
        self._ferry_until: SimTime = 0

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Give the application's notification to the nodes in range, and keep it for a ferry."""
        self.note(ROUTE, notification_id=str(event.notification.id), detail=node_list(event.subscribers))
        self._published += 1
        self._receive(event.notification, 0)
        self.send(BROADCAST, News(event.notification))
        self._await_ferry(event.notification, now)

    def _await_ferry(self, notification: Notification, _: SimTime) -> None:
        """Queue a notification; a full queue first drops its oldest."""
        if len(self._queue) >= self.parameters.queue:
            oldest = next(iter(self._queue))
            del self._queue[oldest]
            self.note(DROP, notification_id=str(oldest), detail="queue full")
        self.note(KEEP, notification_id=str(notification.id))
        self._queue[notification.id] = notification

    def _receive(self, notification: Notification, hops: int) -> None:
        """Deliver a notification that is new here and wanted."""
        if self._had.add(notification.id) and self.subscriptions.match(notification):
            self.deliver(notification, hops)

    @on(Here)
    def hear_ferry(self, _: Here, ferry: NodeId, now: SimTime) -> None:
        """Answer the ferry, and hand it a batch unless another ferry has come before."""
        delay = self.random.randrange(self.parameters.hello // 10 + 1)
        waiting, published = min(len(self._queue), MOST), min(self._published, MOST)
        self.send(ferry, Wants(tuple(self.subscriptions), waiting, published), delay)
        if ferry == self._ferry or now >= self._ferry_until:
            self._ferry, self._ferry_until = ferry, now + GONE * self.parameters.hello
            for notification in islice(self._queue.values(), self.parameters.batch):
                self.send(ferry, Carried(1, notification), delay)

    @on(Taken)
    def hear_taken(self, taken: Taken, ferry: NodeId, _: SimTime) -> None:
        """Forget a notification: the ferry has its custody."""
        if self._queue.pop(taken.id, None) is not None:
            self.note(RELEASE, notification_id=str(taken.id), peer=ferry, detail="a ferry has its custody")

    @on(News)
    def hear_news(self, news: News, _: NodeId, __: SimTime) -> None:
        """Take a notification from its publisher."""
        self._receive(news.notification, 1)

    @on(Carried)
    def hear_carried(self, carried: Carried, ferry: NodeId, _: SimTime) -> None:
        """Take a notification from a ferry, and say so, also the second time: the first answer may be lost."""
        self._receive(carried.notification, carried.hops)
        self.send(ferry, Taken(carried.notification.id))

    @on(SendFailed)
    def keep(self, failed: SendFailed, _: SimTime) -> None:
        """Keep a notification that was not sent: it has not been taken, and goes out after a later HERE or WANTS."""
