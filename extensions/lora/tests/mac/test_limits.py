"""The limits of regions: exact accounts of the duty cycle over any hour, dwell times, powers, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.mac.limits import FRAMES, REASONS
from roambus.extensions.lora.mac.regions import REGIONS, WINDOW
from roambus.extensions.lora.mac.settings import DELAY, REFUSE, LoRaAloha, LoRaCad
from roambus.extensions.lora.tests.mac.scenes import HOUR, START, Course, airtime, frame, run, said, scene, symbol
from roambus.python_protocol.events import NOT_SENT, QUEUE_FULL
from roambus.python_protocol.messages.message import Fragment
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

DUTY_CYCLE, DWELL_TIME = REASONS
SLOW: dict[str, Any] = {"preset": "LongSlow"}
TO_TX = scene(0).radio.rx_to_tx


def limited(region: str, limit: str = DELAY, hours: float = 4, queue: int = 32, **reception: Any) -> Scenario:
    """Two nodes 100 m apart."""
    return scene(0, 100, mac=LoRaAloha(queue, region=region, limit=limit), hours=hours, **reception)


class OnAir(NamedTuple):
    """A frame on the air."""

    begin: SimTime
    end: SimTime


def on_air(course: Course, sizes: dict[str, int], scenario: Scenario) -> list[OnAir]:
    """The frames of node 0, by what node 1 got."""
    return [OnAir(got.at - airtime(scenario, sizes[got.text]), got.at) for got in course.got]


def in_hour(frames: Sequence[OnAir], end: SimTime) -> SimTime:
    """The airtime in the hour that ends then."""
    return sum(max(0, min(one.end, end) - max(one.begin, end - WINDOW)) for one in frames)


def most_in_any_hour(frames: Sequence[OnAir]) -> SimTime:
    """The sum is linear between hours that begin or end where a frame does, so one of these has the most."""
    ends = [moment + shift for one in frames for moment in one for shift in (0, WINDOW)]
    return max((in_hour(frames, end) for end in ends), default=0)


def earliest(before: Sequence[OnAir], asked: SimTime, lasting: SimTime, limit: SimTime) -> SimTime:
    """The first moment from `asked` on at which a frame breaks nothing: found by halving."""

    def fits(begin: SimTime) -> bool:
        return most_in_any_hour([*before, OnAir(begin, begin + lasting)]) <= limit

    if fits(asked):
        return asked
    wrong, right = asked, asked + 2 * WINDOW
    while right - wrong > 1:
        middle = (wrong + right) // 2
        wrong, right = (wrong, middle) if fits(middle) else (middle, right)
    return right


SIZES = st.integers(0, 239)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3 * 3600), SIZES), min_size=2, max_size=40), st.sampled_from([10, 1]))
def test_no_hour_has_more_than_the_limit_and_no_frame_waits_longer_than_it_must(
    asked: list[tuple[int, int]], permille: int
) -> None:
    """Frames of two to nine seconds, 36 or 3.6 seconds an hour; a model of the test's own says when each begins."""
    asked.sort()
    scenario = limited({10: "EU868-g1", 1: "EU868-g2"}[permille], hours=100, queue=100, **SLOW)
    limit = HOUR * permille // 1000
    frames = [frame(0, str(k), at * SECOND, size=size) for k, (at, size) in enumerate(asked)]
    course = run(scenario, frames)
    sizes = {str(k): size for k, (_, size) in enumerate(asked)}
    sent = on_air(course, sizes, scenario)
    expected: list[OnAir] = []
    free = 0
    for at, size in asked:
        lasting = airtime(scenario, size)
        if lasting <= limit:
            begin = earliest(expected, max(at * SECOND, free) + TO_TX, lasting, limit)
            expected.append(OnAir(begin, begin + lasting))
            free = begin + lasting + scenario.radio.tx_to_rx + 1
    assert most_in_any_hour(sent) <= limit
    assert len(sent) == len(expected)
    assert all(abs(one.begin - other.begin) <= 2 for one, other in zip(sent, expected, strict=True))
    assert course.count("duty_refused") == len(asked) - len(expected)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7200), SIZES), min_size=1, max_size=60),
    st.sampled_from(["EU868-g1", "EU868-g2", "AS923"]),
    st.sampled_from([DELAY, REFUSE]),
    st.integers(1, 8),
)
def test_each_frame_ends_in_exactly_one_count(
    asked: list[tuple[int, int]], region: str, limit: str, queue: int
) -> None:
    """Sent, without room, refused for the duty cycle or the dwell time, or queued at the end, as agents hear it."""
    scenario = limited(region, limit, hours=3, queue=queue, **SLOW)
    scenario = replace(scenario, nodes=tuple(replace(node, tx_power_dbm=14.0) for node in scenario.nodes))
    course = run(scenario, [frame(0, str(k), at * SECOND, size=size) for k, (at, size) in enumerate(asked)])
    counts = {name: values[0] for name, values in course.totals.counts.items()}
    ends = ("transmitted", "mac_overflown", "duty_refused", "dwell_refused")
    assert counts["offered"] == len(asked) == sum(counts[name] for name in ends) + course.queued[0]
    reasons = [one.reason for one in course.failed]
    told = [reasons.count(reason) for reason in (QUEUE_FULL, DUTY_CYCLE, DWELL_TIME)]
    assert told == [counts[name] for name in ends[1:]]
    assert len(course.got) == counts["transmitted"]
    assert counts["duty_delayed"] <= counts["transmitted"] + course.queued[0]


def test_a_frame_waits_until_the_hour_has_room() -> None:
    """0.1 % are 3.6 seconds. The second frame waits until the excess over these is an hour old."""
    scenario = limited("EU868-g2", **SLOW)
    lasting = airtime(scenario)
    assert 1.8 * SECOND < lasting < 3.6 * SECOND
    course = run(scenario, [frame(0, "a"), frame(0, "b")])
    first, second = on_air(course, {"a": 24, "b": 24}, scenario)
    over = 2 * lasting - 3600 * MILLISECOND
    assert second.end - WINDOW == first.begin + over
    assert course.totals.counts["duty_delayed"] == [1, 0]


def test_a_frame_is_refused_instead_if_the_setting_says_so() -> None:
    """The agent learns the reason at once; an hour later the next one is sent."""
    scenario = limited("EU868-g2", REFUSE, **SLOW)
    course = run(scenario, [frame(0, "a"), frame(0, "b", 60 * SECOND), frame(0, "c", HOUR)])
    assert course.texts(1) == ["a", "c"]
    assert course.failed == [(60 * SECOND, 0, "b", DUTY_CYCLE)]
    assert (course.count("duty_refused"), course.count("duty_delayed")) == (1, 0)


def test_a_frame_that_alone_breaks_the_duty_cycle_is_refused_by_either_setting() -> None:
    """It would wait for ever; the frames behind it go on."""
    for limit in (DELAY, REFUSE):
        scenario = limited("EU868-g2", limit, **SLOW)
        assert airtime(scenario, 100) > 3.6 * SECOND
        course = run(scenario, [frame(0, "long", size=100), frame(0, "short", size=0)])
        assert course.texts(1) == ["short"]
        assert [(one.text, one.reason) for one in course.failed] == [("long", DUTY_CYCLE)]


def test_a_refused_fragment_takes_the_rest_of_its_message_with_it() -> None:
    """Its receivers could not join them; the next message is sent."""
    scenario = limited("EU868-g2", **SLOW)
    pieces = [frame(0, "", size=100)._replace(message=Fragment(7, 9, at, b"abc")) for at in (0, 3)]
    course = run(scenario, [*pieces, frame(0, "next")])
    assert [one.reason for one in course.failed] == [DUTY_CYCLE, NOT_SENT]
    assert course.texts(1) == ["next"]
    assert course.count("duty_refused") == 1


def test_a_refused_fragment_takes_those_behind_it_off_the_queue() -> None:
    """They were queued during an earlier frame. One is refused, the others are not sent, and what follows them is."""
    pieces = [frame(0, "", SECOND, size=100)._replace(message=Fragment(7, 9, at, b"abc")) for at in (0, 3, 6)]
    course = run(limited("EU868-g2", **SLOW), [frame(0, "a"), *pieces, frame(0, "next", SECOND)])
    assert [one.reason for one in course.failed] == [DUTY_CYCLE, NOT_SENT, NOT_SENT]
    assert course.texts(1) == ["a", "next"]
    assert course.count("duty_refused") == 1


@pytest.mark.parametrize("region", ["US915", "AU915", "AS923"])
def test_a_frame_longer_than_the_dwell_time_is_refused(region: str) -> None:
    """Whether frames are delayed or not: time makes it no shorter. 400 ms themselves are allowed."""
    for limit in (DELAY, REFUSE):
        scenario = limited(region, limit, factors=(11,), bandwidth_khz=250)
        short = max(size for size in range(239) if airtime(scenario, size) <= 400 * MILLISECOND)
        course = run(
            scenario, [frame(0, "long", size=short + 1), frame(0, "longer", size=200), frame(0, "a", size=short)]
        )
        assert course.texts(1) == ["a"]
        assert [(one.text, one.reason) for one in course.failed] == [("long", DWELL_TIME), ("longer", DWELL_TIME)]
        assert course.count("dwell_refused") == 2


def lasting_exactly(lasting: SimTime, region: str, limit: str = DELAY) -> Scenario:
    """A preamble makes a frame of PAYLOAD last so long: with SF7 and 250 kHz a quarter of a symbol is 128 us."""
    fast: dict[str, Any] = {"factors": (7,), "bandwidth_khz": 250}
    short = limited(region, limit, preamble=6, **fast)
    scenario = limited(region, limit, preamble=6 + (lasting - airtime(short)) // symbol(short), **fast)
    assert airtime(scenario) == lasting
    return scenario


@pytest.mark.parametrize(("lasting", "region"), [(400 * MILLISECOND, "AS923"), (3600 * MILLISECOND, "EU868-g2")])
def test_a_frame_may_last_exactly_as_long_as_a_limit(lasting: SimTime, region: str) -> None:
    """It is sent at once, though it uses up an hour's airtime."""
    course = run(lasting_exactly(lasting, region), [frame(0, "a")])
    assert course.got == [(TO_TX + lasting, 1, "a")]


def test_channels_of_500_khz_have_no_dwell_time_in_america() -> None:
    """They are digital modulation by the FCC's rule; in Asia the limit holds for all."""
    fast: dict[str, Any] = {"factors": (12,), "bandwidth_khz": 500}
    assert airtime(limited("US915", **fast)) > 400 * MILLISECOND
    assert run(limited("US915", **fast), [frame(0, "a")]).texts(1) == ["a"]
    assert run(limited("AS923", **fast), [frame(0, "a")]).texts(1) == []


@pytest.mark.parametrize("region", [name for name in REGIONS if name != "none"])
def test_a_power_above_the_limit_is_refused(region: str) -> None:
    """By one message that names node, power, limit and region; the limit itself is allowed."""
    limit = REGIONS[region].eirp_dbm
    scenario = limited(region)
    levels = ((limit, 100.0), (limit + 0.01, 100.0))
    scenario = replace(scenario, radio=replace(scenario.radio, tx_levels_mw=levels))
    quiet, loud = (replace(scenario.nodes[0], tx_power_dbm=level) for level, _ in levels)
    run(replace(scenario, nodes=(quiet, quiet), time_limit=START), [])
    with pytest.raises(
        UserError, match=rf"TxOutputPower: node 1: {limit + 0.01:g} dBm is above the {limit:g} dBm of .*{region}"
    ):
        run(replace(scenario, nodes=(quiet, loud)), [])


def test_without_a_region_there_is_no_limit() -> None:
    """A node sends for more than half of an hour."""
    scenario = limited("none", hours=1, queue=1000, **SLOW)
    course = run(scenario, [frame(0, str(k)) for k in range(700)])
    assert course.totals.counts["transmitted"] == [700, 0]
    assert course.totals.counts["air_ns"][0] > HOUR // 2


def test_a_crash_forgets_no_airtime() -> None:
    """The rules are the band's: a node that recovers has used what it has used."""
    scenario = limited("EU868-g2", REFUSE, **SLOW)
    faults = (Fault(START + 10 * SECOND, 0, FaultKind.CRASH), Fault(START + 20 * SECOND, 0, FaultKind.RECOVER))
    course = run(replace(scenario, faults=faults), [frame(0, "a"), frame(0, "b", 30 * SECOND)])
    assert course.texts(1) == ["a"]
    assert [(one.text, one.reason) for one in course.failed] == [("b", DUTY_CYCLE)]


def test_a_crash_ends_a_wait_for_the_duty_cycle() -> None:
    """The frame that would have been sent an hour later comes back; a frozen node's is sent."""
    scenario = limited("EU868-g2", **SLOW)
    for kind, expected in ((FaultKind.CRASH, ["a"]), (FaultKind.FREEZE, ["a", "b"])):
        course = run(replace(scenario, faults=(Fault(START + 60 * SECOND, 0, kind),)), [frame(0, "a"), frame(0, "b")])
        assert course.texts(1) == expected
        assert [one.reason for one in course.failed] == ["crash"] * (2 - len(expected))


@pytest.mark.parametrize("settings", [LoRaAloha(region="EU868-g1"), LoRaCad(region="EU868-g1", cw_min=0, cw_max=0)])
def test_a_frame_that_begins_with_the_timer_of_a_lost_one_has_begun_before_a_crash(settings: LoRaAloha) -> None:
    """A crash has taken a held frame. Another one begins when that would have gone on, and the next crash follows."""
    scenario = scene(0, 100, mac=settings, hours=3, **SLOW)
    sizes = {"a": 239, "b": 239, "held": 239, "short": 0, "last": 239}
    frames = [frame(0, text, size=239) for text in ("a", "b", "held")]
    begin, first = (run(scenario, some).time_of(said(some[-1].message)) for some in (frames, frames[:1]))
    before = first - airtime(scenario, 239)
    timer = begin - airtime(scenario, 239) - before
    outages = ((60 * SECOND, 70 * SECOND), (timer + 1, timer + SECOND))
    kinds = (FaultKind.CRASH, FaultKind.RECOVER)
    faults = [Fault(START + at, 0, kind) for outage in outages for at, kind in zip(outage, kinds, strict=True)]
    frames += [frame(0, "short", timer - before, size=0), frame(0, "last", timer + 2 * SECOND, size=239)]
    course = run(replace(scenario, faults=tuple(faults)), frames)
    assert course.time_of("short") == timer + airtime(scenario, 0)
    assert [one.text for one in course.failed] == ["held"]
    assert most_in_any_hour(on_air(course, sizes, scenario)) <= HOUR // 100


@pytest.mark.parametrize("mac", [LoRaAloha, LoRaCad])
def test_the_first_delay_after_a_crash_counts_too(mac: type[LoRaAloha]) -> None:
    """The crash takes a frame whose delay has been counted; that of the next frame is another one."""
    scenario = scene(0, 100, mac=mac(region="EU868-g2"), hours=4, **SLOW)
    faults = (Fault(START + 60 * SECOND, 0, FaultKind.CRASH), Fault(START + 70 * SECOND, 0, FaultKind.RECOVER))
    frames = [frame(0, "a"), frame(0, "b", 10 * SECOND), frame(0, "c", 100 * SECOND)]
    course = run(replace(scenario, faults=faults), frames)
    assert [one.text for one in course.failed] == ["b"]
    assert course.time_of("c") > HOUR
    assert course.totals.counts["duty_delayed"] == [2, 0]


def test_nodes_have_accounts_of_their_own() -> None:
    """The airtime of one costs another nothing."""
    course = run(limited("EU868-g2", REFUSE, **SLOW), [frame(0, "a"), frame(1, "b", 10 * SECOND)])
    assert course.texts(0) + course.texts(1) == ["b", "a"]


def test_many_short_frames_never_exceed_the_limit_and_lose_little() -> None:
    """More frames in an hour than are kept apart: some count for longer than they should, by less than a percent."""
    scenario = limited("EU868-g1", hours=6, queue=20_000, preset="ShortTurbo")
    random, sizes = Random(5), {}
    frames = []
    for k in range(8000):
        sizes[str(k)] = random.randrange(1, 30)
        frames.append(frame(0, str(k), random.randrange(2 * HOUR), size=sizes[str(k)]))
    course = run(scenario, frames)
    sent = on_air(course, sizes, scenario)
    limit = HOUR // 100
    per_hour = max(sum(1 for one in sent if end - WINDOW < one.begin <= end) for end in range(HOUR, 6 * HOUR, HOUR))
    assert per_hour > FRAMES
    assert most_of_sliding_hours(sent) <= limit
    assert all(early.end < late.begin for early, late in pairwise(sent))
    used = sum(one.end - one.begin for one in sent if one.begin < 4 * HOUR)
    assert Fraction(used, 4 * limit) > Fraction(99, 100)


def most_of_sliding_hours(frames: Sequence[OnAir]) -> SimTime:
    """As `most_in_any_hour`, for many frames: by differences of the airtime up to each moment."""
    begins, ends = np.array([one.begin for one in frames]), np.array([one.end for one in frames])
    lasting = np.concatenate([[0], np.cumsum(ends - begins)])

    def until(moments: NDArray[np.int64]) -> NDArray[np.int64]:
        begun = np.searchsorted(begins, moments, "right")
        unfinished = np.maximum(0, ends[begun - 1] - moments) * (begun > 0)
        before: NDArray[np.int64] = lasting[begun] - unfinished
        return before

    moments = np.concatenate([begins, ends, begins + WINDOW, ends + WINDOW])
    return int(np.max(until(moments) - until(moments - WINDOW)))


def test_the_fast_sum_is_the_plain_one() -> None:
    """Of some frames."""
    random = Random(3)
    begins = sorted(random.randrange(3 * HOUR) for _ in range(50))
    frames = [OnAir(begin, min(begin + 60 * SECOND, after)) for begin, after in pairwise([*begins, 4 * HOUR])]
    assert most_of_sliding_hours(frames) == most_in_any_hour(frames)
