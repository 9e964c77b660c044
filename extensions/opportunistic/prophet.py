"""PRoPHET (RFC 6693) with the forwarding strategy GRTR.

A node's delivery predictability P for another grows with each encounter, ages, and is passed on by hellos (section
2.1.2). On a hello a node offers notifications whose receivers the neighbour is likelier to meet; it requests the
missing ones and gets them (section 3.2). A node remembers a neighbour's notifications until the encounter ends. PRoPHET
addresses receivers, so *the scenario names the subscribers*, as for AODV. The RFC's optional acknowledgements are
absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, NamedTuple

from roambus.extensions.opportunistic.carrier import Carried, Carrier, CarrierParameters, Named
from roambus.python_protocol.agent import on
from roambus.python_protocol.events import Publish
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.messages.fields import Integer
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import SECOND, SimTime

_PARTS = 65535
"""A probability of 1 in a hello."""

Probability = Annotated[int, Integer("H", lambda value, _: f"{value / _PARTS:.3f}")]
"""A probability in two bytes."""


class ProphetParameters(CarrierParameters):
    """Parameters shared and of encounters; names and values are those of RFC 6693, section 3.3."""

    p_encounter_max: float = parameter(
        0.7, source="RFC 6693", above=0, at_most=1, doc="the most that an encounter adds"
    )
    p_encounter_first: float = parameter(0.5, source="RFC 6693", above=0, at_most=1, doc="after the first encounter")
    p_first_threshold: float = parameter(
        0.1, source="RFC 6693", at_least=0, at_most=1, doc="below it an encounter counts as the first"
    )
    beta: float = parameter(0.9, source="RFC 6693", at_least=0, at_most=1, doc="factor for predictabilities of others")
    gamma: float = parameter(0.999, source="RFC 6693", above=0, at_most=1, doc="factor for each time unit")
    delta: float = parameter(
        0.01, source="RFC 6693", at_least=0, at_most=1, doc="distance of the maximum from certainty"
    )
    time_unit: SimTime = parameter(
        SECOND, unit="s", source="the RFC leaves it to the network; here it is a hello", above=0, doc="unit of ageing"
    )
    i_typ: SimTime = parameter(
        60 * SECOND,
        unit="s",
        source="the RFC leaves it to the network",
        above=0,
        doc="typical time between two encounters; sooner ones count less",
    )


class Chance(NamedTuple):
    """P(B, C): how likely a hello's sender B is to meet C."""

    node: NodeId
    probability: Probability


class ChanceHello(Message, tag=0x07, notation="{chances}"):
    """Delivery predictabilities of the sender, or a part: its routing information base."""

    chances: tuple[Chance, ...]


class Offer(Message, tag=0x08, notation="{offered}"):
    """The sender carries this for receivers that its neighbour is likelier to meet (section 3.2.2.2)."""

    offered: tuple[Named, ...]


class Response(Message, tag=0x09, notation="{offered} lacks {wanted}"):
    """Of an offer the sender lacks this."""

    offered: tuple[Named, ...]
    wanted: tuple[Named, ...]


class Contact:
    """Knowledge of a neighbour while an encounter lasts."""

    def __init__(self) -> None:
        self.chances: dict[NodeId, float] = {}
        self.has: set[NotificationId] = set()


class Prophet(Carrier):
    """PRoPHET; the scenario names the receivers."""

    parameters: ProphetParameters
    oracle_subscribers = True

    def forget(self) -> None:
        """Empty the buffer; nobody was met."""
        super().forget()
        self._chances: dict[NodeId, float] = {}
        self._aged: SimTime = 0
        self._met: dict[NodeId, SimTime] = {}
        """When the last encounter with each node began."""
        self._contacts: dict[NodeId, Contact] = {}

    def _first(self, event: Publish) -> Carried:
        return Carried(1, 0, event.subscribers, event.notification)

    def _carry(self, carried: Carried) -> None:
        """Carry a notification unless this node is its only receiver: no other is likelier to meet it."""
        if carried.receivers != (self.node,):
            super()._carry(carried)

    def _part_from(self, neighbour: NodeId) -> None:
        self._contacts.pop(neighbour, None)

    # Delivery predictabilities (section 2.1.2)

    def _hello(self, now: SimTime) -> Message:
        self._age(now)
        ranked = sorted(self._chances.items(), key=lambda item: (-item[1], item[0]))
        announced = ranked[self._next_entries(len(ranked))]
        return ChanceHello(tuple(Chance(node, round(value * _PARTS)) for node, value in announced))

    def _age(self, now: SimTime) -> None:
        """Equation 2."""
        units, self._aged = (now - self._aged) / self.parameters.time_unit, now
        factor = self.parameters.gamma**units
        self._chances = {node: value * factor for node, value in self._chances.items()}

    def _encounter(self, neighbour: NodeId, now: SimTime) -> None:
        """Apply equation 1; an encounter soon after the last one counts for less."""
        own, old, last = self.parameters, self._chances.get(neighbour, 0.0), self._met.get(neighbour)
        self._met[neighbour] = now
        if last is None or old < own.p_first_threshold:
            self._chances[neighbour] = max(old, own.p_encounter_first)
            return
        counts = own.p_encounter_max * min(1.0, (now - last) / own.i_typ)
        self._chances[neighbour] = old + (1 - own.delta - old) * counts

    def _learn(self, neighbour: NodeId, chances: Mapping[NodeId, float]) -> None:
        """Equation 3: the neighbour can carry on to others."""
        by_way = self._chances.get(neighbour, 0.0) * self.parameters.beta
        for node, chance in chances.items():
            if node != self.node:
                self._chances[node] = max(self._chances.get(node, 0.0), by_way * chance)

    # Offers and responses (section 3.2)

    @on(ChanceHello)
    def hear_hello(self, hello: ChanceHello, neighbour: NodeId, now: SimTime) -> None:
        """Take in an encounter, and offer notifications whose receivers the neighbour is likelier to meet."""
        self._age(now)
        if self._meet(neighbour, now):
            self._contacts[neighbour] = Contact()
            self._encounter(neighbour, now)
        contact = self._contacts[neighbour]
        chances = {chance.node: chance.probability / _PARTS for chance in hello.chances}
        contact.chances |= chances
        self._learn(neighbour, chances)
        better = (
            Named.of(identifier)
            for identifier, carried in self._buffer.items()
            if identifier not in contact.has
            and any(self._is_better(neighbour, contact, receiver) for receiver in carried.receivers)
        )
        if offered := tuple(islice(better, self.parameters.told)):
            self.send(neighbour, Offer(offered), self.random.randrange(SECOND // 20))

    def _is_better(self, neighbour: NodeId, contact: Contact, receiver: NodeId) -> bool:
        """Apply GRTR: return whether the neighbour's predictability is greater; a node's own is 1."""
        if self.node == receiver:
            return False
        return neighbour == receiver or contact.chances.get(receiver, 0.0) > self._chances.get(receiver, 0.0)

    def _has(self, neighbour: NodeId) -> set[NotificationId]:
        """Return the neighbour's known notifications; none are remembered before its first hello."""
        contact = self._contacts.get(neighbour)
        return set() if contact is None else contact.has

    @on(Offer)
    def choose(self, offer: Offer, neighbour: NodeId, _: SimTime) -> None:
        """Ask for notifications that have never been here; the neighbour has them all."""
        self._has(neighbour).update(offered.id for offered in offer.offered)
        self.send(neighbour, Response(offer.offered, self._missing(offer.offered)))

    @on(Response)
    def answer(self, response: Response, neighbour: NodeId, _: SimTime) -> None:
        """Hand over the requested notifications; the neighbour has the rest."""
        wanted = [name.id for name in response.wanted]
        self._has(neighbour).update(offered.id for offered in response.offered if offered.id not in wanted)
        self._hand_over(neighbour, (self._buffer[event_id] for event_id in wanted if event_id in self._buffer))

    def receive(self, carried: Carried, neighbour: NodeId, now: SimTime) -> None:
        """Take a notification, which the neighbour has too."""
        self._has(neighbour).add(carried.notification.id)
        super().receive(carried, neighbour, now)
