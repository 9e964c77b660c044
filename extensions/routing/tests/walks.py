"""GPSR on unit disks that stand: a packet walks over the tables that beacons would give, without a network."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import dist
from random import Random
from typing import NamedTuple

from roambus.extensions.routing.geographic import Known, Perimeter, Point, point
from roambus.extensions.routing.gpsr import Gpsr, GpsrParameters
from roambus.extensions.routing.planar import Place
from roambus.python_protocol.roles import NodeId, Role

RANGE_M = 35.0
MOST_HOPS = 1000
"""A walk of more hops is a loop."""


class Header(NamedTuple):
    """The fields that choose a next hop."""

    destination: NodeId
    d: Point
    perimeter: Perimeter | None


class Disks:
    """Nodes at places, each with what its neighbours' beacons say."""

    def __init__(self, places: list[Place], planarization: str) -> None:
        self.places = places
        self.links = [
            [other for other, there in enumerate(places) if other != node and dist(here, there) <= RANGE_M]
            for node, here in enumerate(places)
        ]
        parameters = GpsrParameters(planarization=planarization)
        self._agents = [Gpsr(node, Role.NONE, parameters, Random(node)) for node in range(len(places))]
        for agent, place, near in zip(self._agents, places, self.links, strict=True):
            agent.position = place
            agent.neighbors = {other: Known(point(places[other]).place, 0) for other in near}

    def hops(self, source: NodeId) -> dict[NodeId, int]:
        """The fewest hops to each node that can be reached."""
        found, waiting = {source: 0}, deque([source])
        while waiting:
            node = waiting.popleft()
            for other in self.links[node]:
                if other not in found:
                    found[other] = found[node] + 1
                    waiting.append(other)
        return found

    def walk(self, source: NodeId, destination: NodeId) -> int | str:
        """Return the hops of a packet, or why it has not arrived."""
        header = Header(destination, point(self.places[destination]), None)
        before, here = None, source
        for hops in range(1, MOST_HOPS):
            chosen = self._agents[here].choose(header, before, 0)
            if isinstance(chosen, str):
                return chosen
            before, (here, perimeter) = here, chosen
            if here == destination:
                return hops
            header = header._replace(perimeter=perimeter)
        return "loop"


def drawn(seed: int) -> list[Place]:
    """Draw 5 to 40 real-valued places in a square, from dense to hardly connected."""
    random = Random(seed)
    nodes, side = random.randint(5, 40), random.uniform(60, 220)
    return [(random.uniform(0, side), random.uniform(0, side)) for _ in range(nodes)]


def connected(first: int = 0) -> Iterator[list[Place]]:
    """Draw the places of connected graphs, for ever."""
    seed = first
    while True:
        places = drawn(seed)
        if len(Disks(places, "rng").hops(0)) == len(places):
            yield places
        seed += 1


def walks(places: list[Place], planarization: str) -> Iterator[tuple[int | str, int]]:
    """Yield the end of the walk between each ordered pair, and the fewest hops."""
    disks = Disks(places, planarization)
    for source in range(len(places)):
        for destination, fewest in disks.hops(source).items():
            if destination != source:
                yield disks.walk(source, destination), fewest
