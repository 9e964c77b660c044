"""The templates of LoRa: the agent and its MAC agree with the radio, and the load is that of the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.templates.template import Values, find_template
from roambus.extensions.lora import study
from roambus.extensions.lora.mac.settings import LoRaCad
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND


def scenario(name: str, agent: str, **variables: str | float) -> Scenario:
    """The scenario of a template."""
    template = find_template(name)
    given: Values = {"seed": 0, "agent": agent, "agent_parameters": "", **variables}
    return parse_scenario(template.render(given), template.file, Path(str(study.__file__)).parent)


@pytest.mark.parametrize(
    ("agent", "given", "found"),
    [
        ("managed-flooding", "", {"preset": "ShortFast"}),
        ("lora-gossip", "memory=9", {"preset": "ShortFast", "memory": "9"}),
        ("lora-gossip", "preset=LongFast", {"preset": "LongFast"}),
        ("gossip", "memory=9", {"memory": "9"}),
    ],
)
def test_an_agent_of_lora_has_the_preset_of_the_radio(agent: str, given: str, found: dict[str, str]) -> None:
    """Unless the user gives another one; other agents have no such parameter."""
    assert scenario("lora", agent, preset="ShortFast", agent_parameters=given).agent_parameters == found


@pytest.mark.parametrize(
    ("agent", "variables", "expected"),
    [
        ("managed-flooding", {}, (False, 1)),
        ("lora-gossip", {}, (True, 0)),
        ("managed-flooding", {"first_wait": True, "tries": 0}, (True, 0)),
        ("lora-gossip", {"first_wait": False, "tries": 3}, (False, 3)),
    ],
)
def test_the_mac_leaves_the_wait_to_managed_flooding(
    agent: str, variables: dict[str, int], expected: tuple[bool, int]
) -> None:
    """Which waits itself, and anew with a frame that comes back; the variables override both."""
    mac = scenario("lora", agent, **variables).mac
    assert isinstance(mac, LoRaCad)
    assert (mac.first_wait, mac.tries) == expected


def test_a_load_is_that_of_all_nodes_together() -> None:
    """Forty nodes with ten a minute publish each four minutes."""
    found = scenario("lora-load", "managed-flooding", nodes=40, load=10, publish_start=60)
    assert {each.interval for each in found.workload.publications} == {240 * SECOND}
    assert {each.start for each in found.workload.publications} == {60 * SECOND}
    assert len(found.workload.publications) == 40


def test_a_share_of_the_nodes_wants_each_topic() -> None:
    """The others publish without a subscription."""
    found = scenario("lora-load", "managed-flooding", nodes=40, topics=1, interest=0.25)
    wanting = [node for node in found.nodes if node.roles & Role.SUBSCRIBER]
    assert len(wanting) == 10
    assert all(node.roles & Role.PUBLISHER for node in found.nodes)
