"""All small networks: the connected graphs of so many nodes, and the trees of so many brokers, each shape once.

Two networks have one shape if the nodes of one can be renamed so that it becomes the other. A tree is a rooted one,
because who is whose parent matters. Every node is a publisher and a subscriber: in a tree each broker has both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

from roambus.experiments.exploring.scenario_file import Question

Edge = tuple[int, int]


def variants(question: Question) -> list[tuple[str, Question]]:
    """The questions about single networks that a question stands for, with what each is called."""
    if question.graphs is not None:
        graphs = connected_graphs(question.graphs)
        return [(_graph_name(graph), _with(question, _graph_head(graph))) for graph in graphs]
    if question.trees is not None:
        return [(_tree_name(tree), _with(question, _tree_head(tree))) for tree in rooted_trees(question.trees)]
    return [(question.path.stem, question)]


def _with(question: Question, drawing: tuple[str, ...]) -> Question:
    """The network goes where the first line of the head is blank: numbers of other lines stay as they are."""
    return question.without_families((*question.head, *drawing))


def connected_graphs(size: int) -> list[tuple[Edge, ...]]:
    """A graph of each shape of connected graphs, those with fewer links first."""
    pairs = list(combinations(range(size), 2))
    found: dict[tuple[Edge, ...], None] = {}
    for links in range(size - 1, len(pairs) + 1):
        for graph in combinations(pairs, links):
            if _is_connected(size, graph):
                found.setdefault(_shape(size, graph))
    return list(found)


def rooted_trees(size: int) -> list[tuple[int | None, ...]]:
    """The parents of the nodes in a tree of each shape of rooted trees; node 0 is the root."""
    found: dict[str, tuple[int | None, ...]] = {}
    for tree in _parents(size):
        found.setdefault(_canonical(tree, 0), tree)
    return list(found.values())


def _parents(size: int) -> Iterator[tuple[int | None, ...]]:
    if size == 1:
        yield (None,)
        return
    for tree in _parents(size - 1):
        for parent in range(size - 1):
            yield (*tree, parent)


def _canonical(tree: tuple[int | None, ...], root: int) -> str:
    children = (child for child, parent in enumerate(tree) if parent == root)
    return f"({''.join(sorted(_canonical(tree, child) for child in children))})"


def _shape(size: int, graph: tuple[Edge, ...]) -> tuple[Edge, ...]:
    renamed = (_renamed(graph, names) for names in permutations(range(size)))
    return min(renamed)


def _renamed(graph: tuple[Edge, ...], names: tuple[int, ...]) -> tuple[Edge, ...]:
    return tuple(sorted((min(names[a], names[b]), max(names[a], names[b])) for a, b in graph))


def _is_connected(size: int, graph: tuple[Edge, ...]) -> bool:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {end for edge in graph if reached & set(edge) for end in edge}
    return len(reached) == size


def _graph_head(graph: tuple[Edge, ...]) -> tuple[str, ...]:
    return (f"links {' '.join(f'n{a + 1}-n{b + 1}' for a, b in graph)}",)


def _graph_name(graph: tuple[Edge, ...]) -> str:
    return " ".join(f"{a + 1}-{b + 1}" for a, b in graph)


def _tree_head(tree: tuple[int | None, ...]) -> tuple[str, ...]:
    return ("tree", *_branch(tree, 0, 1))


def _branch(tree: tuple[int | None, ...], node: int, depth: int) -> Iterator[str]:
    number = node + 1
    yield f"{'  ' * depth}b{number}/p{number}/s{number}"
    for child, parent in enumerate(tree):
        if parent == node:
            yield from _branch(tree, child, depth + 1)


def _tree_name(tree: tuple[int | None, ...]) -> str:
    return " ".join(f"{child + 1}:{parent + 1}" for child, parent in enumerate(tree) if parent is not None)
