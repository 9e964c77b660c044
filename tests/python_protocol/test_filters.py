"""Filters select notifications by their attributes, and both survive their encoding."""

import math
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.filters import (
    Constraint,
    Filter,
    Notification,
    NotificationId,
    Operator,
    circle,
    parse_filter,
    parse_value,
)
from roambus.python_protocol.messages.octets import DecodeError, Reader, Writer

names = st.text(st.characters(codec="utf-8", exclude_characters="'"), min_size=1, max_size=12)
values = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | names
attributes = st.dictionaries(names, values, max_size=6).map(lambda found: tuple(sorted(found.items())))
notifications = st.builds(
    Notification,
    st.builds(NotificationId, st.integers(0, 65533), st.integers(0, 2**32 - 1)),
    attributes,
    st.integers(0, 300),
)
constraints = st.builds(Constraint, names, st.sampled_from(Operator), values)
filters = st.builds(Filter, st.lists(constraints, max_size=5).map(tuple))


def notification(**found: int | float | str) -> Notification:
    return Notification(NotificationId(1, 2), tuple(sorted(found.items())))


@pytest.mark.parametrize(
    ("text", "found", "matches"),
    [
        ("topic = 'news'", {"topic": "news"}, True),
        ("topic = 'news'", {"topic": "sport"}, False),
        ("topic != 'news'", {"topic": "sport"}, True),
        ("price < 10 and topic = 'and'", {"topic": "and", "price": 9.5}, True),
        ("price <= 10", {"price": 10}, True),
        ("price > 10", {"price": 10}, False),
        ("price >= 10", {"price": 10.0}, True),
        ("name prefix 'ab'", {"name": "abc"}, True),
        ("name prefix 'ab'", {"name": "ba"}, False),
        ("name exists", {"name": 0}, True),
        ("name exists", {}, False),
        ("price < 10", {"price": "9"}, False),
        ("price != 10", {"price": "10"}, True),
        ("price != 10", {}, False),
        ("all", {}, True),
    ],
)
def test_conjunction_over_attributes(text: str, found: dict[str, int | float | str], matches: bool) -> None:
    """Every constraint must hold; a missing attribute or one of another type never compares."""
    assert parse_filter(text).matches(notification(**found)) is matches


@given(filters)
def test_filter_text_is_read_back(wanted: Filter) -> None:
    """What a filter prints is what it parses from, as long as its names are words."""
    named = Filter(tuple(Constraint("x", entry.operator, entry.operand) for entry in wanted.constraints))
    for constraint in named.constraints:
        if constraint.operator not in (Operator.EXISTS, Operator.WITHIN) and " and " not in str(constraint.operand):
            assert parse_filter(str(constraint)) == Filter((constraint,))


@pytest.mark.parametrize(
    ("text", "place", "matches"),
    [
        ("within 50 of (40, 20)", (90, 20), True),
        ("within 50 of (40, 20)", (90.1, 20), False),
        ("within 5 of (3,4) and topic = 'news'", (0, 0), True),
        ("inside (0,0)-(30,30)", (30, 0), True),
        ("inside (0, 0)-(30.5, 30)", (30.6, 0), False),
        ("inside (-5,0)-(30,30) and topic = 'sport'", (0, 0), False),
    ],
)
def test_an_area_has_its_border(text: str, place: tuple[float, float], matches: bool) -> None:
    """A notification's place are its attributes x and y; without one, no area has it."""
    x, y = place
    assert parse_filter(text).matches(notification(topic="news", x=x, y=y)) is matches
    assert not parse_filter(text).matches(notification(topic="news", x=x))


@given(st.integers(1, 500), st.integers(-99, 99), st.integers(-99, 99))
def test_the_text_of_an_area_is_read_back(radius: int, x: int, y: int) -> None:
    """A circle is one constraint; a rectangle is four, on x and y."""
    text = f"within {radius} of ({x}, {y})"
    assert str(parse_filter(text)) == text
    assert str(parse_filter(f"inside ({x},{y})-({x + radius},{y + 1})")) == (
        f"x >= {x} and x <= {x + radius} and y >= {y} and y <= {y + 1}"
    )


def test_an_area_around_me_is_one_around_a_place_once_that_is_known() -> None:
    """It reads as it is written, matches nothing before, and its border belongs to it."""
    moving = parse_filter("within 30 of me and topic = 'news'")
    assert (moving.is_moving, str(moving)) == (True, "within 30 of me and topic = 'news'")
    assert not moving.matches(notification(topic="news", x=0, y=0))
    still = moving.around((10.04, 20))
    assert (still.is_moving, str(still)) == (False, "within 30 of (10.04, 20) and topic = 'news'")
    assert [still.matches(notification(topic="news", x=x, y=20)) for x in (40.03, 40.05)] == [True, False]


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.floats(1e-9, 1e9), numbers, numbers)
def test_an_area_keeps_every_digit_of_its_numbers(radius: float, x: float, y: float) -> None:
    """Also those of maps, such as UTM's: an area travels as text."""
    read = parse_filter(f"within {radius!r} of ({x!r}, {y!r})")
    assert circle(read.constraints[0].operand) == (radius, x, y)
    assert parse_filter(f"within {radius!r} of me").around((x, y)) == parse_filter(str(read)) == read
    assert parse_filter("inside (-1e-3, .5)-(2E2, 1.5)").matches(notification(x=199, y=1))


@pytest.mark.parametrize("text", ["within you", "within 3 of you", "inside (0, 0)", "within 3 of (1, )"])
def test_says_what_an_area_looks_like(text: str) -> None:
    """An unreadable area is an error that shows readable ones; `within` is a name like others where it is compared."""
    with pytest.raises(ValueError, match=r"is not an area such as within 50 of \(40, 20\), within 50 of me or inside"):
        parse_filter(text)
    assert str(parse_filter("within = 3 and inside exists")) == "within = 3 and inside exists"


def test_an_area_without_an_end_is_refused() -> None:
    """Its number would not be one."""
    with pytest.raises(ValueError, match="is an area without an end"):
        parse_filter("within 1e999 of me")


@pytest.mark.parametrize(
    "text", ["within 0 of me", "within -3 of me", "within -3 of (1, 2)", "inside (5,5)-(5,9)", "inside (5,5)-(9,1)"]
)
def test_an_area_of_no_size_is_refused(text: str) -> None:
    """It would match nothing."""
    with pytest.raises(ValueError, match="is an area of no size"):
        parse_filter(text)


@pytest.mark.parametrize("text", ["topic", "= 3", "a ~ 3", "a = news", "a = 3 and"])
def test_says_what_a_constraint_looks_like(text: str) -> None:
    """An unreadable filter is an error that shows a readable one."""
    with pytest.raises(ValueError, match=r"is not a constraint|neither a number nor a text"):
        parse_filter(text)


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e999", "1_000", "1_0.5", "0x10", "\u0663", "+", "1e"])
def test_a_number_is_finite_and_written_in_digits(text: str) -> None:
    """Nothing compares with nan, so that a filter with it would never be found again; the others are slips."""
    for read in (parse_value, lambda value: parse_filter(f"price != {value}")):
        with pytest.raises(ValueError, match="is neither a number nor a text in single quotes"):
            read(text)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("-3", -3), ("+2.5", 2.5), ("2.", 2.0), (".5", 0.5), ("1e3", 1e3)]
)
def test_numbers_are_read_as_they_are_written(text: str, value: float) -> None:
    """A whole number stays one: its bytes are others."""
    assert (parse_value(text), type(parse_value(text))) == (value, type(value))


@pytest.mark.parametrize("operand", [math.nan, math.inf, -math.inf])
def test_an_operand_is_finite_wherever_it_comes_from(operand: float) -> None:
    """From a program as from the air."""
    with pytest.raises(ValueError, match=f"price != {operand}: the operand is not a finite number"):
        Constraint("price", Operator.NOT_EQUAL, operand)
    writer = Writer()
    Filter((Constraint("price", Operator.NOT_EQUAL, 1.0),)).write(writer)
    sent = writer.getvalue().replace(struct.pack("!d", 1.0), struct.pack("!d", operand))
    with pytest.raises(DecodeError, match="is not a finite number"):
        Filter.read(Reader(sent))


@given(notifications)
def test_notification_round_trip(sent: Notification) -> None:
    """A notification is the same after its encoding."""
    writer = Writer()
    sent.write(writer)
    reader = Reader(writer.getvalue())
    assert Notification.read(reader) == sent
    reader.finish()


@given(filters)
def test_filter_round_trip(sent: Filter) -> None:
    """A filter is the same after its encoding."""
    writer = Writer()
    sent.write(writer)
    assert Filter.read(Reader(writer.getvalue())) == sent


@given(st.binary(max_size=60))
def test_no_bytes_do_worse_than_a_decode_error(data: bytes) -> None:
    """Any bytes are a filter, which is written as it was read, or a DecodeError."""
    with suppress(DecodeError):
        found = Filter.read(Reader(data))
        writer = Writer()
        found.write(writer)
        assert Filter.read(Reader(writer.getvalue())) == found
