"""The analysis finds effects that were put in, in each world, and calls few others significant."""

from __future__ import annotations

import pandas as pd
import pytest

from docs.writers.factorial.design import LINK, NAMES, UNCOUNTED, Reading
from docs.writers.factorial.effects import (
    BARE,
    BOTH,
    EFFECT,
    HALF,
    LINKED,
    SIGNIFICANT,
    WORLD,
    against_predictions,
    choices_by_side,
    effects,
)
from tests.docs.writers.factorial.made_up import margins


def turning(reading: Reading) -> float:
    """Load helps by 2 without a link layer, and harms by 1 with one."""
    return reading["load"] * (2.0 if reading[LINK] else -1.0)


TABLE = effects(margins({1: turning, 2: lambda _: 0.0}, uncounted=0.5))


def _half(world: str, effect: str, claim: int = 1) -> float:
    rows = TABLE[(TABLE[WORLD] == world) & (TABLE[EFFECT] == effect) & (TABLE["claim"] == claim)]
    return float(rows[HALF].iloc[0])


def test_an_effect_is_found_in_each_world_and_not_as_an_average_alone() -> None:
    """The average is positive; with a link layer the effect is negative."""
    assert _half(BOTH, "load") == pytest.approx(0.25, abs=0.03)
    assert _half(LINKED, "load") == pytest.approx(-0.5, abs=0.03)
    assert _half(BARE, "load") == pytest.approx(1.0, abs=0.03)
    assert choices_by_side(TABLE, 1, LINKED)["harmed by"] == "load"
    assert "load" in choices_by_side(TABLE, 1, BARE)["helped by"].split()


def test_without_an_effect_hardly_any_is_significant() -> None:
    """One family holds the error of all effects together at 5 %, also that of chains and means."""
    found = 0
    for start in range(5):
        table = effects(margins({1: lambda _: 0.0}, start=start))
        found += bool(table[SIGNIFICANT].any())
    assert found <= 1


def test_the_count_of_messages_has_a_test_of_its_own() -> None:
    """Half of 0.5 here; an equal count has no effect, and no row."""
    assert _half(BOTH, UNCOUNTED) == pytest.approx(0.25)
    assert UNCOUNTED not in set(effects(margins({1: turning}))[EFFECT])


def test_predictions_stand_beside_the_signs_of_each_world() -> None:
    """A sign that is right on average can be wrong with a link layer."""
    signs = pd.DataFrame({"1": ["+", ""]}, index=["load", "places"])
    compared = against_predictions(TABLE, signs).set_index("choice")
    assert compared[["found", LINKED, BARE]].to_numpy().tolist()[0] == ["+", "-", "+"]
    assert compared.loc["places", "found"] == ""


def test_one_seed_gives_no_significance() -> None:
    """Without a difference between seeds there is no error to measure an effect by."""
    table = effects(margins({1: turning}, seeds=1))
    assert not table[SIGNIFICANT].any()
    assert set(NAMES) <= set(table[EFFECT])
