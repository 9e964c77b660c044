"""States of agents as values: equal if nothing that the agent could do tells them apart."""

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.transcript.by_hand import ScriptedChance
from roambus.experiments.exploring.state import NOW, CannotFreezeError, ClockError, Freezer, Instant, Thawer

CHANCE = ScriptedChance()
plain = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=3) | st.floats(allow_nan=False)
)
keys = st.integers() | st.text(max_size=3)
values: Any = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(keys, max_size=3)
        | st.lists(inner, max_size=3).map(deque)
    ),
    max_leaves=8,
)


@dataclass
class Thing:
    """Anything with attributes."""

    held: Any = None
    more: Any = field(default_factory=list)


def freeze(thing: Any, now: int = NOW) -> Any:
    return Freezer(CHANCE, now).freeze(thing, type(thing))


@given(values, values)
def test_what_is_thawed_is_what_was_frozen(one: Any, other: Any) -> None:
    """And it freezes to the same value."""
    thing = Thing(one, [other])
    thawed = Thawer(CHANCE).thaw(freeze(thing))
    assert thawed == thing
    assert freeze(thawed) == freeze(thing)


@given(values, values)
def test_different_states_have_different_values(one: Any, other: Any) -> None:
    """A frozen value is no hash, which could be that of another state, too."""
    if repr(one) != repr(other):
        assert freeze(Thing(one)) != freeze(Thing(other))


def test_what_parts_share_they_share_again() -> None:
    """A process and its parts collect their actions in one list."""
    shared: list[int] = []
    thawed = Thawer(CHANCE).thaw(freeze(Thing(shared, Thing(shared))))
    thawed.held.append(1)
    assert thawed.more.held == [1]


def test_a_circle_is_no_problem() -> None:
    """Something may hold what holds it."""
    thing = Thing()
    thing.held = thing
    thawed = Thawer(CHANCE).thaw(freeze(thing))
    assert thawed.held is thawed


@pytest.mark.parametrize("value", [Counter("aab"), OrderedDict(a=1), defaultdict(list, a=[1]), deque([1, 2], maxlen=2)])
def test_collections_keep_their_kind(value: Any) -> None:
    """What a default dict makes of a missing key belongs to its state."""
    thawed = Thawer(CHANCE).thaw(freeze(Thing(value))).held
    assert (type(thawed), thawed) == (type(value), value)
    assert getattr(thawed, "maxlen", None) == getattr(value, "maxlen", None)
    assert getattr(thawed, "default_factory", None) == getattr(value, "default_factory", None)


def test_bound_methods_belong_to_the_thawed_object() -> None:
    """Not to the one that was frozen."""
    thing = Thing([], [])
    thing.more = Bound(thing).take
    thawed = Thawer(CHANCE).thaw(freeze(thing))
    thawed.more(3)
    assert thawed.held == [3]
    assert thing.held == []


class Bound:
    """Has a method that changes something else."""

    def __init__(self, thing: Thing) -> None:
        self.thing = thing

    def take(self, value: int) -> None:
        self.thing.held.append(value)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_a_moment_counts_by_how_long_ago_it_was(ago: int, later: int) -> None:
    """Whenever the state is looked at."""
    moment = Instant(NOW) - ago
    assert freeze(Thing(moment)) == freeze(Thing(Instant(NOW + later) - ago), NOW + later)
    assert Thawer(CHANCE).thaw(freeze(Thing(moment))).held == moment


@pytest.mark.parametrize("value", [Random(1), iter([1]), (number for number in [1]), open])
def test_what_cannot_be_copied_is_named(value: Any) -> None:
    """By the attribute that holds it; a function of Python's own is no state."""
    if value is open:
        assert Thawer(CHANCE).thaw(freeze(Thing([value]))).held == [open]
        return
    with pytest.raises(CannotFreezeError, match=r"^self.held\[0\] is a "):
        freeze(Thing([value]))


def test_the_agents_own_chance_is_no_state() -> None:
    """The explorer decides what it draws."""
    assert Thawer(CHANCE).thaw(freeze(Thing(CHANCE))).held is CHANCE


def test_a_difference_of_moments_is_a_duration() -> None:
    """And a moment stays one when a duration is added."""
    now = Instant(1000)
    assert type(now + 5) is type(5 + now) is type(now - 5) is Instant
    assert type((now + 5) - now) is int
    assert max(now, now + 5) - now == 5


@pytest.mark.parametrize("use", [lambda now: now % 7, lambda now: now // 2, lambda now: now / 2, lambda now: now * 2])
def test_what_depends_on_the_clock_is_refused(use: Any) -> None:
    """Two states that differ in the clock alone would not behave alike."""
    with pytest.raises(ClockError):
        use(Instant(1000))
