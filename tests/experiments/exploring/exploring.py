"""Explores a question that a test writes as a text."""

from __future__ import annotations

from pathlib import Path

from roambus.experiments.exploring.exploration import Exploration, explore
from roambus.experiments.exploring.scenario_file import parse_question
from roambus.experiments.exploring.search import Bounds

AGENTS = "tests.experiments.exploring.small_agents"


def explored(text: str, bounds: Bounds | None = None, *, reduce: bool = False, keep_on: bool = False) -> Exploration:
    """What exploring came to; without reduction unless it is asked for."""
    exploration = explore(parse_question(Path("question.txt"), text), reduce=reduce, keep_on=keep_on)
    exploration.run(bounds or Bounds())
    return exploration
