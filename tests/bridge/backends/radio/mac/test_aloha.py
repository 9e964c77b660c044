"""Pure ALOHA: nothing is sensed, and nothing acknowledged."""

from dataclasses import replace

from roambus.bridge.scenario.mac import AlohaSettings
from tests.bridge.backends.radio.runs import AIRTIME, START, at_places, run, send, total

MS = 1_000_000
CLEAR = AIRTIME // 1000 + 20
"""us: the change to TX, the frame, and the way from radio to MAC"""


def test_a_frame_is_sent_at_once() -> None:
    """Into whatever is on the air: a frame sent during another one destroys it at a node that hears both alike."""
    scenario = replace(at_places(0, 5, 10), mac=AlohaSettings())
    told, totals = run(scenario, [send(0, "first"), send(2, "second", START + MS)])
    assert not any("1 gets" in line for line in told)
    assert totals.counts["transmitted"] == [1, 0, 1]


def test_queued_frames_follow_each_other_and_unicasts_are_filtered() -> None:
    """Each leaves when the one before has left."""
    scenario = replace(at_places(0, 5, 6), mac=AlohaSettings())
    told, totals = run(scenario, [send(0, str(k), destination=1) for k in range(3)])
    assert [line.split(": ")[1] for line in told] == ["1 gets 0 from 0", "1 gets 1 from 0", "1 gets 2 from 0"]
    assert told[0].startswith(f"{CLEAR} us")
    assert total(totals, "transmitted") == 3
