"""Networks by the names of their nodes: all small ones, and random ones.

The small ones are the connected graphs of N nodes and the rooted trees of N brokers, in every numbering or each shape
once. Random trees of brokers, graphs and fields are drawn as in a transcript's head. Small networks are likelier,
because most errors appear in them, and sooner. Delays are alike, of a few similar kinds, or of all lengths: they decide
which message overtakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from random import Random
from typing import NamedTuple

from roambus.bridge.scenario.definition import DEPARTURE
from roambus.python_protocol.simtime import MILLISECOND, SimTime

Edge = tuple[int, int]


def connected_graphs(size: int, *, alike: bool) -> list[tuple[Edge, ...]]:
    """Return all connected graphs, or one of each shape if nodes are alike; fewest links first."""
    pairs = list(combinations(range(size), 2))
    counts = range(size - 1, len(pairs) + 1)
    graphs = [graph for links in counts for graph in combinations(pairs, links) if _is_connected(size, graph)]
    # All renamings are tried: of six nodes, which is the most, there are 720.
    return list(dict.fromkeys(_shape(size, graph) for graph in graphs)) if alike else graphs


def rooted_trees(size: int, *, alike: bool) -> list[tuple[int | None, ...]]:
    """Return the parents in all rooted trees, or in one of each shape if nodes are alike."""
    parents = (None, *range(size))
    drawn = product(parents[:1] if alike else parents, *[parents] * (size - 1))
    shapes = {tree: _canonical(tree, tree.index(None)) for tree in drawn if tree.count(None) == 1}
    trees = [tree for tree, shape in shapes.items() if shape.count("(") == size]
    return list({shapes[tree]: tree for tree in reversed(trees)}.values()) if alike else trees


def _canonical(tree: tuple[int | None, ...], root: int) -> str:
    children = (child for child, parent in enumerate(tree) if parent == root)
    return f"({''.join(sorted(_canonical(tree, child) for child in children))})"


def _shape(size: int, graph: tuple[Edge, ...]) -> tuple[Edge, ...]:
    named = ([sorted((names[a], names[b])) for a, b in graph] for names in permutations(range(size)))
    return min(tuple(sorted((a, b) for a, b in links)) for links in named)


def _is_connected(size: int, graph: tuple[Edge, ...]) -> bool:
    reached = {0}
    for _ in range(size):
        reached |= {end for edge in graph if reached & set(edge) for end in edge}
    return len(reached) == size


class Family(NamedTuple):
    """Random networks of one kind and size; a tree's size counts brokers, clients are added."""

    kind: str
    least: int
    most: int


Delays = tuple[tuple[str, SimTime], ...]
"""A delay and its links, as in the head; the first applies to all other links."""


class Sketch(NamedTuple):
    """A network by names of nodes: each has a parent or a place."""

    kind: str
    nodes: tuple[tuple[str, str], ...] = ()
    """Each node with its parent or place, parents first. Empty if the question draws the network."""
    links: tuple[tuple[str, str], ...] = ()

    def lines(self) -> Iterator[str]:
        """As the head of a transcript draws it."""
        if self.kind == "trees":
            clients = "".join(f" {name}@{at}" if at else f" {name}" for name, at in self.nodes if name[0] != "b")
            yield from ("tree", *self._branch("", "  "), *[f"clients{clients}"] * bool(clients))
        elif self.kind == "graphs":
            yield " ".join(("links", *(f"{a}-{b}" for a, b in self.links)))
        elif self.nodes:
            yield from ("field", *(f"  {name} at {place}" for name, place in self.nodes))

    def _branch(self, parent: str, indent: str) -> Iterator[str]:
        for name, at in self.nodes:
            if at == parent and name[0] == "b":
                yield from (indent + name, *self._branch(name.split("/")[0], f"{indent}  "))

    def simpler(self) -> Iterator[Sketch]:
        """The network with one node less, whose children go to its parent, or with one process less on a node."""
        for name, above in reversed(self.nodes):
            first, *processes = name.split("/")
            others = ((node, above if at == first else at) for node, at in self.nodes if node != name)
            yield Sketch(self.kind, tuple(others), tuple(link for link in self.links if first not in link))
            for process in processes:
                fewer = {name: name.replace(f"/{process}", "")}
                yield self._replace(nodes=tuple((fewer.get(node, node), at) for node, at in self.nodes))


def draw_network(random: Random, family: Family | None) -> Sketch:
    """A network of a family, or else drawn by the question."""
    if family is None:
        return Sketch("drawn")
    size = family.least + int((family.most - family.least + 1) * random.random() ** 2)
    if family.kind == "trees":
        return _tree(random, size)
    if family.kind == "graphs":
        return _graph(random, size)
    # Disks of 30 m, with about five others in reach of each. Brokers on a field elect their tree.
    side = max(30, round(24 * size**0.5))
    name = "b{0}/p{0}/s{0}" if family.kind == "brokers" else "n{0}"
    return Sketch("fields", tuple((name.format(number), draw_place(random, side)) for number in range(1, size + 1)))


def _tree(random: Random, size: int) -> Sketch:
    """Publishing brokers, some subscribing, and up to three clients that do both."""
    roles = random.choice(("/p{0}", "/p{0}/s{0}"))
    window = random.choice((1, 2, size))
    above = ["", *(f"b{random.randrange(max(0, number - window), number) + 1}" for number in range(1, size))]
    nodes = [(f"b{number}{roles.format(number)}", parent) for number, parent in enumerate(above, 1)]
    clients = random.randint(0 if "s" in roles else 1, 3)
    nodes += [(f"s{size + number}", f"b{random.randint(1, size)}") for number in range(1, clients + 1)]
    return Sketch("trees", tuple(nodes))


def _graph(random: Random, size: int) -> Sketch:
    """A random tree, and some links more."""
    names = [f"n{number}" for number in range(1, size + 1)]
    tree = [(names[random.randrange(number)], names[number]) for number in range(1, size)]
    others = [pair for pair in combinations(names, 2) if pair not in tree]
    more = random.sample(others, min(len(others), random.randrange(size)))
    return Sketch("graphs", tuple((name, "") for name in names), tuple(tree + more))


def draw_place(random: Random, side: int) -> str:
    """A place on a square field."""
    return f"{random.randint(0, side)},{random.randint(0, side)}"


def draw_delays(random: Random, sketch: Sketch, most: SimTime, *, is_storm: bool, leaves: bool) -> Delays:
    """Draw delays: all alike, of a few similar kinds, or of all lengths.

    If clients of a tree announce departures, their links are fast enough for the goodbye to arrive.
    """
    pairs = list(sketch.links) or list(combinations([name.split("/")[0] for name, _ in sketch.nodes], 2))
    first = random.choice((MILLISECOND, MILLISECOND, any_delay(random, most)))
    near, far = (first // 2, 3 * first, 20 * first), tuple(any_delay(random, most) for _ in range(8))
    kinds = far if is_storm else random.choice(((), (2 * first,), near, far))
    delays = [min(delay, most) for delay in (first, *kinds)]
    links: list[list[str]] = [[] for _ in (*delays, 0)]
    for a, b in pairs:
        kind = random.randrange(len(delays))
        links[-1 if leaves and sketch.kind == "trees" and b[0] != "b" else kind].append(f"{a}-{b}")
    grouped = zip(links[1:], (*delays[1:], min(delays[0], DEPARTURE // 2)), strict=True)
    return (("", delays[0]), *((" ".join(its), delay) for its, delay in grouped if its))


def any_delay(random: Random, most: SimTime) -> SimTime:
    """Of all lengths from 1 ms, short and long ones alike."""
    times: float = (most / MILLISECOND) ** random.random()
    return round(times) * MILLISECOND
