"""How balanced the tree of a run is, second by second.

The thesis, section 4.6, has trees with most of the nodes on one branch from the leader, and asks for balanced ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import pyarrow.compute as pc
from pyarrow import Table

from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, PEER, TIME_S
from roambus.python_protocol.roles import Role, parse_roles
from roambus.python_protocol.trace_rows import MIGRATE, ROLE, SEND

SETTLED_S = 10
"""The first seconds, in which there is no tree yet, are left out."""

Parents = Mapping[int, int | None]


def shape_of(trace: Table) -> dict[str, float]:
    """The figures of a run's tree, means over seconds; none for a run whose nodes take no parents."""
    trees = [tree for tree in map(largest_tree, _parents_by_second(trace)) if tree]
    if not trees:
        return {}
    return {
        "largest branch, share of its tree": fmean(_largest_branch(tree) for tree in trees),
        "children of the leader": fmean(len({way[-2] for way in tree}) for tree in trees),
        "hops to the leader": fmean(fmean(len(way) - 1 for way in tree) for tree in trees),
        "frames of the busiest broker, of mean": _busiest(trace),
    }


def largest_tree(parents: Parents) -> list[list[int]]:
    """The ways to the root of the tree that has most nodes, each from a node but the root itself up to the root."""
    ways = [way_to_root(node, parents) for node in parents]
    root, _ = Counter(way[-1] for way in ways).most_common(1)[0] if ways else (None, 0)
    return [way for way in ways if way[-1] == root and len(way) > 1]


def way_to_root(node: int, parents: Parents) -> list[int]:
    """A node, its parent, and so on, as far as nodes have parents; a circle ends where it closes."""
    way = [node]
    while (parent := parents.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return way


def _largest_branch(tree: Sequence[Sequence[int]]) -> float:
    return max(Counter(way[-2] for way in tree).values()) / len(tree)


def _parents_by_second(trace: Table) -> Iterator[Parents]:
    """The parents at each whole second but the first ones."""
    rows = trace.filter(pc.equal(trace[EVENT], MIGRATE)).sort_by(TIME_S).select([TIME_S, NODE, PEER]).to_pylist()
    parents: dict[int, int | None] = {}
    taken = 0
    for second in range(int(pc.max(trace[TIME_S]).as_py()) + 1):
        while taken < len(rows) and rows[taken][TIME_S] <= second:
            parents[rows[taken][NODE]] = rows[taken][PEER]
            taken += 1
        if second >= SETTLED_S:
            yield dict(parents)


def _busiest(trace: Table) -> float:
    """The frames of the broker that sends most, over those of a broker on average."""
    roles = trace.filter(pc.equal(trace[EVENT], ROLE))
    pairs = zip(roles[NODE].to_pylist(), roles[DETAIL].to_pylist(), strict=True)
    brokers = [node for node, role in pairs if Role.BROKER in parse_roles(role)]
    sent = Counter(trace.filter(pc.equal(trace[EVENT], SEND))[NODE].to_pylist())
    counts = [sent[broker] for broker in brokers]
    return max(counts) / fmean(counts) if sum(counts) else float("nan")
