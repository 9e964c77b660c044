"""Listen before talk on the air: slots, detections, what is detected and what is not, and windows by utilisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.scenario.radio import InterferenceSettings
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.mac.settings import LoRaCad
from roambus.extensions.lora.tests.mac.scenes import HOUR, START, Course, airtime, frame, run, scene, symbol
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import at_places

HEARD_M, UNHEARD_M = 1900, 1940
"""From 14 dBm on ShortFast's floor of -121.5 dBm is reached at 1920 m."""


def listening(*xs: float, mac: dict[str, Any] | None = None, seed: int = 1, **reception: Any) -> Scenario:
    """Nodes at these places with a window of one slot only, unless a test says otherwise."""
    settings = {"cw_min": 0, "cw_max": 0, **(mac or {})}
    return replace(scene(*xs, mac=LoRaCad(**settings), **reception), seed=seed)


TWO = listening(0, 100)
SYMBOL, AIRTIME = symbol(TWO), airtime(TWO)
CAD = SYMBOL * 5 // 2
TO_TX, TO_RX = TWO.radio.rx_to_tx, TWO.radio.tx_to_rx
SLOT = 8 * MILLISECOND
"""2.5 symbols of 512 us and 7.6 ms, in whole ms"""
LONG = 60
"""bytes of a frame that lasts for much longer than a slot"""


def test_a_frame_follows_its_slots_and_a_detection() -> None:
    """A window of 2 to the power of 0 has the slot 0 alone."""
    course = run(TWO, [frame(0, "hello")])
    assert course.got == [(CAD + TO_TX + AIRTIME, 1, "hello")]
    assert (course.count("detections"), course.count("busy")) == (1, 0)


def test_a_quiet_channel_has_eight_slots() -> None:
    """Of the window's exponent 3 by default: forty seeds wait for 0 to 7 whole slots, and each of these occurs."""
    waits = {
        run(replace(listening(0, 100, mac={"cw_min": 3, "cw_max": 8}), seed=seed), [frame(0, "a")]).time_of("a")
        for seed in range(40)
    }
    assert waits == {slots * SLOT + CAD + TO_TX + AIRTIME for slots in range(8)}


def test_slots_and_detections_are_longer_with_longer_symbols() -> None:
    """LongFast's symbol lasts 8.192 ms, a detection 20.48, a slot 28."""
    scenario = replace(listening(0, 100, mac={"cw_min": 1, "cw_max": 1}, preset="LongFast"), time_limit=START + HOUR)
    ends = {run(replace(scenario, seed=seed), [frame(0, "a")]).time_of("a") for seed in range(12)}
    at_once = 20_480_000 + TO_TX + airtime(scenario)
    assert ends == {at_once, at_once + 28 * MILLISECOND}


def test_a_busy_channel_is_waited_for() -> None:
    """A node that comes in the middle of a frame detects again and again, and begins after its end."""
    course = run(
        listening(0, 100, 200, mac={"cw_min": 3, "cw_max": 3}),
        [frame(0, "a", size=LONG), frame(1, "b", 70 * MILLISECOND)],
    )
    assert course.texts(2) == ["a", "b"]
    assert course.totals.counts["busy"][1] > 0
    assert course.totals.counts["detections"][1] == course.totals.counts["busy"][1] + 1
    assert course.time_of("b") - AIRTIME - TO_TX - CAD >= course.time_of("a") - CAD


def second_begins(scenario: Scenario, at: SimTime) -> tuple[bool, Course]:
    """Whether node 1 has begun to send before the end of a frame of node 0, which had begun before that."""
    course = run(scenario, [frame(0, "a", size=LONG), frame(1, "b", at)])
    first_end = CAD + TO_TX + airtime(scenario, LONG)
    scenario = replace(scenario, time_limit=START + first_end)
    return run(scenario, [frame(0, "a", size=LONG), frame(1, "b", at)]).totals.counts["transmitted"][1] > 0, course


@pytest.mark.parametrize(("apart_m", "is_free"), [(HEARD_M, False), (UNHEARD_M, True)])
def test_signals_are_detected_down_to_the_demodulation_floor(apart_m: float, *, is_free: bool) -> None:
    """That is 7.5 dB below the noise, where no RSSI shows them; a node a little farther away is hidden."""
    scenario = listening(0, apart_m, apart_m + 50)
    begins, course = second_begins(scenario, 70 * MILLISECOND)
    assert begins is is_free
    assert (course.totals.counts["busy"][1] == 0) is is_free


def test_other_spreading_factors_are_not_detected() -> None:
    """A node with SF8 sends into a frame with SF7; if both have SF7 it waits."""
    assert second_begins(listening(0, 100, 200, factors=(7, 8, 8)), 70 * MILLISECOND)[0]
    assert not second_begins(listening(0, 100, 200, factors=(7, 7, 7)), 70 * MILLISECOND)[0]


def test_a_frame_that_began_during_the_detection_is_not_detected() -> None:
    """It has to be there for the whole detection, so two nodes that begin within one collide."""
    begin = CAD + TO_TX
    scenario = listening(0, 100, 50)
    for handed_over, is_free in ((begin - 1, True), (begin, False), (begin + 1000, False)):
        begins, course = second_begins(scenario, handed_over)
        assert begins is is_free
        assert course.texts(2) == ([] if is_free else ["a", "b"])


def test_a_frame_that_began_while_the_radio_was_deaf_is_detected() -> None:
    """Its preamble is lost for reception, but a detection finds chirps anywhere in a frame."""
    scenario = listening(0, 100, 200)
    own_end = CAD + TO_TX + AIRTIME
    frames = [frame(0, "a"), frame(0, "b"), frame(1, "long", CAD // 2, size=200)]
    course = run(scenario, frames)
    assert "long" not in course.texts(0)
    long_end = CAD // 2 + CAD + TO_TX + airtime(scenario, 200)
    assert course.time_of("b") - AIRTIME >= long_end > own_end
    assert course.totals.counts["busy"][0] > 0


def test_noise_of_others_is_not_detected() -> None:
    """Bursts are no chirps: the node sends into them."""
    bursts = InterferenceSettings(rate_per_s=1e5, length=10 * SECOND, power_dbm=-60, spread_db=0)
    course = run(replace(TWO, interference=bursts), [frame(0, "a")])
    assert course.totals.counts["transmitted"] == [1, 0]
    assert course.count("busy") == 0
    assert course.texts(1) == []


def test_nodes_that_draw_other_slots_do_not_collide() -> None:
    """Two nodes that begin to wait at one moment: of a hundred seeds only those collide that draw the same slot."""
    scenario = replace(listening(0, 100, 50, mac={"cw_min": 3, "cw_max": 3}), time_limit=START + 5 * SECOND)
    received = []
    for seed in range(100):
        course = run(replace(scenario, seed=seed), [frame(0, "a", size=LONG), frame(1, "b", size=LONG)])
        assert bool(course.texts(2)) is (course.count("busy") > 0), "the later one has detected the earlier one"
        received.append(len(course.texts(2)))
    assert set(received) == {0, 2}
    assert 3 <= received.count(0) <= 25, "an eighth is expected"


def test_an_agent_that_has_waited_itself_can_leave_the_first_wait_out() -> None:
    """Then only a busy channel makes its frame wait."""
    settings = {"cw_min": 5, "cw_max": 5, "first_wait": False}
    assert run(listening(0, 100, mac=settings), [frame(0, "a")]).time_of("a") == CAD + TO_TX + AIRTIME
    ends = set()
    for seed in range(20):
        scenario = replace(listening(0, 100, 200, mac=settings), seed=seed)
        ends.add(run(scenario, [frame(0, "a", size=LONG), frame(1, "b", 70 * MILLISECOND)]).time_of("b"))
    assert len(ends) > 5


def longest_wait(used: float, *, least: int = 0, seeds: int = 60, node: int = 0, after: SimTime = 0) -> float:
    """The longest first wait in slots after node 0 has used this share of a minute, of itself or of node 1."""
    longest = 0.0
    for seed in range(seeds):
        scenario = replace(
            listening(0, 100, mac={"cw_min": least, "cw_max": 8}), seed=seed, time_limit=START + 400 * SECOND
        )
        big = airtime(scenario, 239)
        count = round(used * 60 * SECOND / big)
        space = 60 * SECOND // max(count, 1)
        frames = [frame(0, f"{k}", k * space, size=239) for k in range(count)]
        asked = 59 * SECOND + 990 * MILLISECOND + after
        course = run(scenario, [*frames, frame(node, "last", asked)])
        wait = course.time_of("last") - asked - AIRTIME - TO_TX - CAD
        longest = max(longest, wait / SLOT)
    return longest


@pytest.mark.slow
@pytest.mark.parametrize("node", [0, 1])
def test_the_window_grows_with_the_utilisation_that_a_node_measures(node: int) -> None:
    """Sent by itself or received from others: half of a minute makes the exponent 4 of 8."""
    assert longest_wait(0.0, node=node) == 0
    assert 8 <= longest_wait(0.55, node=node) <= 15


@pytest.mark.slow
def test_the_window_begins_at_the_least_exponent() -> None:
    """From 3 to 8 it is 5 at the same utilisation."""
    assert 16 <= longest_wait(0.55, least=3, after=SECOND) <= 31


@pytest.mark.slow
def test_the_utilisation_is_of_the_last_minute() -> None:
    """Seventy seconds later it is forgotten."""
    assert longest_wait(0.55, seeds=10, after=70 * SECOND) == 0


def test_a_unicast_for_another_counts_as_utilisation_but_is_not_passed_on() -> None:
    """Nodes 0 and 2 exchange frames; node 1 drops them."""
    course = run(listening(0, 100, 200), [frame(0, "a", to=2)])
    assert (course.texts(1), course.texts(2)) == ([], ["a"])


def test_a_crash_ends_waits_and_detections() -> None:
    """The frame comes back; after the recovery the next one is sent as usual."""
    scenario = listening(0, 100, mac={"cw_min": 4, "cw_max": 4})
    for at in (CAD // 2, MILLISECOND, 3 * SLOT):
        faults = (Fault(START + at, 0, FaultKind.CRASH), Fault(START + SECOND, 0, FaultKind.RECOVER))
        course = run(replace(scenario, seed=3, faults=faults), [frame(0, "a"), frame(0, "b", 2 * SECOND)])
        assert course.texts(1) == ["b"]
        assert [(one.text, one.reason) for one in course.failed] == [("a", "crash")]


def test_a_held_frame_contends_when_its_time_has_come() -> None:
    """The duty cycle is waited for first; then the node listens before it talks, as always."""
    scenario = listening(0, 100, mac={"region": "EU868-g2"}, preset="LongSlow")
    scenario = replace(scenario, time_limit=START + 3 * HOUR)
    course = run(scenario, [frame(0, "a"), frame(0, "b")])
    lasting = airtime(scenario)
    over = 2 * lasting - 3600 * MILLISECOND
    second_begin = course.time_of("b") - lasting
    earliest = course.time_of("a") + over - lasting + HOUR - lasting
    assert second_begin == pytest.approx(earliest + symbol(scenario) * 5 // 2, abs=2)
    assert course.count("duty_delayed") == 1


def test_it_needs_lora() -> None:
    """Other receptions have no spreading factors."""
    with pytest.raises(UserError, match=r'MACProtocolName: LoRaCad .* set SN\.radio\.model = "LoRa"'):
        run(replace(at_places(0, 5), mac=LoRaCad()), [])


def test_windows_are_in_order() -> None:
    """The least is not above the greatest."""
    with pytest.raises(ValueError, match="cwMin = 5 is above cwMax = 4"):
        LoRaCad(cw_min=5, cw_max=4)
