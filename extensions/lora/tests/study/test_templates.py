"""The templates of LoRa: the agent and its MAC agree with the radio, and the load is that of the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceWriter
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
        ("lora-gossip", "preset=ShortFast", {"preset": "ShortFast"}),
        ("gossip", "memory=9", {"memory": "9"}),
    ],
)
def test_an_agent_of_lora_has_the_preset_of_the_radio(agent: str, given: str, found: dict[str, str]) -> None:
    """Which the user may give, too; other agents have no such parameter."""
    assert scenario("lora", agent, preset="ShortFast", agent_parameters=given).agent_parameters == found


def test_an_agent_of_another_preset_than_the_radio_is_refused() -> None:
    """Its waits would be those of another modem; a modem of single settings has no name to agree with."""
    with pytest.raises(UserError, match=r"preset of the agent is not LongFast, .* leave out --param preset"):
        scenario("lora", "managed-flooding", agent_parameters="preset=MediumFast")
    found = scenario("lora", "managed-flooding", sf="9", agent_parameters="preset=MediumFast")
    assert found.agent_parameters == {"preset": "MediumFast"}


def test_an_empty_subclass_in_a_file_runs_as_managed_flooding_does(tmp_path: Path) -> None:
    """The templates ask the class for its parameters, so that a name changes nothing."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from roambus.extensions.lora import ManagedFlooding\n\n\nclass Mine(ManagedFlooding):\n    pass\n",
        encoding="utf-8",
    )
    rows, own = rows_of("managed-flooding"), rows_of(str(mine))
    assert sum(row["event"] == "deliver" for row in rows) > 20
    assert any(row["event"] == "drop" for row in rows)  # a channel was busy, and the frame came back
    assert own == rows


def rows_of(agent: str) -> list[dict[str, Any]]:
    """All rows of a short run of eight nodes."""
    described = scenario("lora", agent, nodes=8, side=3000, publish_interval=20, time_limit=60, sigma=0)
    trace = TraceWriter()
    Host(described, load_agent(agent), RadioBackend(described), trace).run()
    return list(trace.table().to_pylist())


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
