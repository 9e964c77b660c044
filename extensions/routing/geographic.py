"""Geographic forwarding (Karp and Kung, MobiCom 2000): greedy, and around voids by the right-hand rule.

Nodes know their own positions, and their neighbours' by beacons and packets. Frames for others are not heard, so
positions on packets reach their receivers alone, and replace no beacon.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import dist
from typing import Annotated, Any, NamedTuple

from roambus.extensions.routing.planar import PLANARIZATIONS, Place, counterclockwise, crossing, planarize
from roambus.python_protocol.agent import Listing, by_first_column, on, on_timer
from roambus.python_protocol.events import Recovered, Started
from roambus.python_protocol.messages.fields import Integer, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import DataPacket, Router, UnicastParameters
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SimTime

BEACON_TIMER = "beacon"
_PAPER = "Karp and Kung (2000)"
Centimetres = Annotated[int, Integer("i")]
"""A coordinate."""
_PER_METRE = 100
FARTHEST_M = ((1 << 31) - 1) / _PER_METRE
"""The greatest coordinate of a message, some 21,475 km: the coordinates of any map fit."""
RESOLUTION_M = 2 / _PER_METRE
"""Points nearer to each other are one: what two roundings may be apart."""


class GeographicParameters(UnicastParameters):
    """Parameters of geographic forwarding; raises ValueError for impossible values."""

    beacon_interval: SimTime = parameter(
        1500 * MILLISECOND,
        unit="s",
        source=f"{_PAPER}, section 3.1: B of 1, 1.5 or 3 s",
        above=0,
        doc="mean time between two beacons, of which each time is half to one and a half",
    )
    beacon_timeout: float = parameter(
        4.5, source=f"{_PAPER}, section 2.4: T = 4.5 B", above=1, doc="silence that loses a neighbour, in intervals"
    )
    planarization: str = parameter(
        "rng",
        source=f"{_PAPER}, section 2.2.1",
        choices=tuple(PLANARIZATIONS),
        doc="graph of perimeter mode: the relative neighbourhood graph, or the Gabriel graph",
    )
    perimeter: bool = parameter(
        True, source=f"{_PAPER}, section 2.2", doc="go around voids; false: greedy forwarding alone"
    )


class Point(NamedTuple):
    """A position in a message."""

    x: Centimetres
    y: Centimetres

    @property
    def place(self) -> Place:
        """In metres."""
        return self.x / _PER_METRE, self.y / _PER_METRE


def point(place: Place) -> Point:
    """Return the nearest point that a message can carry; raises ValueError farther than FARTHEST_M."""
    if max(map(abs, place)) > FARTHEST_M:
        raise ValueError(f"{place} is farther than the {FARTHEST_M} m that a message can carry")
    return Point(centimetres(place[0]), centimetres(place[1]))


UNKNOWN = Point(-(1 << 31), -(1 << 31))
"""The position of a node that does not know its own: no place has it."""


def centimetres(metres: float) -> int:
    """Return a length as messages carry it."""
    return round(_PER_METRE * metres)


class Edge(NamedTuple):
    """A directed edge."""

    sender: NodeId
    receiver: NodeId


class Perimeter(NamedTuple):
    """The header fields of perimeter mode (table 1)."""

    lp: Point
    """Where the packet entered perimeter mode."""
    lf: Point
    """Where it entered the current face."""
    e0: Edge
    """The first edge on that face."""


class Beacon(Message, tag=0x68, name="BEACON"):
    """The sender's position."""

    position: Point


class Routed(DataPacket):
    """The header of a packet that goes to a place: greedy without `perimeter`."""

    position: Point
    """The last sender's."""
    d: Point
    """The destination's."""
    perimeter: Perimeter | None


@dataclass(frozen=True, slots=True)
class Known:
    """A node's position at a time."""

    place: Place
    since: SimTime


class Geographic(Router):
    """Forwards to the neighbour nearest to a place, and around voids on a planar graph."""

    parameters: GeographicParameters
    needs_position = True
    farthest_m = FARTHEST_M

    def forget(self) -> None:
        """Start without neighbours."""
        super().forget()
        self.neighbors: dict[NodeId, Known] = {}

    @property
    def here(self) -> Place | None:
        """The own position as messages say it: a packet that comes back must find the place that it has left."""
        return None if self.position is None else point(self.position).place

    # Section 2.4: beacons

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, now: SimTime) -> None:
        """Begin the beacons at a random time."""
        self.set_timer(BEACON_TIMER, self.random.randint(0, self.parameters.beacon_interval))

    @on_timer(BEACON_TIMER)
    def say_position(self, _: object, now: SimTime) -> None:
        """Broadcast the position, and forget silent neighbours."""
        if self.position is not None:
            self.frames.broadcast(Beacon(point(self.position)), now)
        self.neighbors = {node: known for node, known in self.neighbors.items() if self._is_near(known, now)}
        half = self.parameters.beacon_interval // 2
        self.set_timer(BEACON_TIMER, half + self.random.randint(0, 2 * half))

    @on(Beacon)
    def receive_beacon(self, beacon: Beacon, sender: NodeId, now: SimTime) -> None:
        """Learn the neighbour's position."""
        self.hear_position(sender, beacon.position, now)

    def hear_position(self, sender: NodeId, position: Point, now: SimTime) -> None:
        """Take a neighbour's position, if it knows it."""
        if position != UNKNOWN:
            self.neighbors[sender] = Known(position.place, now)

    def lose_link(self, neighbour: NodeId, undelivered: Iterable[Message], now: SimTime) -> None:
        """Forget the neighbour, and send its packets another way (section 2.4)."""
        self.neighbors.pop(neighbour, None)
        for message in undelivered:
            if hasattr(message, "perimeter"):
                self.route(message.replaced(perimeter=None), None, now)

    def route(self, message: Any, sender: NodeId | None, now: SimTime, *, later: bool = False) -> None:
        """Send a message to its next hop, perhaps after a jitter, or drop it."""
        chosen = self.choose(message, sender, now)
        if isinstance(chosen, str):
            self.give_up(message, chosen, now)
            return
        next_hop, perimeter = chosen
        here = UNKNOWN if self.position is None else point(self.position)
        message = message.replaced(position=here, perimeter=perimeter)
        if isinstance(message, DataPacket):
            self.pass_on(message, next_hop, now)
        elif later:
            self.frames.unicast_later(next_hop, message)
        else:
            self.frames.unicast(next_hop, message, now)

    def give_up(self, message: Any, reason: str, now: SimTime) -> None:
        """Drop a message without a next hop, with a row for a packet."""
        if isinstance(message, DataPacket):
            self.frames.drop(message, reason)

    # Sections 2.1 to 2.3: the next hop

    def near(self, now: SimTime) -> dict[NodeId, Place]:
        """The neighbours' positions, each for the time-out T."""
        return {node: known.place for node, known in self.neighbors.items() if self._is_near(known, now)}

    def _is_near(self, known: Known, now: SimTime) -> bool:
        return now - known.since < self.parameters.beacon_timeout * self.parameters.beacon_interval

    def choose(self, message: Any, sender: NodeId | None, now: SimTime) -> tuple[NodeId, Perimeter | None] | str:
        """Return the next hop with the mode that the message goes on in, or why there is none."""
        here, near, d = self.here, self.near(now), message.d.place
        if message.destination in near:
            return message.destination, None
        if here is None:
            return "no position"
        mode: Perimeter | None = message.perimeter
        if mode is None or dist(here, d) < dist(mode.lp.place, d):
            nearest = min(near, key=lambda neighbour: (dist(near[neighbour], d), neighbour), default=None)
            if nearest is not None and dist(near[nearest], d) < dist(here, d):
                return nearest, None
            return self._enter(here, d, near)
        return self._go_round(here, d, near, sender, mode)

    def _enter(self, here: Place, d: Place, near: Mapping[NodeId, Place]) -> tuple[NodeId, Perimeter | None] | str:
        """Enter perimeter mode at a local maximum: along the first edge counterclockwise from the line to D."""
        if not self.parameters.perimeter:
            return "local maximum"
        next_hop = counterclockwise(here, d, planarize(here, near, self.parameters.planarization))
        if next_hop is None:
            return "no neighbour"
        return next_hop, Perimeter(point(here), point(here), Edge(self.node, next_hop))

    def _go_round(
        self, here: Place, d: Place, near: Mapping[NodeId, Place], sender: NodeId | None, mode: Perimeter
    ) -> tuple[NodeId, Perimeter | None] | str:
        """Follow the face by the right-hand rule, and enter the next one where the way crosses the line to D."""
        flat = planarize(here, near, self.parameters.planarization)
        start = d if sender is None else near.get(sender, d)
        next_hop = counterclockwise(here, start, flat)
        if next_hop is None:
            return "no neighbour"
        if mode.e0 == Edge(self.node, next_hop):
            return "unreachable"
        for _ in flat:  # FACE-CHANGE, once for each edge at most
            crossed = crossing(here, flat[next_hop], mode.lp.place, d)
            if crossed is None or dist(crossed, d) + RESOLUTION_M > dist(mode.lf.place, d):
                break
            turned = counterclockwise(here, flat[next_hop], flat)
            next_hop = next_hop if turned is None else turned
            mode = Perimeter(mode.lp, point(crossed), Edge(self.node, next_hop))
        return next_hop, mode

    # What is looked at

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The neighbours and their positions."""
        return {"neighbours": by_first_column(("Neighbour", "x", "y"), self._rows(names))}

    def _rows(self, names: Names) -> Iterator[tuple[str, ...]]:
        for neighbor, known in self.neighbors.items():
            yield names.node(neighbor), *(repr(coordinate).removesuffix(".0") for coordinate in known.place)
