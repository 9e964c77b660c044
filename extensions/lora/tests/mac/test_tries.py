"""A frame that has found the channel busy too often fails, so that its agent can decide anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.extensions.lora.mac.settings import LoRaCad
from roambus.extensions.lora.tests.mac.scenes import START, Course, frame, run, scene
from roambus.python_protocol.events import CHANNEL_ACCESS_FAILURE
from roambus.python_protocol.simtime import MILLISECOND

LONG = 60
"""bytes of a frame that lasts for much longer than the few detections here"""
ONE_SLOT = LoRaCad(cw_min=0, cw_max=0)


def course_of(tries: int) -> Course:
    """Node 1 has a frame while node 0 sends; then a second one, when the channel is clear."""
    frames = [frame(0, "a", size=LONG), frame(1, "b", 60 * MILLISECOND), frame(1, "c", 2000 * MILLISECOND)]
    return run(scene(0, 100, 200, mac=replace(ONE_SLOT, tries=tries)), frames)


@pytest.mark.parametrize("tries", [1, 3])
def test_a_frame_fails_after_so_many_busy_detections(tries: int) -> None:
    """With the reason for which an agent can wait anew; the next frame is sent as ever."""
    course = course_of(tries)
    assert [(one.node, one.text, one.reason) for one in course.failed] == [(1, "b", CHANNEL_ACCESS_FAILURE)]
    assert course.totals.counts["busy"][1] == tries
    assert course.totals.counts["access_failures"] == [0, 1, 0]
    assert course.texts(2) == ["a", "c"]


def test_without_a_limit_it_is_sent_in_the_end() -> None:
    """However often the channel was busy."""
    course = course_of(0)
    assert course.failed == []
    assert course.totals.counts["busy"][1] > 3
    assert course.texts(2) == ["a", "b", "c"]


def test_a_crash_forgets_the_tries_of_a_frame() -> None:
    """The first frame after the recovery has as many as any other."""
    scenario = scene(0, 100, 200, mac=replace(ONE_SLOT, tries=3))
    recovery = START + 70 * MILLISECOND
    faults = (Fault(recovery - MILLISECOND, 1, FaultKind.CRASH), Fault(recovery, 1, FaultKind.RECOVER))
    after = frame(1, "c", 72 * MILLISECOND)
    frames = [frame(0, "a", size=200), frame(1, "b", 66 * MILLISECOND), after]
    course = run(replace(scenario, faults=faults), frames)
    assert [(one.text, one.reason) for one in course.failed] == [("b", "crash"), ("c", CHANNEL_ACCESS_FAILURE)]
    assert course.totals.counts["busy"][1] == 2 + 3


def test_each_frame_has_its_own_tries() -> None:
    """Busy detections of a frame that was then sent do not count for the next one."""
    tries, long = 20, 200
    frames = [
        frame(0, "a", size=long),
        frame(1, "b", 110 * MILLISECOND),
        frame(0, "c", 400 * MILLISECOND, size=long),
        frame(1, "d", 510 * MILLISECOND),
    ]
    course = run(scene(0, 100, 200, mac=LoRaCad(cw_min=1, cw_max=1, tries=tries)), frames)
    assert course.totals.counts["busy"][1] > tries
    assert course.failed == []
    assert course.texts(2) == ["a", "b", "c", "d"]
