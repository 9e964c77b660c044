"""Times are integers; text is only their outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.simtime import MILLISECOND, SECOND, format_time, from_seconds, parse_time, to_seconds


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1.5s", 1_500_000_000),
        ("20 ms", 20 * MILLISECOND),
        ("100us", 100_000),
        ("3", 3 * SECOND),
        ("2min", 120 * SECOND),
    ],
)
def test_reads_units(text: str, time: int) -> None:
    """A unit may follow the number; without one it is seconds."""
    assert parse_time(text) == time


@pytest.mark.parametrize("text", ["", "fast", "1 week", "1.2.3s", "s"])
def test_says_what_a_time_looks_like(text: str) -> None:
    """What is not a time is an error that shows one."""
    with pytest.raises(ValueError, match="is not a time such as"):
        parse_time(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_format_is_read_back(time: int) -> None:
    """Formatting and parsing lose nothing."""
    assert parse_time(format_time(time)) == time


def test_seconds_at_the_edge() -> None:
    """Seconds round to the nearest nanosecond."""
    assert from_seconds(0.1) == 100 * MILLISECOND
    assert to_seconds(1_500_000_000) == 1.5


@pytest.mark.parametrize(("time", "text"), [(11_055_032_669, "11.055032669s"), (1_500_000, "1.5ms"), (999, "999ns")])
def test_a_time_is_written_in_the_largest_unit_that_it_fills(time: int, text: str) -> None:
    """So that a person sees at once how long it is."""
    assert format_time(time) == text
