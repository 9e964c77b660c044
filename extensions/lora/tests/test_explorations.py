"""Managed flooding in every order of events: nothing twice and an end, and the one loss that silence causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roambus.bridge.transcript.transcript import Overrides

SILENCED = Path(__file__).parent / "scenarios" / "mesh_silenced.txt"
TRIANGLE_AND_ONE = "links n1-n2 n1-n3 n2-n3 n3-n4"
HISTORY = "setup\n  n4 subscribes f1\nmay n1 publishes e1\n"


def explored(role: str, network: str, *properties: str, chance: str = "") -> list[Any]:
    """The searches of a network, or of a family of networks, whose nodes have one role."""
    musts = "".join(f"must {name}\n" for name in properties)
    text = f"agent managed-flooding slot=1ms role={role}\n{network}\n{HISTORY}{musts}{chance}\n"
    questions = pytest.importorskip("roambus.extensions.exploring.scenario_file")
    new_exploration = pytest.importorskip("roambus.extensions.exploring.exploration").Exploration
    bounds = pytest.importorskip("roambus.extensions.exploring.checker").Bounds()
    drawn = questions.variants(questions.parse_question(Path("question.txt"), text))
    explorations = [new_exploration(question, Overrides()) for _, question in drawn]
    for exploration in explorations:
        exploration.run(bounds)
    return explorations


def test_a_client_can_be_silenced_that_alone_reaches_a_node() -> None:
    """The shortest history has six steps, and the transcript beside this file shows it."""
    (exploration,) = explored("client", TRIANGLE_AND_ONE, "everything delivered")
    assert [(wrong.name, wrong.steps) for wrong in exploration.counterexamples] == [("everything delivered", 6)]
    commands = [line for line in exploration.counterexamples[0].transcript.splitlines() if line.startswith(">")]
    shown = [line for line in SILENCED.read_text(encoding="utf-8").splitlines() if line.startswith(">")]
    assert len(commands) == len(shown)


def test_a_router_is_not_silenced_there() -> None:
    """In every order everything is delivered, and once."""
    (exploration,) = explored("router", TRIANGLE_AND_ONE, "everything delivered", "nothing twice", chance="chance ends")
    assert exploration.counterexamples == []
    assert exploration.checker.figures.states > 1000


@pytest.mark.slow  # hundreds of thousands of states
@pytest.mark.parametrize("role", ["client", "router"])
def test_on_every_network_of_four_nodes_nothing_comes_twice_and_it_ends(role: str) -> None:
    """In every order, with the least and the greatest draws; routers deliver everything, too."""
    musts = ("nothing twice", "eventually quiet", *(("everything delivered",) if role == "router" else ()))
    explorations = explored(role, "graphs 4", *musts, chance="chance ends")
    assert len(explorations) == 38  # connected graphs of four nodes
    assert [wrong for exploration in explorations for wrong in exploration.counterexamples] == []


def test_vetting_finds_nothing() -> None:
    """On ideal links and the radio, with crashes."""
    assert pytest.importorskip("roambus.extensions.vetting.examination").vet("managed-flooding") == []
