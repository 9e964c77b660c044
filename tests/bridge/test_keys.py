"""Single values of ini files: what is read, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge import keys
from roambus.bridge.keys import COORDINATE, MILLISECONDS, SECONDS
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.settings import NUMBER, Range, Setting, read_number
from roambus.python_protocol.simtime import MILLISECOND, SECOND, format_time


@given(st.text())
def test_strings_come_back_as_they_were_quoted(text: str) -> None:
    """Quotes, backslashes and line breaks survive."""
    assert keys.string(keys.quote(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_as_they_were_written(number: float) -> None:
    """Python's own notation is read exactly."""
    assert read_number(repr(number)) == number


@given(st.integers(min_value=0, max_value=10**18))
def test_durations_come_back_as_they_were_written(time: int) -> None:
    """Times never round."""
    assert keys.duration(format_time(time)) == time


def test_parameters_of_castalia_are_in_its_own_units() -> None:
    """Milliseconds and seconds become nanoseconds."""
    assert Setting("", MILLISECONDS, None, "").read("0.128") == 128_000
    assert Setting("", MILLISECONDS, None, "").read("1e-9") == 1
    assert Setting("", SECONDS, None, "").read("0.05") == 50 * MILLISECOND


def test_powers_may_carry_their_unit() -> None:
    """Castalia reads the number off the front of the string."""
    assert keys.power('"-5dBm"') == keys.power('"-5"') == -5.0
    assert keys.power('""') is None


def test_settings_of_the_application_are_read() -> None:
    """Roles, attributes and agent parameters, in an order that does not depend on how they were written."""
    assert keys.roles('"publisher broker"') == Role.PUBLISHER | Role.BROKER
    assert keys.attributes("\"topic = 'news' and price = 3\"") == (("price", 3), ("topic", "news"))
    assert keys.assignments('"b=1s a=x"') == (("a", "x"), ("b", "1s"))


def test_several_filters_have_semicolons_between_them() -> None:
    """One in a text is a part of it."""
    first, second = parse_filter("topic = 'a;b' and price < 3"), parse_filter("topic = 'c'")
    assert keys.filters("\"topic = 'a;b' and price < 3; topic = 'c'\"") == (first, second)
    assert keys.filters('"all"') == (Filter(),)


def test_coordinates_can_be_drawn() -> None:
    """uniform(a, b) stands for a number for each node."""
    assert keys.coordinate("uniform(0, 30)") == keys.Uniform(0.0, 30.0)
    assert keys.coordinate("4.5") == 4.5


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_number, "5m"),
        (read_number, "2*3"),
        (read_number, "nan"),
        (read_number, "1e999"),
        (keys.integer, "1.5"),
        (keys.integer, "-1"),
        (keys.integer, "1" * 19),
        (keys.boolean, "yes"),
        (keys.string, "CC2420.txt"),
        (keys.coordinate, "normal(0, 1)"),
        (keys.duration, "700"),
        (keys.duration, "-1s"),
        (keys.duration, "7 parsecs"),
        (keys.duration, "10000000000s"),
        (keys.duration, "1e999999999s"),
        (keys.power, '"loud"'),
        (keys.roles, '"listener"'),
        (keys.filters, '"topic is news"'),
        (keys.filters, '"price < 3; topic is news"'),
        (keys.attributes, '"price < 3"'),
        (keys.attributes, '"price = 3 and price = 4"'),
        (keys.assignments, '"rate"'),
        (keys.assignments, '"rate=1 rate=2"'),
    ],
)
def test_values_that_cannot_be_read_are_refused(read: Callable[[str], Any], text: str) -> None:
    """OMNeT++ would refuse them too, or they would mean something else to it."""
    with pytest.raises(ValueError, match=r"\w"):
        read(text)


def test_seconds_are_exact_enough() -> None:
    """A second is 10^9 ns."""
    assert Setting("", SECONDS, None, "").read("700") == 700 * SECOND


def test_times_that_no_simulation_lasts_are_refused() -> None:
    """They would not fit in 64 bits of nanoseconds."""
    with pytest.raises(ValueError, match="longer than a simulation can last, which is 9000000000s"):
        Setting("", MILLISECONDS, None, "").read("1e13")


@pytest.mark.parametrize(
    ("unit", "within", "refused", "must_be"),
    [
        ("dB", Range(at_least=0), "-1", "at least 0 dB"),
        ("", Range(above=0), "0", "above 0"),
        ("m", Range(above=0, at_most=5), "6", "above 0 and at most 5 m"),
        ("", Range(0, 1), "1.5", "from 0 to 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(unit: str, within: Range, refused: str, must_be: str) -> None:
    """The range stands at the declaration of the key, and its unit with it."""
    declared = Setting("", NUMBER, None, "", unit, within)
    with pytest.raises(ValueError, match=f"^{refused} is out of range: it must be {must_be}$"):
        declared.read(refused)


def test_a_drawn_coordinate_keeps_its_range_at_both_ends() -> None:
    """What is drawn lies between them."""
    declared = Setting("", COORDINATE, None, "", within=Range(0, 5))
    assert declared.read("uniform(0, 5)") == keys.Uniform(0, 5)
    with pytest.raises(ValueError, match="from 0 to 5"):
        declared.read("uniform(3, 6)")


@pytest.mark.parametrize("read", [keys.attributes, keys.filters])
@pytest.mark.parametrize("operand", ["'" + "a" * 256 + "'", "99999999999999999999", "-9223372036854775809"])
def test_what_no_message_can_carry_is_refused_where_it_is_read(read: Callable[[str], object], operand: str) -> None:
    """And not in the middle of the run, when the first message has to."""
    with pytest.raises(ValueError, match="no message can carry it"):
        read(f'"topic = {operand}"')
    read('"topic = 9223372036854775807"')
