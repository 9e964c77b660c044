"""Random sites and failures, as the rendered ini has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.extensions.replicated.sites import Sites, parse_sites
from roambus.extensions.replicated.study.scenario import interested_sites
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND


def scenario_of(seed: int = 0, **variables: int | float | str | bool) -> Scenario:
    run: dict[str, int | float | str | bool] = {"seed": seed, "agent": "replicated", "agent_parameters": "order=total"}
    return parse_scenario(find_template("replicated").render({**variables, **run}), Path("run.ini"), TEMPLATES)


def sites_of(scenario: Scenario) -> Sites:
    return parse_sites(scenario.agent_parameters["sites"])


def test_each_site_has_three_brokers_a_publisher_and_a_subscriber() -> None:
    """In a tree that is the seed's own."""
    scenario = scenario_of(sites=5)
    assert [len(site.brokers) + len(site.clients) for site in sites_of(scenario)] == [5] * 5
    assert len(scenario.workload.subscriptions) == len(scenario.workload.publications) == 5
    assert len({sites_of(scenario_of(seed, sites=9)) for seed in range(8)}) == 8


def test_more_interest_is_more_sites_not_others() -> None:
    """So that what differs between shares is their number."""
    few, more, all_sites = (interested_sites(3, 15, share) for share in (0.25, 0.5, 1))
    assert (len(few), len(more), all_sites) == (4, 8, list(range(15)))
    assert set(few) < set(more)


@pytest.mark.parametrize("kind", ["crash", "freeze"])
def test_a_failure_is_of_one_broker_for_two_seconds(kind: str) -> None:
    """Of the site that the seed says, the leader or the next to lead."""
    leader, replica = (scenario_of(sites=5, fault=f"{who}-{kind}").faults for who in ("leader", "replica"))
    assert [fault.kind for fault in leader] == [FaultKind(kind), FaultKind.RECOVER]
    assert leader[1].at - leader[0].at == 2 * SECOND
    assert replica[0].node == leader[0].node + 1
    assert leader[0].node % 3 == 0


def test_a_broker_of_each_site_fails() -> None:
    """One at a time in each, and all of them within three seconds."""
    faults = scenario_of(sites=5, fault="each-freeze").faults
    assert sorted(fault.node // 3 for fault in faults) == [site for site in range(5) for _ in range(2)]
    assert len({fault.node for fault in faults}) == 5
    assert {fault.node % 3 for fault in faults} != {0}
    assert max(fault.at for fault in faults) - min(fault.at for fault in faults) < 3 * SECOND


def test_the_sequencer_is_the_leader_of_the_root() -> None:
    """It fails like any other."""
    assert {fault.node for fault in scenario_of(sites=5, fault="sequencer-crash").faults} == {0}


def test_the_time_out_is_a_parameter_of_the_agent() -> None:
    """Beside those of the sweep."""
    parameters = scenario_of(time_out="50ms").agent_parameters
    assert {name: parameters[name] for name in ("order", "time_out")} == {"order": "total", "time_out": "50ms"}


def test_one_publisher_is_one_publisher() -> None:
    """Somewhere."""
    nodes = scenario_of(sites=5, publishers="one").nodes
    assert sum(Role.PUBLISHER in node.roles for node in nodes) == 1


def test_a_fault_that_is_none_is_refused() -> None:
    """With what there is."""
    with pytest.raises(UserError, match="unknown fault 'leader-melts'"):
        scenario_of(fault="leader-melts")
