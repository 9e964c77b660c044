"""The plain search against one that shares no code, and each option against the plain search, on random agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.transcript.commands import PublishEvent
from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.scenario_file import parse_question, variants
from roambus.extensions.exploring.tests import independent, random_agents
from roambus.extensions.exploring.tests.exploring import explored

pytestmark = pytest.mark.slow  # half a minute of searching

ENDLESS = 3
"""Of each four seeds the last is of an agent that may never be quiet."""
WITHIN = Bounds(states=1500)
SOME, ALL = range(1000, 1012), range(300)


def violated(seed: int, *lines: str, alike: bool = False) -> tuple[set[str], int] | None:
    """The properties that do not hold, and the number of states; None if there are too many states."""
    names, states = set[str](), 0
    text = random_agents.question(seed, *lines, alike=alike)
    for _, question in variants(parse_question(Path("question.txt"), text)):
        found = Exploration(question, Overrides(), keep_on=True)
        found.run(WITHIN)
        if not found.checker.is_over:
            return None
        names |= {counterexample.name for counterexample in found.counterexamples}
        states += len(found.checker)
    return names, states


def compare_with_independent(seed: int, *, fast: bool) -> int:
    """Compare states, steps and verdicts; return the number of states."""
    found = explored(random_agents.question(seed, *["messages fast"] * fast), WITHIN, keep_on=True)
    if not found.checker.is_over:
        return 0
    model = found.initial.model
    world = model.world(found.checker.initial)
    carries = {(a, b) for a in range(model.size) for b in world.neighbours(a)}
    commands = [command for may in model.rules.may for command in may.options(world)]
    publishers = [command.node for command in commands if isinstance(command, PublishEvent)]
    (subscriber,) = (node for node in range(model.size) if world.wanted[node])
    states, steps, wrong = independent.explore(
        found.initial.plan.agent_class, model.size, carries, publishers, subscriber, model.rules.begin,
        fast=fast, timed=model.rules.is_timed,
    )  # fmt: skip
    assert (len(found.checker), found.checker.figures.transitions) == (states, steps)
    assert {counterexample.name for counterexample in found.counterexamples} == wrong
    return states


@pytest.mark.parametrize("seed", [seed for seed in SOME if seed % 4 != ENDLESS])
@pytest.mark.parametrize("fast", [False, True])
def test_the_plain_search_finds_what_an_independent_one_finds(seed: int, fast: bool) -> None:
    """As many states, as many steps, and the same verdicts."""
    compare_with_independent(seed, fast=fast)


@pytest.mark.slow
def test_three_hundred_networks_are_searched_alike_by_both() -> None:
    """Most of them are small enough, and have more than a few states."""
    sizes = [compare_with_independent(seed, fast=bool(seed % 2)) for seed in range(400) if seed % 4 != ENDLESS]
    assert sum(size > 10 for size in sizes) > 100


@pytest.mark.parametrize("seeds", [SOME, pytest.param(ALL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("option", ["relative time", "nodes alike"])
def test_an_option_changes_no_verdict(seeds: range, option: str) -> None:
    """The same properties are violated, in no more states; and in fewer at least once."""
    compared, fewer, wrong = 0, 0, 0
    for seed in seeds:
        alike = option == "nodes alike"
        lines = ["messages fast"] if seed % 3 else []
        plain = violated(seed, *lines, alike=alike)
        other = violated(seed, *lines, option, alike=alike)
        if plain is None or other is None:
            continue
        assert other[0] == plain[0], f"seed {seed}"
        assert other[1] <= plain[1]
        compared += 1
        fewer += other[1] < plain[1]
        wrong += bool(plain[0])
    assert compared > 0.6 * len(seeds)
    assert fewer
    assert wrong
