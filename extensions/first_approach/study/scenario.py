"""Trees in which a broker or client migrates each second, drawn from the seed: the same for every agent."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roambus.experiments.random_scenarios import Parents, random_tree
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import unknown

BROKERS, CLIENTS = "brokers", "clients"
_FEWEST = 3
"""The fewest brokers in a tree with migration: two have one tree only."""


def migrating_tree(seed: int, moving: str, brokers: int, migrations: int, start: int) -> str:
    """Return a value of `SN.tree`: brokers 0 to `brokers` - 1, and a migration each second from `start` s on.

    `moving` "brokers" moves a broker with its subtree; "clients" moves client `brokers` + i, first at broker i. All
    such changes are equally likely. Raises ValueError.
    """
    kinds = {BROKERS: range(1, brokers), CLIENTS: range(brokers, 2 * brokers)}
    if moving not in kinds:
        raise ValueError(unknown("moving", moving, kinds))
    if brokers < _FEWEST:
        raise ValueError(f"brokers {brokers}: there must be at least {_FEWEST} for one to migrate")
    random = Random(f"migrating tree/{seed}/{moving}/{brokers}")
    parents = random_tree(brokers, random)
    if moving == CLIENTS:
        parents |= {brokers + broker: broker for broker in range(brokers)}
    plan = [" ".join(f"{node}:{parent}" for node, parent in sorted(parents.items()))]
    plan += [f"{start + number}s {_migrate(parents, kinds[moving], brokers, random)}" for number in range(migrations)]
    return ", ".join(plan)


def _migrate(parents: Parents, nodes: Sequence[NodeId], brokers: int, random: Random) -> str:
    while True:
        node, parent = random.choice(nodes), random.randrange(brokers)
        way_up = [parent]
        while way_up[-1] in parents:
            way_up.append(parents[way_up[-1]])
        if parent != parents[node] and node not in way_up:  # below itself a broker would be cut off from the root
            parents[node] = parent
            return f"{node}:{parent}"


TEMPLATE_FUNCTIONS = (migrating_tree,)
"""The functions of this study's template."""
