"""Trickle: heartbeats become rare while nothing changes."""

from roambus.python_protocol.mft.agent import Trickle


def due(trickle: Trickle, rounds: int) -> list[int]:
    """The numbers of the rounds in which it beats."""
    return [number for number in range(rounds) if trickle.is_due()]


def test_the_interval_doubles_up_to_its_bound() -> None:
    """One, two, four rounds, and four from then on."""
    assert due(Trickle(4), 16) == [0, 2, 6, 10, 14]
    assert due(Trickle(1), 4) == [0, 1, 2, 3]


def test_what_is_inconsistent_makes_the_next_round_due() -> None:
    """The interval begins anew."""
    trickle = Trickle(4)
    due(trickle, 8)
    trickle.reset()
    assert due(trickle, 8) == [0, 2, 6]
