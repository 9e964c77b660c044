"""Stricter and milder readings of one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from docs.writers.factorial.sides import JUDGED, MILDER, SENTENCES, STRICTER, nodes, sides_of
from roambus.spark.metrics import catalogue as c
from tests.experiments.measured import measurements, plausible


def _run(agent: str, config: str, speed: str, seed: int) -> dict[str, Any]:
    """AODV's messages per node grow as size to 0.95, MFT-PubSub's not; its delay is five times AODV's."""
    size = int(config[1:])
    per_node = (1 + 0.001 * seed) * (1000.0 if agent == "mft" else 100 * size**0.95)
    delay = (0.5 if agent == "mft" else 0.1) * size * (1 + 0.001 * seed)
    made = {c.MESSAGES_PER_NODE: per_node, c.MESSAGES: per_node * (2 + 2 * size), c.DELAY_MEAN_S: delay}
    return {**plausible(agent, config, speed, seed), **made}


TABLE = sides_of(measurements(_run, speeds=("2", "8"))).set_index(["claim", "side"])


def verdict(claim: str, side: str) -> str:
    return str(TABLE.loc[(claim, side), "verdict"])


def test_nodes_are_six_at_c2_and_sixty_six_at_c32() -> None:
    """In doublings."""
    assert [round(2**number) for number in nodes(["C2", "C32"])] == [6, 66]


def test_the_axis_of_an_exponent_can_decide() -> None:
    """0.95 by size is 1.1 by nodes: slower than the one, and faster than the other."""
    assert verdict("9, first half", STRICTER) == "does not hold"
    assert verdict("9, first half", MILDER) == "holds"
    assert verdict("9", JUDGED) == "does not hold"
    assert verdict("9", MILDER) == "holds"


def test_five_times_the_delay_keeps_up_within_a_decade_only() -> None:
    """Twice is the claim's own bound."""
    assert [verdict("6", side) for side in (STRICTER, JUDGED, MILDER)] == ["does not hold", "does not hold", "holds"]


def test_messages_of_all_nodes_that_grow_with_their_number_are_linear() -> None:
    """MFT-PubSub's are constant a node here."""
    assert verdict("none", STRICTER) == "holds"


def test_a_delay_on_the_trend_is_not_above_it() -> None:
    """It is proportional to the size here: C4 is the geometric mean of C2 and C8."""
    assert verdict("14", MILDER) != "holds"
    assert verdict("14", JUDGED) == "does not hold"


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.claims)
def test_a_stricter_reading_never_holds_alone(sentence: Any) -> None:
    """If it holds, so does the milder one; claim 9 by nodes is stricter on one half only."""
    said = [verdict(sentence.claims, side) for side in (STRICTER, JUDGED, MILDER) if side in sentence.sides]
    assert len(said) >= 2
    assert "holds" not in said or said[-1] == "holds"
