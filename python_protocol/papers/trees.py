"""Random trees of brokers, in which these protocols are evaluated."""

from __future__ import annotations

from random import Random

from roambus.python_protocol.vocabulary import NodeId

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
