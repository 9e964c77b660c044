"""The places of islands, and the need of each: the notifications that wait there, learnt from its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

Place = tuple[float, float]
"""x and y in m."""

MOST_ISLANDS = 255
"""Their numbers are below `messages.NOWHERE`."""


def parse_places(text: str) -> tuple[Place, ...]:
    """Read places such as "40,40/160,40"; raise ValueError naming the wrong one."""
    places = tuple(map(_parse_place, text.split("/"))) if text else ()
    if len(places) > MOST_ISLANDS:
        raise ValueError(f"there are {len(places)} islands: a HERE numbers at most {MOST_ISLANDS}")
    return places


def _parse_place(text: str) -> Place:
    try:
        x, y = map(float, text.split(","))
    except ValueError:
        raise ValueError(
            f"{text!r} is no place: write x,y in metres, and / between two places, as in 40,40/160,40"
        ) from None
    return x, y


@dataclass(slots=True)
class Dwelling:
    """A ferry's knowledge of a node: its island, the time of its last word, and its queue then."""

    island: int
    heard: SimTime
    waiting: int
    published: int

    def expected(self, now: SimTime) -> float:
        """The notifications that wait there by now, if it has published evenly since time 0."""
        return self.waiting + self.published * (now - self.heard) / max(self.heard, 1)


class Need:
    """The queues of all nodes that a ferry has heard."""

    def __init__(self) -> None:
        self._nodes: dict[NodeId, Dwelling] = {}

    def hear(self, node: NodeId, dwelling: Dwelling) -> None:
        """Learn from a node's word."""
        self._nodes[node] = dwelling

    def take(self, node: NodeId) -> None:
        """Count a notification that the node has handed over."""
        if (dwelling := self._nodes.get(node)) is not None:
            dwelling.waiting = max(dwelling.waiting - 1, 0)

    def island_of(self, node: NodeId) -> int | None:
        """Return the island of a node, if it is known."""
        return self._nodes[node].island if node in self._nodes else None

    def nodes_of(self, island: int) -> list[NodeId]:
        """Return the nodes that were heard at an island."""
        return [node for node, dwelling in self._nodes.items() if dwelling.island == island]

    def waiting_at(self, island: int, now: SimTime) -> float:
        """Estimate the notifications that wait at an island."""
        return sum(dwelling.expected(now) for dwelling in self._nodes.values() if dwelling.island == island)
