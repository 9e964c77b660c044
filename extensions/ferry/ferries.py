"""Ferries: nodes with the role of a broker that go from island to island, on a tour or where most waits.

A ferry keeps a notification until all subscribers that it knows have taken it. From the first visit to every island on
it knows them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from random import Random
from typing import ClassVar

from roambus.extensions.ferry.dweller import GONE, Dweller, FerryParameters
from roambus.extensions.ferry.islands import Dwelling, Need, Place, parse_places
from roambus.extensions.ferry.messages import NOWHERE, SAIL, Carried, Here, News, Taken, Wants
from roambus.python_protocol.agent import Recent, on, on_timer
from roambus.python_protocol.events import Arrived, Recovered, Started
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP, KEEP, RELEASE

_HELLO, _STAY = "hello", "stay"


@dataclass(slots=True)
class Cargo:
    """A notification aboard: the hops to its next receiver, when it came, and the nodes that have it."""

    notification: Notification
    hops: int
    since: SimTime
    reached: set[NodeId] = field(default_factory=set)


class Ferry(Dweller):
    """Carries notifications if its node has the role of a broker, and dwells otherwise."""

    parameters: FerryParameters
    messages = MessageSet([Here, Wants, News, Carried, Taken])
    own_notes: ClassVar[Mapping[str, str]] = {
        SAIL: "{node} sets out for island {detail}",
        KEEP: "{node} keeps {subject}",
        RELEASE: "{node} gives up {subject}: {detail}",
    }

    def __init__(self, node: NodeId, roles: Role, parameters: FerryParameters, random: Random) -> None:
        self._is_ferry = Role.BROKER in roles
        self._places: tuple[Place, ...] = parse_places(parameters.islands)
        super().__init__(node, roles, parameters, random)

    def forget(self) -> None:
        """Start without cargo and knowledge, as after a crash."""
        super().forget()
        self._cargo: dict[NotificationId, Cargo] = {}
        self._known: dict[NodeId, tuple[Filter, ...]] = {}
        self._custody = Recent(4 * self.parameters.buffer)
        self._visited: dict[int, SimTime] = {}
        """When this ferry last left each island."""
        self._island = NOWHERE
        self._is_there = False

    # The way

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Set out for the first island of this ferry."""
        if self._is_ferry:
            self.set_timer(_HELLO, self.random.randrange(self.parameters.hello))
            if self._places:
                self._sail(self.first_island)

    @property
    def first_island(self) -> int:
        """Where this ferry begins: k ferries begin evenly apart on the tour."""
        rank = (self.node - self.parameters.first) % self.parameters.ferries
        return rank * len(self._places) // self.parameters.ferries

    def _sail(self, island: int) -> None:
        self._island, self._is_there = island, False
        self.note(SAIL, detail=str(island))
        self.go_to(*self._places[island], speed=self.parameters.speed)

    @on(Arrived)
    def arrive(self, _: Arrived, __: SimTime) -> None:
        """Stay at an island; a ferry without islands rests where somebody else has sent it."""
        if self._places:
            self._is_there = True
            self.set_timer(_STAY, self.parameters.stay)

    @on_timer(_STAY)
    def leave(self, _: str, now: SimTime) -> None:
        """Set out for the next island, or stay on."""
        self._visited[self._island] = now
        self._unload(list(self._cargo.values()))
        if (island := self.next_island(now)) == self._island:
            self.set_timer(_STAY, self.parameters.stay)
        else:
            self._sail(island)

    def next_island(self, now: SimTime) -> int:
        """Choose an island; the one where the ferry is means to stay."""
        raise NotImplementedError

    # Cargo

    @on_timer(_HELLO)
    def say_here(self, _: str, now: SimTime) -> None:
        """Say that the ferry is here; give up notifications that are too old."""
        for identifier in [name for name, cargo in self._cargo.items() if now - cargo.since > self.parameters.lifetime]:
            del self._cargo[identifier]
            self.note(DROP, notification_id=str(identifier), detail="too old")
        self.send(BROADCAST, Here(self._island))
        self.set_timer(_HELLO, self.parameters.hello)

    def hear_ferry(self, here: Here, ferry: NodeId, now: SimTime) -> None:
        """Answer as any subscriber does; cargo stays aboard, and so do the ferry's own notifications."""
        if not self._is_ferry or list(self.subscriptions):
            super().hear_ferry(here, ferry, now)

    @on(Wants)
    def hear_wants(self, wants: Wants, node: NodeId, now: SimTime) -> None:
        """Learn a node's filters, and bring it a batch of the notifications that it wants."""
        self._known[node] = wants.filters
        self.learn(wants, node, now)
        wanted = (cargo for cargo in self._cargo.values() if self._is_owed(cargo, node))
        for cargo in islice(wanted, self.parameters.batch):
            self.send(node, Carried(cargo.hops, cargo.notification))

    def learn(self, wants: Wants, node: NodeId, now: SimTime) -> None:
        """Take in how much waits at a node."""

    def hear_carried(self, carried: Carried, node: NodeId, now: SimTime) -> None:
        """Take custody of a publisher's notification, and say so; a full ferry does not."""
        if not self._is_ferry or carried.hops > 1:
            super().hear_carried(carried, node, now)
        elif carried.notification.id in self._custody or self._load(carried.notification, 2, now):
            self.send(node, Taken(carried.notification.id))

    def _load(self, notification: Notification, hops: int, now: SimTime) -> bool:
        """Take a notification aboard if there is room."""
        if len(self._cargo) >= self.parameters.buffer:
            return False
        self._custody.add(notification.id)
        self.note(KEEP, notification_id=str(notification.id))
        self._cargo[notification.id] = Cargo(notification, hops, now)
        self._receive(notification, hops - 1)
        return True

    def _await_ferry(self, notification: Notification, now: SimTime) -> None:
        """Take a ferry's own notification aboard at once."""
        if not self._is_ferry:
            super()._await_ferry(notification, now)
        elif not self._load(notification, 1, now):
            self.note(DROP, notification_id=str(notification.id), detail="ferry full")

    def hear_taken(self, taken: Taken, node: NodeId, now: SimTime) -> None:
        """Note that a subscriber has a notification; without further subscribers it leaves the ferry."""
        super().hear_taken(taken, node, now)
        if (cargo := self._cargo.get(taken.id)) is not None:
            cargo.reached.add(node)
            self._unload([cargo])

    def _unload(self, cargo: Iterable[Cargo]) -> None:
        """Give up notifications that all subscribers have, once the ferry knows them all."""
        if len(self._visited) < len(self._places) or not self._places:
            return
        for one in cargo:
            if not any(self._is_owed(one, node) for node in self._known):
                del self._cargo[one.notification.id]
                self.note(RELEASE, notification_id=str(one.notification.id), detail="all have it")

    def _is_owed(self, cargo: Cargo, node: NodeId) -> bool:
        """Whether a node wants a notification and has not taken it."""
        if node in cargo.reached or node == cargo.notification.id.publisher:
            return False
        return any(wanted.matches(cargo.notification) for wanted in self._known[node])


class FixedFerry(Ferry):
    """Goes round the islands in their order."""

    def next_island(self, _: SimTime) -> int:
        """Choose the next island of the tour."""
        return (self._island + 1) % len(self._places)


class NeedFerry(Ferry):
    """Goes to the island with the most notifications: those that wait there, and those aboard for it.

    It estimates the first from the answers of nodes. It avoids islands for which ferries within earshot are bound, and
    stays where it is while no island has a notification. An island comes first that it does not know, or has not seen
    for long.
    """

    def forget(self) -> None:
        """Start without knowledge of need."""
        super().forget()
        self._need = Need()
        self._others: dict[NodeId, tuple[int, SimTime]] = {}

    def hear_ferry(self, here: Here, ferry: NodeId, now: SimTime) -> None:
        """Learn where another ferry goes."""
        super().hear_ferry(here, ferry, now)
        self._others[ferry] = here.island, now

    def learn(self, wants: Wants, node: NodeId, now: SimTime) -> None:
        """Learn what waits at a node; its island only during a stay, for others are heard on the way, too."""
        island = self._island if self._is_there else self._need.island_of(node)
        if island is not None:
            self._need.hear(node, Dwelling(island, now, wants.waiting, wants.published))

    def _load(self, notification: Notification, hops: int, now: SimTime) -> bool:
        """Count what no longer waits."""
        is_loaded = super()._load(notification, hops, now)
        if is_loaded:
            self._need.take(notification.id.publisher)
        return is_loaded

    def next_island(self, now: SimTime) -> int:
        """Choose the island with the greatest need, of equal ones the first on the tour from here."""
        count, here = len(self._places), self._island
        ahead = [(here + step) % count for step in range(1, count)]
        free = [island for island in ahead if island not in self._bound_for(now)]
        best = max(free, key=lambda island: self.need_of(island, now), default=here)
        return best if best != here and self.need_of(best, now) >= 1 else here

    def _bound_for(self, now: SimTime) -> set[int]:
        """Return the islands of ferries that were heard lately."""
        if not self.parameters.apart:
            return set()
        lately = now - GONE * self.parameters.hello
        return {island for island, heard in self._others.values() if heard >= lately}

    def need_of(self, island: int, now: SimTime) -> float:
        """Return the notifications that wait at an island, or are aboard for it."""
        if now - self._visited.get(island, -inf) > self.parameters.trust:
            return inf
        nodes = self._need.nodes_of(island)
        aboard = sum(any(self._is_owed(cargo, node) for node in nodes) for cargo in self._cargo.values())
        return aboard + self._need.waiting_at(island, now)
