"""Clients that leave and return: drawn from the seed alone, and the same for every kind of network."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.studies.returning.scenario import SHORTEST_S, START_S, Returning, returning
from roambus.experiments.templates.render import Values, find_template, render
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.papers.replicated.sites import parse_sites
from roambus.python_protocol.vocabulary import MILLISECOND

UNTIL = 120.0


def drawn(seed: int = 0, presence: float = 10, absence: float = 8) -> Returning:
    return returning(seed, 4, 8, 7, presence, absence, UNTIL)


def scenario(agent: str, announced: bool) -> Scenario:
    variables: Values = {"seed": 3, "agent": agent, "agent_parameters": "", "announced": announced}
    template = find_template("returning")
    return parse_scenario(render(template, variables), template, TEMPLATES)


@pytest.mark.parametrize("seed", range(5))
def test_stays_and_absences_follow_each_other(seed: int) -> None:
    """Neither is too short, nobody is away at the end, and everybody comes back to another broker."""
    plan = drawn(seed)
    for client in range(4, 12):
        visits = [visit for visit in plan.visits if visit.client == client]
        assert visits
        assert visits[0].leaves >= START_S + SHORTEST_S
        for one in visits:
            assert one.leaves + SHORTEST_S <= one.returns + 0.001 <= UNTIL + 0.001
        for one, following in pairwise(visits):
            assert following.leaves >= one.returns + SHORTEST_S - 0.001
        homes = [plan.homes[client], *(visit.broker for visit in visits)]
        assert all(one != other for one, other in pairwise(homes))


def test_publishers_stay() -> None:
    """Only what is missed is to differ."""
    assert {visit.client for visit in drawn().visits} == set(range(4, 12))


def test_the_plan_follows_the_seed() -> None:
    """And longer means are the same draws, stretched."""
    assert drawn(1) == drawn(1)
    assert drawn(1).visits != drawn(2).visits
    assert [drawn(1, absence=absence).visits[0].leaves for absence in (2, 32)] == [drawn(1).visits[0].leaves] * 2


@pytest.mark.parametrize("announced", [True, False])
def test_in_a_tree_links_go_and_come_with_the_clients(announced: bool) -> None:
    """A moment after the agents are told, or without their being told."""
    made = scenario("mft", announced)
    plan = returning(3, 4, 8, 7, 20, 8, UNTIL)
    moment = 100 if announced else 0
    expected = sorted((round(visit.leaves * 1000) + moment, visit.client) for visit in plan.visits)
    assert sorted((one.at // MILLISECOND, one.node) for one in made.tree if one.parent is None) == expected
    told = [command for command in made.workload.commands if isinstance(command.command, Detach)]
    assert len(told) == (len(plan.visits) if announced else 0)
    back = {(round(visit.returns * 1000), visit.client, 12 + visit.broker) for visit in plan.visits}
    assert {(one.at // MILLISECOND, one.node, one.parent) for one in made.tree if one.at and one.parent} == back


def test_elsewhere_who_is_away_is_alone() -> None:
    """From a moment after it is told until it returns; all others are one group."""
    plan = drawn()
    parts = re.findall(r"([\d.]+)s ([^,]+)", plan.partitions(announced=True))
    for text, groups in parts:
        at = float(text)
        away = [
            visit.client for visit in plan.visits if visit.leaves + 0.1 <= at + 0.0005 and at + 0.0005 < visit.returns
        ]
        assert groups == (" | ".join(map(str, sorted(away))) or "merge")
    assert len(parts) == len({at for one in plan.visits for at in (one.leaves + 0.1, one.returns)})
    assert parts[-1][1] == "merge"


def test_who_crashes_is_down_while_it_is_away() -> None:
    """Where nobody has said that it goes."""
    plan = drawn()
    first = next(visit for visit in plan.visits if visit.client == 4)
    assert plan.faults(4).startswith(f"{first.leaves:.3f}s crash, {first.returns:.3f}s recover")


def test_absences_in_place_name_no_broker() -> None:
    """Who cannot go elsewhere returns to where it was."""
    plan = drawn()
    assert re.fullmatch(r"([\d.]+s detach, [\d.]+s attach(, )?)+", plan.absences(4, moving=False))
    assert re.fullmatch(r"([\d.]+s detach, [\d.]+s attach 1[2-8](, )?)+", plan.absences(4, moving=True))


def test_sites_stand_for_brokers() -> None:
    """Three of them each, in the same tree, with the clients that are there at first."""
    plan = drawn()
    sites = parse_sites(plan.sites())
    assert {client: number for number, site in enumerate(sites) for client in site.clients} == dict(
        enumerate(plan.homes)
    )
    assert {child: site.parent for child, site in enumerate(sites) if site.parent is not None} == plan.parents
    assert sites[1].brokers == (15, 16, 17)


def test_attach_follows_detach() -> None:
    """Each client is told both, in turn."""
    told = [(one.node, type(one.command)) for one in scenario("mft", True).workload.commands]
    assert all(kinds == [Detach, Attach] * (len(kinds) // 2) for kinds in by_node(told))


def by_node(told: list[tuple[int, type]]) -> list[list[type]]:
    return [[kind for node, kind in told if node == one] for one in sorted({node for node, _ in told})]
