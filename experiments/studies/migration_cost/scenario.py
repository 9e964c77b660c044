"""Draws random trees of brokers in which brokers or clients migrate, as an ini has them (`SN.tree`).

Everything is drawn from the run's seed, so that every agent gets the same tree and the same migrations.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roambus.experiments.random_scenarios import Parents, random_tree
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.vocabulary import NodeId

BROKERS, CLIENTS = "brokers", "clients"
_FEWEST = 3
"""The fewest brokers: two of them have one tree only."""


def migrating_tree(seed: int, moving: str, brokers: int, migrations: int, start: int) -> str:
    """A value of `SN.tree`: a tree of brokers 0 to `brokers` - 1, and a migration each second from `start` s on.

    `moving` "brokers": a broker and all that is below it go to a broker that is not. "clients": client `brokers` + i,
    at first at broker i, goes to another broker. Each such change is as likely as any other. Raises ValueError.
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
    """Draws and carries out one change; returns it as an ini has it, node:parent."""
    while True:
        node, parent = random.choice(nodes), random.randrange(brokers)
        way_up = [parent]
        while way_up[-1] in parents:
            way_up.append(parents[way_up[-1]])
        if parent != parents[node] and node not in way_up:  # below itself a broker would be cut off from the root
            parents[node] = parent
            return f"{node}:{parent}"


TEMPLATE_FUNCTIONS = (migrating_tree,)
