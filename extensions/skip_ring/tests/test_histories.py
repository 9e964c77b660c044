"""Histories that hunts have found: the ring comes back from whatever its nodes do, and nobody gets anything twice."""

from __future__ import annotations

import pytest

from roambus.extensions.skip_ring.tests.ring_histories import CHECKS, History, Step, carry_out

LEFT = History(
    2, 2000, corrupted=False, steps=(Step("subscribe", 1, 0), Step("subscribe", 2, 0), Step("unsubscribe", 1, 60_000))
)
ALL_BUT_THE_LAST = History(
    5,
    1,
    corrupted=False,
    steps=(
        *(Step("subscribe", node, 1000) for node in range(1, 6)),
        Step("crash", 0, 20_000),
        *(Step("crash", node, 0) for node in range(1, 5)),
    ),
)


def wrong(history: History, **parameters: str) -> list[str]:
    """What went wrong in a history."""
    result = carry_out(history, parameters)
    return [name for name, find in CHECKS.items() if find(result)]


@pytest.mark.parametrize(("history", "parameter"), [(LEFT, "ask_first"), (ALL_BUT_THE_LAST, "doubt_silence")])
def test_as_published_the_ring_does_not_come_back(history: History, parameter: str) -> None:
    """The smallest histories that were found, each with the parameter that mends it."""
    assert "not the skip ring of the definition" in wrong(history, **{parameter: "false"})
    assert wrong(history) == []


def test_who_subscribes_again_gets_nothing_twice() -> None:
    """It was in no ring meanwhile, and all the others have kept the publication."""
    steps = (
        Step("subscribe", 1, 0),
        Step("subscribe", 2, 0),
        Step("publish", 1, 3000),
        Step("unsubscribe", 2, 3000),
        Step("subscribe", 2, 3000),
    )
    assert wrong(History(2, 10, corrupted=False, steps=steps)) == []


def test_who_crashes_while_it_is_away_still_wants_what_it_wanted() -> None:
    """What is published afterwards is delivered."""
    steps = (
        *(Step("subscribe", node, 0) for node in (1, 2)),
        *(Step(kind, 2, 3000) for kind in ("detach", "crash", "recover", "attach")),
        Step("publish", 1, 3000),
    )
    result = carry_out(History(2, 10, corrupted=False, steps=steps))
    assert not result.wrong_ring()
    assert {row["node"] for row in result.rows if row["event"] == "deliver"} == {1, 2}


def test_who_unsubscribes_and_leaves_at_once_is_not_in_the_ring_when_it_is_back() -> None:
    """It is away when the permission to go comes."""
    kinds = (("subscribe", 0), ("unsubscribe", 20_000), ("detach", 0), ("attach", 1000))
    assert wrong(History(2, 100, corrupted=False, steps=tuple(Step(kind, 1, gap) for kind, gap in kinds))) == []
