"""What scenarios of several studies draw from the run's seed, before the run starts: every agent gets the same.

What one study draws stands in the module `scenario` of its folder. Here are random trees of brokers, who wants which
topics, and where nodes are, and where they go, in the steady state of random waypoint movement.

*Interest* is drawn for topics or for subscribers. Either each topic is wanted by the same share of the subscribers,
drawn anew for each topic; or each subscriber wants the same number of topics, of which by Zipf's law the first ones are
wanted by most.

Nodes that start uniformly in the field, each with a new way before it, are not yet as they will be: long ways take
longer, so a node that is looked at later is more probably on a long one, which crosses the middle. In the steady state
(Navidi and Camp, "Stationary distributions for the random waypoint mobility model", 2004; Le Boudec and Vojnovic,
"Perfect simulation and stationarity of a class of mobility models", 2005) a node

- rests with the probability that is the share of pauses in its time. Then it is uniform in the field, and of a pause of
  constant length what is left is uniform, too;
- else is on a way between two places whose density is that of uniform places times their distance, uniformly on it.

Speed is constant here, so that nothing is to be drawn for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.vocabulary import NodeId

Parents = dict[NodeId, NodeId]
Place = tuple[float, float]

_MEAN_DISTANCE = (2 + math.sqrt(2) + 5 * math.log(1 + math.sqrt(2))) / 15
"""Of two uniform places in a square of side 1 (Ghosh, 1951), which is the mean length of a way: 0.5214."""


@dataclass(frozen=True, slots=True)
class Start:
    """A node is at (x, y) metres and rests for `pause` s more, or goes to (`to_x`, `to_y`): -1 for a drawn way."""

    x: float
    y: float
    to_x: float = -1.0
    to_y: float = -1.0
    pause: float = 0.0


def steady_starts(seed: int, nodes: int, side: float, speed: float, pause: float = 0) -> list[Start]:
    """The starts of the nodes of a square field (m) at a speed in m/s, with a pause in s. Raises ValueError."""
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
    """Ways are taken with a probability that grows with their length; then the node is anywhere on its way."""
    longest = math.hypot(side, side)
    while True:
        (x, y), (to_x, to_y) = _place(random, side), _place(random, side)
        if random.random() * longest < math.hypot(to_x - x, to_y - y):
            gone = random.random()
            return Start(round(x + gone * (to_x - x), 3), round(y + gone * (to_y - y), 3), to_x, to_y)


def _place(random: Random, side: float) -> Place:
    return round(random.uniform(0, side), 3), round(random.uniform(0, side), 3)


def random_tree(brokers: int, random: Random) -> Parents:
    """The parents in a tree with root 0, each of all these trees as likely as any other (Aldous and Broder).

    A random walk over the complete graph comes to each broker for the first time from its parent.
    """
    parents: Parents = {}
    at = 0
    while len(parents) < brokers - 1:
        before, at = at, random.randrange(brokers)
        if at:
            parents.setdefault(at, before)
    return parents


def drawn_interests(  # noqa: PLR0913  # what a template says, by name
    *, seed: int, subscribers: int, topics: int, share: float, each: int, exponent: float
) -> list[str]:
    """The filters of each subscriber, as the ini has them; an empty text for one who wants none of the topics.

    Each topic is wanted by a `share` of the subscribers, or else each subscriber wants `each` topics, if that is not 0.
    Raises ValueError.
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
    return ["; ".join(f"topic = 't{topic}'" for topic in sorted(own)) for own in wanted]
