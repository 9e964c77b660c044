"""Opportunistic routing, for networks that are mostly disconnected: nodes carry notifications and hand them over.

Three protocols that others are compared with, each as its source has it:

- *Epidemic routing* (Vahdat and Becker, "Epidemic routing for partially connected ad hoc networks", 2000): whoever
  meets somebody asks for all that it lacks. In a buffer that is full the oldest makes room.
- *Spray and wait* (Spyropoulos, Psounis and Raghavendra, WDTN 2005), the binary one: a notification begins with L
  copies. Who has more than one hands half of them over to a node that has none, and who has one left waits for those
  that want it.
- *PRoPHET* (RFC 6693): each node has for each other one the probability to meet it. It grows with each encounter, ages,
  and is passed on by those whom one meets (section 2.1.2). A notification goes to who is more likely to meet its
  receiver, which is the strategy GRTR.

How they are carried over to publish/subscribe and broadcast:

- Nodes find each other by hellos, which tell what they carry. Two that have not heard each other for some hellos have
  parted; when they hear each other again, that is the next encounter.
- A subscriber is every node whose filters match. In epidemic routing and spray and wait nobody knows who that is; in
  the latter, who waits hands a notification over if the filters that come with a request match it. PRoPHET addresses
  receivers: *the scenario tells the publisher who the subscribers are*, as it does for AODV. It has to be said wherever
  these are compared.
- Nothing is acknowledged: a node requests lost notifications again after the next hello. Half of the copies of a
  spray that is lost are lost with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Annotated, NamedTuple

from roambus.python_protocol.agent import Agent, Recent, Subscriptions, on, on_timer
from roambus.python_protocol.events import Crashed, Publish, Recovered, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, U16, Integer
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.vocabulary import BROADCAST, DROP, ROUTE, SECOND, NodeId, Role, SimTime, node_list

MAX_HOPS = 255
_HELLO = "hello"
_AGAIN = 10
"""Hellos after which a node that does not acknowledge anything is given the same again."""
_PARTS = 65535
"""A probability of 1 as hellos tell it."""

Probability = Annotated[int, Integer("H", lambda value, _: f"{value / _PARTS:.3f}")]
"""A probability in two bytes."""


class CarrierParameters(Parameters):
    """What can be set for all of them."""

    hello_interval: SimTime = parameter(
        SECOND, unit="s", source="RFC 3561, section 10, HELLO_INTERVAL", above=0, doc="time from one hello to the next"
    )
    allowed_hello_loss: int = parameter(
        2, source="RFC 3561, section 10", at_least=0, doc="hellos in a row that may be missed before a contact ends"
    )
    buffer: int = parameter(
        2000,
        source="Vahdat and Becker (2000), section 4: from here on a buffer costs no delivery",
        at_least=1,
        doc="notifications that a node carries; the oldest makes room",
    )
    told: int = parameter(
        12,
        source="IEEE 802.15.4: the number that fits into a frame of 127 bytes after its headers",
        at_least=1,
        at_most=255,
        doc="notifications in a hello or a request; more take turns",
    )
    batch: int = parameter(
        8,
        source="reasoned: a quarter of the 32 frames of the MAC's queue",
        at_least=1,
        doc="notifications that are sent for one hello or request",
    )


class Named(NamedTuple):
    """A notification in six bytes."""

    publisher: NodeId
    high: U16
    low: U16

    @classmethod
    def of(cls, identifier: NotificationId) -> Named:
        """The name of a notification."""
        return cls(identifier.publisher, *divmod(identifier.sequence, 1 << 16))

    @property
    def id(self) -> NotificationId:
        """The notification that is named."""
        return NotificationId(self.publisher, (self.high << 16) + self.low)


class Hello(Message, tag=0x04, notation="{carried}"):
    """The sender is here, and carries this: its summary vector, or a part of it."""

    carried: tuple[Named, ...]


class Request(Message, tag=0x05, notation="{wanted} {filters}"):
    """The sender lacks this of what the receiver carries, and wants for itself what the filters match."""

    wanted: tuple[Named, ...]
    filters: tuple[Filter, ...]


class Carried(Message, tag=0x06, notation="{notification} copies={copies} for {receivers} hops={hops}"):
    """A notification, as one node hands it to another one."""

    copies: U8
    hops: U8
    receivers: tuple[NodeId, ...]
    """Whom it is for, if the scenario has told that."""
    notification: Notification


class Carrier(Agent):
    """Finds neighbours, carries notifications, and delivers what its filters match."""

    parameters: CarrierParameters

    def __init__(self, node: NodeId, roles: Role, parameters: CarrierParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.subscriptions = Subscriptions()
        self._lose_memory()

    def _lose_memory(self) -> None:
        """Carries nothing; the filters are in stable storage, because the application subscribes once only."""
        self._buffer: dict[NotificationId, Carried] = {}
        self._had = Recent(4 * self.parameters.buffer)
        self._heard: dict[NodeId, SimTime] = {}
        self._turn = 0

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """The first hello comes at a random time."""
        self.set_timer(_HELLO, self.random.randrange(self.parameters.hello_interval))

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """What was carried is lost."""
        self._lose_memory()

    @on(Subscribe, Unsubscribe)
    def change_subscriptions(self, event: Subscribe | Unsubscribe, _: SimTime) -> None:
        """Delivers what matches from now on."""
        self.subscriptions.change(event)

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Carries what the application publishes."""
        self.note(ROUTE, notification_id=str(event.notification.id), detail=node_list(event.subscribers))
        self._take(self._first(event), hops=0)

    def _first(self, event: Publish) -> Carried:
        """A notification as its publisher carries it."""
        return Carried(1, 0, (), event.notification)

    @on_timer(_HELLO)
    def say_hello(self, _: str, now: SimTime) -> None:
        """Tells the neighbours what is carried, all of it in turns."""
        patience = (self.parameters.allowed_hello_loss + 1) * self.parameters.hello_interval
        self._heard = {one: heard for one, heard in self._heard.items() if now - heard <= patience}
        self.send(BROADCAST, self._hello())
        jitter = self.random.randrange(self.parameters.hello_interval // 4)
        self.set_timer(_HELLO, self.parameters.hello_interval - jitter)

    def _hello(self) -> Message:
        return Hello(self._names(self.parameters.told))

    def _names(self, most: int) -> tuple[Named, ...]:
        """The next part of what is carried."""
        carried = list(self._buffer)
        start = self._turn if self._turn < len(carried) else 0
        self._turn = start + most
        return tuple(map(Named.of, carried[start : start + most]))

    def _meet(self, neighbour: NodeId, now: SimTime) -> bool:
        """A hello has come; returns whether an encounter begins with it."""
        is_first = neighbour not in self._heard
        self._heard[neighbour] = now
        return is_first

    def _request(self, neighbour: NodeId, names: Iterable[Named]) -> None:
        """Asks for what this node has never had."""
        if wanted := tuple(one for one in names if one.id not in self._had):
            self.send(neighbour, Request(wanted, tuple(self.subscriptions)), self.random.randrange(SECOND // 20))

    def _hand_over(self, neighbour: NodeId, carried: Iterable[Carried]) -> None:
        for _, one in zip(range(self.parameters.batch), carried, strict=False):
            self.send(neighbour, one.replaced(hops=min(one.hops + 1, MAX_HOPS)))

    def _take(self, carried: Carried, hops: int) -> None:
        """Carries and delivers what was never here; a copy more of the same changes nothing."""
        notification = carried.notification
        if not self._had.add(notification.id):
            return
        if self.subscriptions.match(notification):
            self.deliver(notification, hops)
        self._buffer[notification.id] = carried
        if len(self._buffer) > self.parameters.buffer:
            oldest = next(iter(self._buffer))
            del self._buffer[oldest]
            self.note(DROP, notification_id=str(oldest), detail="buffer full")

    @on(Carried)
    def receive(self, carried: Carried, _: NodeId, __: SimTime) -> None:
        """Somebody has handed a notification over."""
        self._take(carried, carried.hops)


# Epidemic routing


class Epidemic(Carrier):
    """Whoever meets somebody asks for all that it lacks."""

    messages = MessageSet([Hello])

    @on(Hello)
    def hear_hello(self, hello: Hello, neighbour: NodeId, now: SimTime) -> None:
        """A neighbour tells what it carries: its summary vector."""
        self._meet(neighbour, now)
        self._request(neighbour, hello.carried)

    @on(Request)
    def answer(self, request: Request, neighbour: NodeId, _: SimTime) -> None:
        """A neighbour lacks something."""
        self._hand_over(neighbour, (self._buffer[one.id] for one in request.wanted if one.id in self._buffer))


# Spray and wait


class SprayParameters(CarrierParameters):
    """As for all, and how many copies there are."""

    copies: int = parameter(
        16,
        source="Spyropoulos et al. (2005), section 4: a few times the receivers; a tenth to a fifth of the nodes",
        at_least=1,
        at_most=255,
        doc="copies of a notification, L",
    )


class SprayAndWait(Carrier):
    """Binary spray and wait."""

    parameters: SprayParameters
    messages = MessageSet([Hello])

    def _first(self, event: Publish) -> Carried:
        return Carried(self.parameters.copies, 0, (), event.notification)

    @on(Hello)
    def hear_hello(self, hello: Hello, neighbour: NodeId, now: SimTime) -> None:
        """A neighbour tells what it carries."""
        self._meet(neighbour, now)
        self._request(neighbour, hello.carried)

    @on(Request)
    def answer(self, request: Request, neighbour: NodeId, _: SimTime) -> None:
        """A neighbour that has no copy gets half of the copies; if one is left, it gets one only for itself."""
        self._hand_over(neighbour, self._spray(request))

    def _spray(self, request: Request) -> Iterator[Carried]:
        for one in request.wanted:
            carried = self._buffer.get(one.id)
            if carried is None:
                continue
            half = carried.copies // 2
            if half:
                self._buffer[one.id] = carried.replaced(copies=carried.copies - half)
                yield carried.replaced(copies=half)
            elif any(wanted.matches(carried.notification) for wanted in request.filters):
                yield carried


# PRoPHET


class ProphetParameters(CarrierParameters):
    """As for all, and how likely encounters are; names and values are those of RFC 6693, section 3.3."""

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
    """P(B, C): how likely the sender of a hello is to meet a node."""

    node: NodeId
    probability: Probability


class ChanceHello(Message, tag=0x07, notation="{carried} {chances}"):
    """A hello that tells what its sender carries, and whom it is likely to meet."""

    carried: tuple[Named, ...]
    chances: tuple[Chance, ...]


class Prophet(Carrier):
    """PRoPHET with the strategy GRTR; the scenario tells the publisher its receivers."""

    parameters: ProphetParameters
    oracle_subscribers = True

    def _lose_memory(self) -> None:
        super()._lose_memory()
        self._chances: dict[NodeId, float] = {}
        self._aged: SimTime = 0
        self._met: dict[NodeId, SimTime] = {}
        """When the last encounter with each node began."""
        self._given: dict[tuple[NodeId, NotificationId], SimTime] = {}
        """When each neighbour was given what, for it has no room to tell all that it has."""

    def _first(self, event: Publish) -> Carried:
        return Carried(1, 0, event.subscribers, event.notification)

    def _hello(self) -> Message:
        """The likeliest encounters have room, and some of what is carried."""
        likeliest = sorted(self._chances.items(), key=lambda item: (-item[1], item[0]))[: self.parameters.told]
        chances = tuple(Chance(node, round(value * _PARTS)) for node, value in likeliest)
        return ChanceHello(self._names(max(1, self.parameters.told // 2)), chances)

    @on(ChanceHello)
    def hear_hello(self, hello: ChanceHello, neighbour: NodeId, now: SimTime) -> None:
        """Takes an encounter in (section 2.1.2), and hands over what the neighbour is likelier to bring (GRTR)."""
        self._age(now)
        if self._meet(neighbour, now):
            self._encounter(neighbour, now)
        told = {chance.node: chance.probability / _PARTS for chance in hello.chances}
        self._learn(neighbour, told)
        has = {one.id for one in hello.carried}
        better = (
            carried
            for identifier, carried in self._buffer.items()
            if identifier not in has and any(self._is_better(neighbour, told, one) for one in carried.receivers)
        )
        self._hand_over(neighbour, (one for one in better if self._may_give(neighbour, one, now)))

    def _may_give(self, neighbour: NodeId, carried: Carried, now: SimTime) -> bool:
        """Not so soon after the last time; what was lost is given again."""
        key = neighbour, carried.notification.id
        if (
            now - self._given.get(key, -_AGAIN * self.parameters.hello_interval)
            < _AGAIN * self.parameters.hello_interval
        ):
            return False
        self._given[key] = now
        return True

    def _is_better(self, neighbour: NodeId, told: dict[NodeId, float], receiver: NodeId) -> bool:
        return receiver == neighbour or told.get(receiver, 0.0) > self._chances.get(receiver, 0.0)

    def _age(self, now: SimTime) -> None:
        """Ages all delivery predictabilities to `now` (RFC 6693, equation 2)."""
        units, self._aged = (now - self._aged) / self.parameters.time_unit, now
        factor = self.parameters.gamma**units
        self._chances = {node: value * factor for node, value in self._chances.items()}

    def _encounter(self, neighbour: NodeId, now: SimTime) -> None:
        """Equation 1; an encounter that follows soon after the last one counts for less."""
        own, old, last = self.parameters, self._chances.get(neighbour, 0.0), self._met.get(neighbour)
        self._met[neighbour] = now
        if last is None or old < own.p_first_threshold:
            self._chances[neighbour] = max(old, own.p_encounter_first)
            return
        counts = own.p_encounter_max * min(1.0, (now - last) / own.i_typ)
        self._chances[neighbour] = old + (1 - own.delta - old) * counts

    def _learn(self, neighbour: NodeId, told: dict[NodeId, float]) -> None:
        """Equation 3: what the neighbour may bring about."""
        by_way = self._chances.get(neighbour, 0.0) * self.parameters.beta
        for node, chance in told.items():
            if node != self.node:
                self._chances[node] = max(self._chances.get(node, 0.0), by_way * chance)
