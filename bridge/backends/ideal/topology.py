"""The ideal back-end of a scenario: which graph its links make, and what becomes of it."""

from __future__ import annotations

from bridge.backends.ideal.backend import IdealBackend
from bridge.given_tree import tree_links
from bridge.scenario import Scenario


def make_ideal(scenario: Scenario) -> IdealBackend:
    """The scenario's tree, or its given graph, with its delays, partitions and faults."""
    ideal = scenario.ideal
    changes = tree_links(scenario.tree) if scenario.tree else ideal.changes
    return IdealBackend(
        len(scenario.nodes),
        () if scenario.tree else ideal.links,
        scenario.time_limit,
        [*changes, *ideal.partitions],
        ideal.delay,
        delays={frozenset((one.a, one.b)): one.delay for one in ideal.delays},
        faults=scenario.faults,
        processing_delay=scenario.processing_delay,
    )
