"""Explores a question that a test writes as a text."""

from __future__ import annotations

from pathlib import Path

from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.scenario_file import parse_question

AGENTS = "roambus.extensions.exploring.tests.small_agents"


def explored(text: str, bounds: Bounds | None = None, *, keep_on: bool = False) -> Exploration:
    """The search of a question about one network."""
    exploration = Exploration(parse_question(Path("question.txt"), text), Overrides(), keep_on)
    exploration.run(bounds or Bounds())
    return exploration
