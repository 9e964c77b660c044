"""Random networks, by the names of their nodes: trees of brokers, graphs, and fields.

Each kind is drawn as in a transcript's head. Small networks are likelier, because most errors appear in them, and
sooner. Delays are alike, of a few similar kinds, or of all lengths: they decide which message overtakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from roambus.bridge.scenario.definition import DEPARTURE
from roambus.experiments.exploring.scenario_file import Family
from roambus.python_protocol.vocabulary import MILLISECOND, SimTime


@dataclass(frozen=True)
class Sketch:
    """A network by names of nodes: each has a parent or a place."""

    kind: str
    nodes: tuple[tuple[str, str], ...] = ()
    """Each node with its parent or place, parents first. Empty if the question draws the network."""
    links: tuple[tuple[str, str], ...] = ()

    def lines(self) -> Iterator[str]:
        """As the head of a transcript draws it."""
        match self.kind:
            case "trees":
                clients = [f"{name}@{at}" if at else name for name, at in self.nodes if not name.startswith("b")]
                yield "tree"
                yield from self._branch("", 1)
                yield from [f"clients {' '.join(clients)}"] if clients else []
            case "graphs":
                yield f"links {' '.join(f'{a}-{b}' for a, b in self.links)}"
            case "fields":
                yield "field"
                yield from (f"  {name} at {place}" for name, place in self.nodes)

    def _branch(self, parent: str, depth: int) -> Iterator[str]:
        for name, at in self.nodes:
            if at == parent and name.startswith("b"):
                yield f"{'  ' * depth}{name}"
                yield from self._branch(name.split("/")[0], depth + 1)

    def without(self, name: str) -> Sketch:
        """The network without a node; its children go to its parent."""
        first = name.split("/", maxsplit=1)[0]
        above = dict(self.nodes)[name]
        nodes = ((one, above if at == first and self.kind == "trees" else at) for one, at in self.nodes if one != name)
        return replace(self, nodes=tuple(nodes), links=tuple(one for one in self.links if first not in one))

    def simpler(self) -> Iterator[Sketch]:
        """The network with one node less, or one process less on a node."""
        for name, at in reversed(self.nodes):
            yield self.without(name)
            for process in name.split("/")[1:]:
                fewer = name.replace(f"/{process}", "")
                yield replace(self, nodes=tuple((fewer, at) if one == name else (one, its) for one, its in self.nodes))


def draw_network(random: Random, family: Family | None) -> Sketch:
    """A network of a family, or else drawn by the question."""
    if family is None:
        return Sketch("drawn")
    size = family.least + int((family.most - family.least + 1) * random.random() ** 2)
    return _SKETCHES[family.kind](random, size)


def _tree(random: Random, size: int) -> Sketch:
    """Publishing brokers, some subscribing, and up to three clients that do both."""
    roles = random.choice(("/p{0}", "/p{0}/s{0}"))
    name = [f"b{one}{roles.format(one)}" for one in range(1, size + 1)]
    window = random.choice((1, 2, size))
    nodes = [(name[0], "")]
    nodes += [(name[one], f"b{random.randrange(max(0, one - window), one) + 1}") for one in range(1, size)]
    clients = random.randint(0 if "s" in roles else 1, 3)
    nodes += [(f"s{size + one}", f"b{random.randint(1, size)}") for one in range(1, clients + 1)]
    return Sketch("trees", tuple(nodes))


def _graph(random: Random, size: int) -> Sketch:
    """A random tree, and some links more."""
    names = [f"n{one}" for one in range(1, size + 1)]
    tree = [(names[random.randrange(one)], names[one]) for one in range(1, size)]
    others = [one for one in combinations(names, 2) if one not in tree]
    more = random.sample(others, min(len(others), random.randrange(size)))
    return Sketch("graphs", tuple((one, "") for one in names), tuple(tree + more))


def _field(random: Random, size: int, name: str = "n{0}") -> Sketch:
    """Disks of 30 m on a field, with about five others in reach of each."""
    side = max(30, round(24 * size**0.5))
    return Sketch("fields", tuple((name.format(one), draw_place(random, side)) for one in range(1, size + 1)))


def _brokers(random: Random, size: int) -> Sketch:
    """A field of brokers that publish and subscribe, and elect their tree."""
    return _field(random, size, "b{0}/p{0}/s{0}")


def draw_place(random: Random, side: int) -> str:
    """A place on a square field."""
    return f"{random.randint(0, side)},{random.randint(0, side)}"


_SKETCHES: dict[str, Callable[[Random, int], Sketch]] = {
    "trees": _tree,
    "graphs": _graph,
    "fields": _field,
    "brokers": _brokers,
}


def draw_delays(
    random: Random, sketch: Sketch, most: SimTime, *, is_storm: bool, leaves: bool
) -> tuple[tuple[str, SimTime], ...]:
    """Draw delays: all alike, of a few similar kinds, or of all lengths.

    If clients of a tree announce departures, their links are fast enough for the goodbye to arrive.
    """
    names = [name.split("/")[0] for name, _ in sketch.nodes]
    pairs = list(sketch.links) or list(combinations(names, 2))
    first = random.choice((MILLISECOND, MILLISECOND, any_delay(random, most)))
    near, far = (first // 2, 3 * first, 20 * first), tuple(any_delay(random, most) for _ in range(8))
    delays = [
        min(delay, most) for delay in (first, *(far if is_storm else random.choice(((), (2 * first,), near, far))))
    ]
    drawn = [(random.randrange(len(delays)), f"{a}-{b}") for a, b in pairs]
    to_clients = [
        link for _, link in drawn if leaves and sketch.kind == "trees" and not link.split("-")[1].startswith("b")
    ]
    others = [one for one in drawn if one[1] not in to_clients]
    grouped = [(" ".join(link for its, link in others if its == one), delays[one]) for one in range(1, len(delays))]
    grouped.append((" ".join(to_clients), min(delays[0], DEPARTURE // 2)))
    return (("", delays[0]), *(one for one in grouped if one[0]))


def any_delay(random: Random, most: SimTime) -> SimTime:
    """Of all lengths from 1 ms, short and long ones alike."""
    times: float = (most / MILLISECOND) ** random.random()
    return round(times) * MILLISECOND
