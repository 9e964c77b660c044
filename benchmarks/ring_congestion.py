"""The congestion of the skip ring, of Chord and of skip graphs (the skip ring's paper, section 1.3).

python -m benchmarks.ring_congestion
python -m benchmarks.ring_congestion --sizes 16,64,256 --seeds 10

The paper says that the skip ring has a better congestion, because the supervisor distributes its nodes evenly. It does
not say what congestion is. Here every node sends to every other over shortest paths, shared evenly where there are
several; the congestion is the share of all pairs whose paths pass the node that most of them pass. Edges go both ways.
Chord has random places, and an edge to the first node at each power of two behind each; a skip graph has random words
of bits, and links neighbours of equal beginnings of each length.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from random import Random
from statistics import fmean

import click
import pandas as pd

from roambus.python_protocol.papers.skip_ring.corrupted import skip_ring
from roambus.spark.aggregation.intervals import interval

Graph = Mapping[int, set[int]]
_BITS = 32


@click.command()
@click.option("--sizes", default="16,32,64,128,256", show_default=True, help="Numbers of nodes.")
@click.option("--seeds", default=10, show_default=True, help="Random graphs of each kind.")
def main(sizes: str, seeds: int) -> None:
    """Prints the congestion of each graph, its mean degree, and its greatest gap between neighbours on the circle."""
    print("nodes graph       congestion (%)  mean degree  greatest gap over mean gap")
    for nodes in map(int, sizes.split(",")):
        for name, make in KINDS.items():
            made = [make(nodes, Random(f"{name}/{nodes}/{seed}")) for seed in range(seeds)]
            shares = pd.Series([100 * congestion(graph) for graph, _ in made])
            degrees = fmean(len(others) for graph, _ in made for others in graph.values())
            gaps = fmean(greatest_gap(places) for _, places in made)
            width = interval(shares).half_width
            print(f"{nodes:5} {name:10} {shares.mean():8.1f} ± {width:3.1f} {degrees:13.2f} {gaps:15.1f}")


def congestion(graph: Graph) -> float:
    """The share of all ordered pairs whose shortest paths pass the node that most of them pass, ends not counted.

    Brandes' algorithm: from each source the nodes in the order of their distance, and then back.
    """
    passed = dict.fromkeys(graph, 0.0)
    for source in graph:
        order, before, ways = _shortest_paths(graph, source)
        share = dict.fromkeys(graph, 0.0)
        for node in reversed(order):
            for one in before[node]:
                share[one] += ways[one] / ways[node] * (1 + share[node])
            passed[node] += share[node] if node != source else 0
    most: float = max(passed.values())
    return most / (len(graph) * (len(graph) - 1))


def _shortest_paths(graph: Graph, source: int) -> tuple[list[int], dict[int, list[int]], dict[int, int]]:
    """The nodes by distance, who is before each on a shortest path, and how many shortest paths there are to each."""
    distance, ways = {source: 0}, {source: 1}
    before: dict[int, list[int]] = {node: [] for node in graph}
    order, waiting = [], deque([source])
    while waiting:
        order.append(node := waiting.popleft())
        for other in sorted(graph[node]):
            if other not in distance:
                distance[other], ways[other] = distance[node] + 1, 0
                waiting.append(other)
            if distance[other] == distance[node] + 1:
                ways[other] += ways[node]
                before[other].append(node)
    return order, before, ways


def greatest_gap(places: Iterable[float]) -> float:
    """The greatest gap between neighbours on a circle of length 1, over the mean gap."""
    circle = sorted(places)
    gaps = [after - one for one, after in pairwise(circle)] + [1 + circle[0] - circle[-1]]
    return max(gaps) * len(circle)


def make_skip_ring(nodes: int, _: Random) -> tuple[Graph, list[float]]:
    """The skip ring of the definition, and r(label) of its nodes."""
    places = skip_ring(nodes)
    number = {label: index for index, label in enumerate(places)}
    graph: dict[int, set[int]] = {index: set() for index in number.values()}
    for label, place in places.items():
        known = {place.left, place.right, place.ring, *place.shortcuts} - {None}
        graph[number[label]] = {number[one] for one in known if one is not None}
    return graph, [int(label, 2) / 2 ** len(label) for label in places]


def make_chord(nodes: int, random: Random) -> tuple[Graph, list[float]]:
    """A Chord ring with random places."""
    places = sorted(random.sample(range(1 << _BITS), nodes))
    graph: dict[int, set[int]] = {node: set() for node in range(nodes)}
    for node, place in enumerate(places):
        for bit in range(_BITS):
            wanted = (place + (1 << bit)) % (1 << _BITS)
            _link(graph, node, next((one for one, at in enumerate(places) if at >= wanted), 0))
    return graph, [place / (1 << _BITS) for place in places]


def make_skip_graph(nodes: int, random: Random) -> tuple[Graph, list[float]]:
    """A skip graph with random words; the order of the nodes is that of their keys, which are random places."""
    places = sorted(random.random() for _ in range(nodes))
    words = [random.getrandbits(_BITS) for _ in range(nodes)]
    graph: dict[int, set[int]] = {node: set() for node in range(nodes)}
    for bits in range(_BITS):
        lists: dict[int, list[int]] = {}
        for node, word in enumerate(words):
            lists.setdefault(word >> (_BITS - bits), []).append(node)
        for members in lists.values():
            for one, other in pairwise(members):
                _link(graph, one, other)
    return graph, places


def _link(graph: dict[int, set[int]], one: int, other: int) -> None:
    if one != other:
        graph[one].add(other)
        graph[other].add(one)


KINDS: Mapping[str, Callable[[int, Random], tuple[Graph, list[float]]]] = {
    "skip ring": make_skip_ring,
    "Chord": make_chord,
    "skip graph": make_skip_graph,
}

if __name__ == "__main__":
    main()
