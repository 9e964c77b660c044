"""Random parts of scenarios, drawn from the seed before the run: the same for every agent.

Templates call these functions for way-points and interests. Each generator is seeded with its name, the seed and its
sizes, so no draw depends on another.

Nodes start in the steady state of random waypoint movement (Navidi and Camp, 2004; Le Boudec and Vojnovic, 2005). A
node rests with the share of pauses in its time, uniform in field and pause. Otherwise it is uniform on a way between
two places of density proportional to their distance. Speed is constant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.roles import NodeId

Place = tuple[float, float]

_MEAN_DISTANCE = (2 + math.sqrt(2) + 5 * math.log(1 + math.sqrt(2))) / 15
"""The mean distance of two uniform places in a unit square (Ghosh, 1951): 0.5214."""


@dataclass(frozen=True, slots=True)
class Start:
    """A node at (x, y) m rests for `pause` s, or goes to (`to_x`, `to_y`); -1 for a drawn way."""

    x: float
    y: float
    to_x: float = -1.0
    to_y: float = -1.0
    pause: float = 0.0


def steady_starts(seed: int, nodes: int, side: float, speed: float, pause: float = 0) -> list[Start]:
    """Starts in a square field (m), speed in m/s, pause in s. Raises ValueError."""
    if side <= 0 or speed <= 0 or pause < 0:
        raise ValueError(
            f"steady state: side {side} m and speed {speed} m/s must be above 0, pause {pause} s at least 0"
        )
    random = Random(f"steady state/{seed}/{nodes}")
    resting = pause / (pause + _MEAN_DISTANCE * side / speed)
    return [
        _at_rest(random, side, pause) if random.random() < resting else _on_a_way(random, side) for _ in range(nodes)
    ]


def _at_rest(random: Random, side: float, pause: float) -> Start:
    x, y = _place(random, side)
    return Start(x, y, pause=round(random.uniform(0, pause), 3))


def _on_a_way(random: Random, side: float) -> Start:
    longest = math.hypot(side, side)
    while True:
        (x, y), (to_x, to_y) = _place(random, side), _place(random, side)
        if random.random() * longest < math.hypot(to_x - x, to_y - y):
            gone = random.random()
            return Start(round(x + gone * (to_x - x), 3), round(y + gone * (to_y - y), 3), to_x, to_y)


def _place(random: Random, side: float) -> Place:
    return round(random.uniform(0, side), 3), round(random.uniform(0, side), 3)


def drawn_interests(  # noqa: PLR0913  # what a template says, by name
    *, seed: int, subscribers: int, topics: int, share: float, each: int, exponent: float
) -> list[str]:
    """Each subscriber's filters as in the ini; empty for one without topics.

    A `share` of the subscribers wants each topic; if `each` is not 0, each subscriber wants that many topics. Raises
    ValueError.
    """
    if not 0 <= share <= 1 or not 0 <= each <= topics:
        raise ValueError(f"interest is a share from 0 to 1, and a subscriber wants 0 to {topics} of {topics} topics")
    random = Random(f"interest/{seed}/{subscribers}/{topics}")
    weights = [(1 + number) ** -exponent for number in range(topics)]
    wanted: list[set[int]] = [set() for _ in range(subscribers)]
    for own in wanted:
        while len(own) < each:
            own.update(random.choices(range(topics), weights))
    for topic in range(topics) if not each else ():
        for subscriber in random.sample(range(subscribers), round(share * subscribers)):
            wanted[subscriber].add(topic)
    # Who wants every topic says so by one filter: many would be held against protocols that send subscriptions.
    return [
        "topic exists" if len(own) == topics else "; ".join(f"topic = 't{topic}'" for topic in sorted(own))
        for own in wanted
    ]


def drawn_nodes(
    purpose: str, seed: int, nodes: int, share: float, among: Sequence[NodeId] | None = None
) -> list[NodeId]:
    """A share of the nodes, or of those `among` them, in their order."""
    all_of_them = range(nodes) if among is None else among
    return sorted(Random(f"{purpose}/{seed}/{nodes}").sample(all_of_them, round(share * len(all_of_them))))


@dataclass(frozen=True, slots=True)
class Area:
    """Nodes `first` to `last` are in a rectangle with corners (x, y) and (right, top) metres."""

    first: NodeId
    last: NodeId
    x: float
    y: float
    width: float
    height: float
    right: float
    top: float


_NUMBER = r"(\d+(?:\.\d+)?)"
_GROUP = re.compile(rf"(\d+)-at-{_NUMBER}-{_NUMBER}-{_NUMBER}x{_NUMBER}")


def areas(groups: str, nodes: int, side: float) -> list[Area]:
    """The areas of groups of consecutive nodes. Raises ValueError."""
    found: list[Area] = []
    for text in groups.split("+"):
        group = _GROUP.fullmatch(text)
        if group is None:
            raise ValueError(
                f"groups: {text!r} is no group such as 10-at-0-0-20x20: NUMBER-at-X-Y-WIDTHxHEIGHT in metres"
            )
        count, (x, y, width, height) = int(group[1]), map(float, group.groups()[1:])
        first = found[-1].last + 1 if found else 0
        area = Area(first, first + count - 1, x, y, width, height, x + width, y + height)
        if not (count and width and height) or max(area.right, area.top) > side:
            raise ValueError(
                f"groups: {text}: a group has a node at least, and an area within the {side:g} m of the field"
            )
        if area.last >= nodes:
            raise ValueError(f"groups: {text}: that makes {area.last + 1} nodes, and there are {nodes}")
        found.append(area)
    return found


TEMPLATE_FUNCTIONS = (steady_starts, drawn_interests, drawn_nodes, areas)
"""The functions of every template."""


Parents = dict[NodeId, NodeId]


def random_tree(brokers: int, random: Random) -> Parents:
    """The parents in a uniformly random tree with root 0 (Aldous and Broder).

    A random walk over the complete graph first reaches each broker from its parent.
    """
    parents: Parents = {}
    at = 0
    while len(parents) < brokers - 1:
        before, at = at, random.randrange(brokers)
        if at:
            parents.setdefault(at, before)
    return parents
