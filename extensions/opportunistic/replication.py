"""Epidemic routing and binary spray and wait: no node knows the receivers, and copies spread.

In *epidemic routing* (Vahdat and Becker, "Epidemic routing for partially connected ad hoc networks", 2000) a node
requests everything that it lacks. In *spray and wait* (Spyropoulos, Psounis and Raghavendra, WDTN 2005) a notification
begins with L copies; a node hands half of several copies to a node with none, a single one only to receivers, whose
filters come with a request. A lost frame loses its copies.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.extensions.opportunistic.carrier import MAX_HOPS, Carried, Carrier, CarrierParameters, Named
from roambus.python_protocol.agent import on
from roambus.python_protocol.events import Publish, SendFailed
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP

MAX_COPIES = 255
"""The number has one byte."""


class Hello(Message, tag=0x04, notation="{carried}"):
    """The sender carries this: its summary vector, or a part of it."""

    carried: tuple[Named, ...]


class Request(Message, tag=0x05, notation="{wanted} {filters}"):
    """The sender lacks this of the receiver's summary vector, and has these filters."""

    wanted: tuple[Named, ...]
    filters: tuple[Filter, ...]


class Replicator(Carrier):
    """Sends neighbours its summary vector, and requests the notifications it lacks."""

    def _hello(self, _: SimTime) -> Message:
        carried = list(self._buffer)[self._next_entries(len(self._buffer))]
        return Hello(tuple(map(Named.of, carried)))

    @on(Hello)
    def hear_hello(self, hello: Hello, neighbour: NodeId, now: SimTime) -> None:
        """Request notifications that have never been here."""
        self._meet(neighbour, now)
        if wanted := self._missing(hello.carried):
            self.send(neighbour, Request(wanted, tuple(self.subscriptions)), self.random.randrange(SECOND // 20))

    @on(Request)
    def answer(self, request: Request, neighbour: NodeId, _: SimTime) -> None:
        """Hand over the requested notifications."""
        asked = (self._buffer[name.id] for name in request.wanted if name.id in self._buffer)
        self._hand_over(neighbour, (copy for copies in asked for copy in self._copy_of(copies, request)))

    def _copy_of(self, carried: Carried, request: Request) -> Iterator[Carried]:
        raise NotImplementedError


def _is_wanted(carried: Carried, request: Request) -> bool:
    return any(wanted.matches(carried.notification) for wanted in request.filters)


class EpidemicParameters(CarrierParameters):
    """The shared parameters, and the hop limit."""

    hop_limit: int = parameter(
        MAX_HOPS,
        source="Vahdat and Becker (2000): the hop count of a message",
        at_least=1,
        at_most=MAX_HOPS,
        doc="hops that a notification can take; the last of them leads to a subscriber only",
    )


class Epidemic(Replicator):
    """Each node requests everything that it lacks."""

    parameters: EpidemicParameters

    def _copy_of(self, carried: Carried, request: Request) -> Iterator[Carried]:
        """Give a notification with one hop left to its receivers only (Vahdat and Becker)."""
        left = self.parameters.hop_limit - carried.hops
        if left > 1 or (left == 1 and _is_wanted(carried, request)):
            yield carried


class SprayParameters(CarrierParameters):
    """The shared parameters, and the number of copies."""

    copies: int = parameter(
        16,
        source="Spyropoulos et al. (2005), section 4: a few times the receivers; a tenth to a fifth of the nodes",
        at_least=1,
        at_most=MAX_COPIES,
        doc="copies of a notification, L",
    )


class SprayAndWait(Replicator):
    """Binary spray and wait."""

    parameters: SprayParameters

    def _first(self, event: Publish) -> Carried:
        return Carried(self.parameters.copies, 0, (), event.notification)

    def _copy_of(self, carried: Carried, request: Request) -> Iterator[Carried]:
        """Halve several copies; a single one goes to receivers only."""
        if half := carried.copies // 2:
            self._buffer[carried.notification.id] = carried.replaced(copies=carried.copies - half)
            yield carried.replaced(copies=half)
        elif _is_wanted(carried, request):
            yield carried.replaced(copies=0)  # a receiver's own copy is none of the L

    def keep(self, failed: SendFailed, now: SimTime) -> None:
        """Take back the copies that were not sent; of an unacknowledged frame both nodes may have them."""
        if isinstance(failed.message, Carried) and failed.message.copies:
            self._take(failed.message, 0)

    def _take(self, carried: Carried, hops: int) -> None:
        """Add the copies of a notification from two neighbours at once."""
        identifier = carried.notification.id
        own = self._buffer.get(identifier)
        if own is not None:
            self._buffer[identifier] = own.replaced(copies=min(own.copies + carried.copies, MAX_COPIES))
        elif identifier in self._had:
            self.note(
                DROP, notification_id=str(identifier), detail=f"{carried.copies} copies, after its own was dropped"
            )
        else:
            super()._take(carried, hops)
