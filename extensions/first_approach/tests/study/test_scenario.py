"""Random migrations, as the rendered ini has them."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.keys import quote
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import ParentChange, tree
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.random_scenarios import random_tree
from roambus.experiments.templates.template import find_template
from roambus.extensions.first_approach.study.scenario import migrating_tree
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND

seeds, sizes = st.integers(0, 1000), st.integers(3, 20)


def scenario_of(seed: int = 0, agent: str = "mft", **variables: int | float | str | bool) -> Scenario:
    run: dict[str, int | float | str | bool] = {
        "seed": seed,
        "agent": agent,
        "agent_parameters": "tree=given link_layer=false",
    }
    return parse_scenario(find_template("migrations").render({**variables, **run}), Path("run.ini"), TEMPLATES)


def changes(seed: int, moving: str, brokers: int) -> list[list[ParentChange]]:
    """The tree at first, then each migration."""
    read = tree(quote(migrating_tree(seed, moving, brokers, 10, 2)))
    return [list(together) for _, together in groupby(read, key=lambda change: change.at)]


@pytest.mark.parametrize("moving", ["brokers", "clients"])
def test_every_agent_gets_the_same_sequence(moving: str) -> None:
    """And the same commands, whatever its name and parameters."""
    of_mft, of_first_approach = (
        scenario_of(3, agent, moving=moving, brokers=16) for agent in ("mft", "first-approach")
    )
    assert len(of_mft.tree) > 20
    assert (of_mft.tree, of_mft.workload, of_mft.nodes) == (
        of_first_approach.tree,
        of_first_approach.workload,
        of_first_approach.nodes,
    )


def test_the_number_of_subscriptions_does_not_change_the_sequence() -> None:
    """So that what differs comes from them alone."""
    assert scenario_of(subscriptions=1).tree == scenario_of(subscriptions=8).tree


def test_seeds_and_sizes_have_sequences_of_their_own() -> None:
    """Intervals over seeds are over trees and migrations."""
    found = [scenario_of(seed, brokers=brokers).tree for seed in range(5) for brokers in (8, 9)]
    assert len(set(found)) == len(found)


@given(seeds, sizes)
@settings(max_examples=30)
def test_a_broker_goes_to_one_that_is_not_below_it(seed: int, brokers: int) -> None:
    """One a second, never the root, and never to the parent that it has; the scenario's reader would refuse circles."""
    first, *migrations = changes(seed, "brokers", brokers)
    parents = {change.node: change.parent for change in first}
    assert sorted(parents) == list(range(1, brokers))
    assert [relink.at for (relink,) in migrations] == [second * SECOND for second in range(2, 12)]
    for (relink,) in migrations:
        assert relink.parent is not None
        assert relink.parent != parents[relink.node]
        parents[relink.node] = relink.parent
    assert scenario_of(seed, brokers=brokers, migrations=10).tree == (*first, *(relink for (relink,) in migrations))


@given(seeds, sizes)
def test_a_client_goes_to_another_broker(seed: int, brokers: int) -> None:
    """The tree of brokers stays as it is, and each client begins at a broker of its own."""
    first, *migrations = changes(seed, "clients", brokers)
    parents = {change.node: change.parent for change in first}
    assert [parents[client] for client in range(brokers, 2 * brokers)] == list(range(brokers))
    for (relink,) in migrations:
        assert relink.node >= brokers
        assert relink.parent in set(range(brokers)) - {parents[relink.node]}
        parents[relink.node] = relink.parent


def test_every_tree_is_as_likely_as_any_other() -> None:
    """Of four brokers there are sixteen trees (Cayley): 4800 draws give 300 each, within five standard deviations."""
    random = Random(1)
    counts = Counter(tuple(sorted(random_tree(4, random).items())) for _ in range(4800))
    assert len(counts) == 16
    assert all(abs(count - 300) < 5 * 300**0.5 for count in counts.values())


def test_subscribers_have_as_many_filters_as_asked_for() -> None:
    """All different, one subscriber a broker, and every subscriber publishes once what all of them match."""
    scenario = scenario_of(brokers=5, subscriptions=3, moving="clients")
    subscriptions = scenario.workload.subscriptions
    assert [subscription.node for subscription in subscriptions] == [node for node in range(5, 10) for _ in range(3)]
    assert len({subscription.filter for subscription in subscriptions}) == 15
    assert [node.roles for node in scenario.nodes[:5]] == [Role.BROKER] * 5
    assert [publication.node for publication in scenario.workload.publications] == list(range(5, 10))
    assert {publication.until - publication.start for publication in scenario.workload.publications} == {SECOND}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"moving": "broker"}, "unknown moving 'broker': did you mean 'brokers'"),
        ({"brokers": 2}, "brokers 2: there must be at least 3"),
    ],
)
def test_what_cannot_migrate_is_refused(variables: dict[str, int | str], message: str) -> None:
    """The message names template and line."""
    with pytest.raises(UserError, match=rf"migrations.ini.j2:\d+: {message}"):
        scenario_of(**variables)  # type: ignore[arg-type]  # seed and agent are none of them
