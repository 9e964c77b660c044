"""Pure ALOHA on the air to the nanosecond: who sends when, and the end of each frame."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from roambus.bridge.backend import NO_ENERGY, SENT
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.extensions.lora.mac.settings import LoRaAloha
from roambus.extensions.lora.tests.mac.scenes import DELAY, HOUR, START, Course, airtime, frame, run, scene
from roambus.python_protocol.events import NOT_SENT, QUEUE_FULL
from roambus.python_protocol.messages.message import Fragment
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

TWO, THREE = scene(0, 100), scene(0, 100, 200)
AIRTIME = airtime(TWO)
TO_TX, TO_RX = TWO.radio.rx_to_tx, TWO.radio.tx_to_rx


def test_a_frame_goes_on_the_air_at_once() -> None:
    """It arrives when the radio has turned round, and the frame has passed."""
    course = run(TWO, [frame(0, "hello")])
    assert course.got == [(TO_TX + AIRTIME, 1, "hello")]
    assert not course.failed


def test_frames_of_one_node_follow_each_other_without_a_wait() -> None:
    """The radio turns to RX and back in between; a nanosecond goes by until the MAC knows."""
    course = run(TWO, [frame(0, text) for text in "abc"])
    ends = [got.at for got in course.got]
    assert [got.text for got in course.got] == ["a", "b", "c"]
    assert [late - early for early, late in pairwise(ends)] == [AIRTIME + TO_RX + TO_TX + 1] * 2


def test_nothing_is_sensed() -> None:
    """A node sends into a frame that it is receiving, and does not get that one."""
    course = run(THREE, [frame(0, "a"), frame(1, "b", AIRTIME // 2)])
    assert course.totals.counts["transmitted"] == [1, 1, 0]
    assert course.texts(1) == []


def test_a_frame_during_a_frame_of_its_own_node_waits_for_its_end() -> None:
    """Whenever it comes: while the radio turns round, in the middle, or while it turns back."""
    end = TO_TX + AIRTIME
    for at in (TO_TX // 2, TO_TX, AIRTIME // 2, end, end + TO_RX // 2):
        course = run(TWO, [frame(0, "a"), frame(0, "b", at)])
        assert course.time_of("b") == pytest.approx(end + TO_RX + end, abs=2), at


def test_a_node_that_receives_sends_nevertheless_and_a_unicast_is_for_one() -> None:
    """There are no acknowledgements: a frame is sent once, and others drop it unless they overhear."""
    frames = [frame(0, "to 1", to=1), frame(0, "to nobody", SECOND, to=7)]
    course = run(THREE, frames)
    assert course.totals.counts["transmitted"] == [2, 0, 0]
    assert (course.texts(1), course.texts(2)) == (["to 1"], [])
    assert run(THREE, frames, overhearing=[2]).texts(2) == ["to 1", "to nobody"]


def test_agents_are_told_of_frames_that_have_left() -> None:
    """Those that ask; at the frame's end, for there are no acknowledgements."""
    course = run(TWO, [frame(0, "a", to=7), frame(1, "b", SECOND)], reporting=[0])
    assert [(one.node, one.text, one.reason) for one in course.failed] == [(0, "a", SENT)]
    assert course.failed[0].at == TO_TX + AIRTIME + DELAY


def test_a_full_queue_refuses() -> None:
    """One frame is on the air, two are queued, two have no room."""
    small = replace(TWO, mac=LoRaAloha(buffer_size=2))
    course = run(small, [frame(0, "a"), *(frame(0, text, MILLISECOND) for text in "bcde")])
    assert course.texts(1) == ["a", "b", "c"]
    assert [(one.text, one.reason) for one in course.failed] == [("d", QUEUE_FULL), ("e", QUEUE_FULL)]
    assert course.totals.counts["mac_overflown"] == [2, 0]


def test_a_clock_that_drifts_makes_no_gap_and_no_collision() -> None:
    """The radio says when it is free, whatever the clock says."""
    drifting = replace(TWO, nodes=tuple(replace(node, clock_drift_sigma=0.001) for node in TWO.nodes))
    for seed in range(4):
        ends = [got.at for got in run(replace(drifting, seed=seed), [frame(0, text) for text in "abc"]).got]
        assert [ends[1] - ends[0], ends[2] - ends[1]] == pytest.approx([AIRTIME + TO_RX + TO_TX] * 2, abs=3)


def faulty(at: SimTime, kind: FaultKind, *more: Fault) -> Course:
    """Three frames of node 0, which has a fault, and a later one."""
    faults = (Fault(START + at, 0, kind), *more)
    late = frame(0, "late", 10 * SECOND)
    return run(replace(TWO, faults=faults), [*(frame(0, text) for text in "abc"), late])


def test_a_crashed_node_falls_silent_and_begins_anew() -> None:
    """The frame on the air leaves whole, the queue is forgotten with a reason; after the recovery it sends again."""
    course = faulty(AIRTIME // 2, FaultKind.CRASH, Fault(START + 5 * SECOND, 0, FaultKind.RECOVER))
    assert course.texts(1) == ["a", "late"]
    assert [(one.text, one.reason) for one in course.failed] == [("b", "crash"), ("c", "crash")]
    assert course.time_of("late") == 10 * SECOND + TO_TX + AIRTIME


def test_a_node_that_stays_down_sends_nothing() -> None:
    """A frame that its agent had handed over before comes back."""
    course = faulty(AIRTIME // 2, FaultKind.CRASH)
    assert course.texts(1) == ["a"]
    assert [(one.text, one.reason) for one in course.failed] == [(text, "crash") for text in ("b", "c", "late")]


def test_a_frozen_node_sends_what_it_has_and_takes_no_frame() -> None:
    """Its MAC goes on with the queue, and hands nothing to its agent."""
    frozen = replace(TWO, faults=(Fault(START + 1, 0, FaultKind.FREEZE),))
    course = run(frozen, [frame(0, "a"), frame(0, "b"), frame(1, "to the frozen", SECOND)])
    assert course.texts(1) == ["a", "b"]
    assert course.texts(0) == []


def test_a_crash_while_the_radio_turns_round_ends_the_frame() -> None:
    """It has not begun, and comes back as all others; the node that recovers at once can send."""
    recovery = Fault(START + TO_TX // 2 + 10, 0, FaultKind.RECOVER)
    course = faulty(TO_TX // 2, FaultKind.CRASH, recovery)
    assert course.texts(1) == ["late"]
    assert [(one.text, one.reason) for one in course.failed] == [(text, "crash") for text in "abc"]
    assert course.totals.counts["transmitted"] == [1, 0]


def test_an_empty_battery_ends_it() -> None:
    """The node sends no more, its frames are refused, and other nodes go on."""
    weak = replace(TWO.nodes[0], initial_energy_j=0.5)
    course = run(replace(TWO, nodes=(weak, TWO.nodes[1])), [frame(0, "a", 600 * SECOND), frame(1, "b", 600 * SECOND)])
    assert [(one.node, one.reason) for one in course.failed] == [(0, NO_ENERGY)]
    assert course.totals.counts["transmitted"] == [0, 1]


def test_a_battery_that_is_found_empty_as_the_radio_turns_round_ends_it_too() -> None:
    """The frame is not sent, and later ones are refused for the same reason."""
    weak = replace(TWO.nodes[0], initial_energy_j=0.5, energy_interval=HOUR)
    course = run(replace(TWO, nodes=(weak, TWO.nodes[1])), [frame(0, "a", 600 * SECOND), frame(0, "b", 700 * SECOND)])
    assert [(one.text, one.reason) for one in course.failed] == [("b", NO_ENERGY)]
    assert course.totals.counts["transmitted"] == [0, 0]


def test_fragments_of_a_message_follow_each_other() -> None:
    """Without a limit all are sent; one without room in the queue takes the rest with it."""
    pieces = [frame(0, "")._replace(message=Fragment(7, 9, at, b"abc")) for at in (0, 3, 6)]
    assert len(run(TWO, pieces).got) == 3
    late = [piece._replace(at=piece.at + MILLISECOND) for piece in pieces]
    course = run(replace(TWO, mac=LoRaAloha(buffer_size=1)), [frame(0, "a"), *late])
    assert [one.reason for one in course.failed] == [QUEUE_FULL, NOT_SENT]


def test_sizes_are_those_of_lora() -> None:
    """A header of 16 bytes, no routing, and 255 bytes at most: 239 are left for a message."""
    assert (TWO.header_bytes, TWO.room_bytes) == (16, 239)
    assert run(TWO, [frame(0, "a", size=239)]).texts(1) == ["a"]
    course = run(TWO, [frame(0, "a", size=240)])
    assert [one.reason for one in course.failed] == ["packet longer than MAC.macMaxPacketSize"]
    assert course.totals.counts["air_bytes"] == [0, 0]
