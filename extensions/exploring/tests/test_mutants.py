"""What the shipped questions are for: protocols that are broken in one place, each found by the question about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutants import ROOT, Mutant, ask, read_mutants
from roambus.bridge.transcript.transcript import Overrides
from roambus.extensions.exploring.checker import Bounds
from roambus.extensions.exploring.exploration import Exploration
from roambus.extensions.exploring.scenario_file import read_question

QUESTIONS = Path(__file__).parents[3] / "benchmarks" / "explorations"
MUTANTS = read_mutants()
ASKED = [number for number, mutant in enumerate(MUTANTS) if mutant.question]


@pytest.mark.slow  # half a minute of searching
@pytest.mark.parametrize("number", ASKED, ids=[MUTANTS[number].name for number in ASKED])
def test_a_mutant_is_noticed(number: int) -> None:
    """By two subscriptions in a setup, entries for nobody, routes that stand and get lost, load, and absences."""
    states = 60_000 if MUTANTS[number].question == "aodv_routes" else 10_000
    assert ask(number, "explorations", states, 0).startswith(MUTANTS[number].question)


@pytest.mark.slow  # half a minute of searching
@pytest.mark.parametrize("question", sorted({MUTANTS[number].question for number in ASKED}))
def test_what_is_not_broken_is_not_noticed(question: str) -> None:
    """Within the same bounds."""
    exploration = Exploration(read_question(QUESTIONS / f"{question}.txt"), Overrides())
    exploration.run(Bounds(states=60_000 if question == "aodv_routes" else 10_000))
    assert exploration.counterexamples == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_changes_one_place(mutant: Mutant) -> None:
    """Else it says nothing about the code as it is."""
    text = (ROOT / mutant.file).read_text()
    assert text.count(mutant.sound) == 1
    compile(text.replace(mutant.sound, mutant.broken), mutant.file, "exec")
