"""Clients that come, move and go, as the rendered ini has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.keys import quote
from roambus.bridge.scenario.definition import Publication, Scenario
from roambus.bridge.scenario.plans import commands, tree
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.extensions.caching.study.scenario import Population, population
from roambus.python_protocol.events import Attach, Detach, Subscribe, Unsubscribe
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND

BROKERS = 7


def draw(seed: int = 0, load: float = 1.0, publish_rate: float = 1.0, absence: float = 5.0) -> Population:
    return population(seed, BROKERS, 200, load, 20.0, 0.05, absence, publish_rate)


def scenario_of(**variables: int | float | str | bool) -> Scenario:
    run: dict[str, int | float | str | bool] = {"seed": 1, "agent": "caching", "duration": 60}
    run["agent_parameters"] = "tree=given"
    return parse_scenario(find_template("caching").render({**run, **variables}), Path("run.ini"), TEMPLATES)


@given(st.integers(0, 1000), st.sampled_from([0.1, 1, 5]), st.sampled_from([0.5, 5]))
@settings(max_examples=30)
def test_every_client_lives_a_sensible_life(seed: int, load: float, absence: float) -> None:
    """It is born, leaves and comes back in turn, dies while it is there; then its node is somebody else."""
    drawn = draw(seed, load, absence=absence)
    born, here = {None, "unsubscribe"}, {"subscribe", "attach"}
    after: dict[str, set[str | None]] = {
        "subscribe": born,
        "detach": {*here},
        "attach": {"detach"},
        "unsubscribe": {*here},
    }
    last: dict[int, str] = {}
    for order in commands(quote(drawn.commands)):
        if order.words[0] == "publish":
            assert BROKERS <= order.node < 2 * BROKERS
            continue
        assert last.get(order.node) in after[order.words[0]]
        last[order.node] = order.words[0]
    assert set(last) == set(range(2 * BROKERS, drawn.nodes))


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_a_client_comes_back_at_another_broker(seed: int) -> None:
    """The text: "from a different broker"."""
    drawn = draw(seed)
    at = {change.node: change.parent for change in tree(quote(drawn.tree)) if change.at == 0}
    moves = [(link.at, link.node, link.parent) for link in tree(quote(drawn.tree)) if link.at > 0]
    for time, node, broker in sorted(
        [
            *moves,
            *(
                (command.at, command.node, int(command.words[1]))
                for command in commands(quote(drawn.commands))
                if command.words[1:]
            ),
        ]
    ):
        assert at.get(node) != broker, time
        at[node] = broker


def test_there_are_as_many_clients_as_the_load_says() -> None:
    """rho_c at each broker, on average: births and deaths are in balance from the start."""
    seeds = range(40)
    present = []
    for seed in seeds:
        alive = Counter[int]()
        for order in commands(quote(draw(seed, load=2).commands)):
            if order.at < 100 * SECOND:
                alive[order.node] += {"subscribe": 1, "unsubscribe": -1}.get(order.words[0], 0)
        present.append(sum(alive.values()))
    # Who is away does not die: with absences of 5 s, a quarter more clients than rho_c a broker are alive.
    assert sum(present) / len(seeds) / BROKERS == pytest.approx(2 * 1.25, rel=0.1)


def test_messages_are_published_at_the_rate() -> None:
    """By publishers at all brokers."""
    published = [
        command.node for command in commands(quote(draw(publish_rate=5).commands)) if command.words[0] == "publish"
    ]
    assert len(published) == pytest.approx(5 * 200, rel=0.1)
    assert set(published) == set(range(BROKERS, 2 * BROKERS))


def test_seeds_have_histories_of_their_own_and_keep_them() -> None:
    """Intervals over seeds are over histories, agents are compared on the same."""
    assert len({draw(seed).commands for seed in range(5)}) == 5
    assert draw(3) == draw(3)


def test_the_template_makes_a_scenario_of_it() -> None:
    """With all that the clients do; the cache's size is the agent's."""
    found = scenario_of(size=7)
    kinds = Counter(type(command.command) for command in found.workload.commands)
    assert kinds.keys() == {Subscribe, Unsubscribe, Detach, Attach, Publication}
    assert found.agent_parameters == {"tree": "given", "cache_size": "7"}
    assert [node.roles for node in found.nodes[: 2 * BROKERS]] == [Role.BROKER] * BROKERS + [Role.PUBLISHER] * BROKERS
    assert found.workload.subscriptions == ()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [("rho", 0, "load 0 is not above 0"), ("absence", 0.01, "it takes that long to leave")],
)
def test_what_makes_no_process_is_refused(name: str, value: float, problem: str) -> None:
    """With the template's line, and what is wrong."""
    with pytest.raises(UserError, match=problem):
        scenario_of(**{name: value})
