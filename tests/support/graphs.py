"""Random graphs for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from roambus.python_protocol.roles import NodeId
from tests.support.runs import Edges


@st.composite
def connected_graphs(draw: st.DrawFn, most: int = 10) -> tuple[int, Edges]:
    """A number of nodes from 2 to `most`, and links that connect them all: a random tree, and some more."""
    nodes = draw(st.integers(2, most))
    tree = [(node, draw(st.integers(0, node - 1))) for node in range(1, nodes)]
    more = draw(st.lists(edges(nodes), max_size=nodes))
    return nodes, tree + more


def edges(nodes: int) -> st.SearchStrategy[tuple[NodeId, NodeId]]:
    """Two different nodes."""
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    return pair.filter(lambda ends: ends[0] != ends[1])
