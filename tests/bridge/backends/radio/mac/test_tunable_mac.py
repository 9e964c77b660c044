"""The MAC: sensing, backing off, queueing, sending back to back."""

import itertools
from dataclasses import replace

import pytest

from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND
from tests.bridge.backends.radio.runs import AIRTIME, START, at_places, run, send, total, with_mac

CLEAR = 2100
"""us from handing a frame over to its delivery, the channel being clear."""


def test_a_busy_channel_is_waited_for() -> None:
    """A node that has a frame while another sends backs off, and both arrive."""
    lines, totals = run(at_places(0, 5, 6), [send(0, "first"), send(1, "second", START + MILLISECOND)])
    assert lines[:2] == [f"{CLEAR} us: 1 gets first from 0", f"{CLEAR} us: 2 gets first from 0"]
    assert [line.split(": ")[1] for line in lines[2:]] == ["0 gets second from 1", "2 gets second from 1"]
    assert total(totals, "fail_interf") + total(totals, "fail_nonrx") == 0


def test_reacting_at_once_finds_the_channel_busy() -> None:
    """The 128 us before a delivery were the frame's: answers given then are backed off, each for its own time."""
    answers = [send(node, f"answer {node}", START + CLEAR * MICROSECOND) for node in (1, 2)]
    lines, totals = run(at_places(0, 5, 6), [send(0, "question"), *answers])
    assert len(lines) == 6
    assert total(totals, "fail_interf") == 0


def test_everything_queued_is_sent_back_to_back() -> None:
    """Frames handed over together leave one right after the other: one air time between deliveries."""
    lines, _ = run(at_places(0, 5), [send(0, str(k)) for k in range(5)])
    gap = AIRTIME // MICROSECOND
    assert lines == [f"{CLEAR + k * gap} us: 1 gets {k} from 0" for k in range(5)]


def test_the_thirty_third_frame_is_refused() -> None:
    """The queue holds 32; what does not fit fails at once, the rest arrives."""
    lines, totals = run(at_places(0, 5), [send(0, str(k)) for k in range(34)])
    assert lines[:2] == ["0 us: 0 cannot send: MAC queue full"] * 2
    assert len(lines) == 2 + 32
    assert totals.counts["offered"] == [34, 0]
    assert totals.counts["mac_overflown"] == [2, 0]
    assert totals.counts["transmitted"] == [32, 0]


def test_a_radio_buffer_that_runs_over_is_reported() -> None:
    """Each frame is handed to the radio 5 % early; with a buffer of one the radio falls behind in the end."""
    scenario = at_places(0, 5)
    tight = replace(scenario, radio=replace(scenario.radio, buffer_size=1))
    lines, totals = run(tight, [send(0, str(k)) for k in range(32)])
    refused = [line for line in lines if line.endswith("0 cannot send: radio buffer full")]
    assert refused
    assert total(totals, "transmitted") + len(refused) == 32


@pytest.mark.parametrize(("size", "reason"), [(999, None), (1000, "frame longer than Radio.maxPhyFrameSize")])
def test_frames_that_are_too_long_are_refused(size: int, reason: str | None) -> None:
    """Message, 10 bytes of network, 9 of MAC and 6 of PHY header must not be longer than 1024 bytes together."""
    lines, _ = run(at_places(0, 5), [send(0, "long", size=size)])
    assert lines == (
        [f"0 us: 0 cannot send: {reason}"] if reason else [f"{(size + 25) * 32 + 20} us: 1 gets long from 0"]
    )


def test_a_packet_limit_of_the_mac_is_kept() -> None:
    """Message, network and MAC header together."""
    scenario = with_mac(at_places(0, 5), max_packet_bytes=59)
    lines, _ = run(scenario, [send(0, "fits", size=40), send(0, "does not", START + MILLISECOND, size=41)])
    assert lines == [
        "1000 us: 0 cannot send: packet longer than MAC.macMaxPacketSize",
        f"{CLEAR} us: 1 gets fits from 0",
    ]


def test_a_frame_for_a_node_that_has_not_booted_fails() -> None:
    """A MAC that is not up takes nothing."""
    scenario = at_places(0, 5)
    asleep = replace(scenario.nodes[0], start_offset=START + 1)
    lines, _ = run(replace(scenario, nodes=(asleep, scenario.nodes[1])), [send(0, "early")])
    assert lines == ["0 us: 0 cannot send: node has not booted"]


@pytest.mark.parametrize(("kind", "longest_us"), [(1, 210), (2, 260), (3, 700)])
def test_back_off_goes_by_its_type(kind: int, longest_us: int) -> None:
    """With a base of 1 us a node sends soon after the channel is clear, for its waits are short, or grow with them.

    Sensing takes 128 us of clear channel; doubled waits are at most about as long as all waits before.
    """
    scenario = with_mac(at_places(0, 5, 6), backoff_type=kind, backoff_base=MICROSECOND)
    lines, _ = run(scenario, [send(0, "first"), send(1, "second", START + 2 * MILLISECOND, BROADCAST)])
    times = [int(line.split(" ")[0]) for line in lines]
    assert len(lines) == 4
    assert 0 < times[2] - CLEAR - AIRTIME // MICROSECOND < longest_us


def test_a_random_offset_spreads_what_is_sent_together() -> None:
    """With an offset of 20 ms two that have a frame at one instant do not collide."""
    scenario = with_mac(at_places(0, 5), random_tx_offset=20 * MILLISECOND)
    lines, totals = run(scenario, [send(0, "a"), send(1, "b")])
    assert sorted(line.split(": ")[1] for line in lines) == ["0 gets b from 1", "1 gets a from 0"]
    assert total(totals, "fail_nonrx") == 0


def test_by_chance_a_frame_is_not_tried_and_nobody_is_told() -> None:
    """As in TunableMAC with one try: a quarter of the frames leaves, the others are dropped in silence."""
    scenario = with_mac(at_places(0, 5), prob_tx=0.25)
    sent = [send(0, str(k), START + k * 10 * MILLISECOND) for k in range(400)]
    lines, totals = run(scenario, sent)
    assert 70 < len(lines) < 130
    assert all("1 gets" in line for line in lines)
    assert total(totals, "transmitted") == len(lines)


def test_frames_that_are_not_tried_leave_the_queue() -> None:
    """More of them than the queue holds pass, one after the other, and none is refused."""
    scenario = with_mac(at_places(0, 5), prob_tx=0)
    lines, totals = run(scenario, [send(0, str(k), START + k * MILLISECOND) for k in range(100)])
    assert lines == []
    assert (total(totals, "offered"), total(totals, "mac_overflown")) == (100, 0)


def test_after_a_try_that_does_not_happen_the_next_frame_waits() -> None:
    """The interval between tries passes before the frame is dropped: the queue holds 32 at one time."""
    scenario = with_mac(at_places(0, 5), prob_tx=0, retransmission_interval=5 * MILLISECOND)
    later = send(0, "later", START + 5 * MILLISECOND - 1)
    lines, _ = run(scenario, [*(send(0, str(k)) for k in range(32)), later])
    assert lines == ["4999 us: 0 cannot send: MAC queue full"]
    lines, _ = run(scenario, [*(send(0, str(k)) for k in range(32)), later._replace(at=START + 5 * MILLISECOND + 1)])
    assert lines == []


def test_a_frame_is_sent_as_often_as_it_has_tries() -> None:
    """Each copy arrives, and nobody takes it for one that was there: back to back, as everything that is queued."""
    lines, totals = run(with_mac(at_places(0, 5), tries=3), [send(0, "first"), send(0, "second")])
    gap = AIRTIME // MICROSECOND
    texts = ["first"] * 3 + ["second"] * 3
    assert lines == [f"{CLEAR + k * gap} us: 1 gets {text} from 0" for k, text in enumerate(texts)]
    assert total(totals, "transmitted") == 6


def test_a_try_that_does_not_happen_is_used_up() -> None:
    """Over 200 frames with two tries of one half each, one copy leaves on the average."""
    scenario = with_mac(at_places(0, 5), tries=2, prob_tx=0.5, sends_all=False)
    _, totals = run(scenario, [send(0, str(k), START + 20 * k * MILLISECOND) for k in range(200)])
    assert 165 <= total(totals, "transmitted") <= 235


def test_a_mac_that_sends_one_packet_into_a_free_channel_senses_anew_for_the_next() -> None:
    """When the first has left; the sensing is not valid before 128 us in RX."""
    lines, _ = run(with_mac(at_places(0, 5), sends_all=False), [send(0, str(k)) for k in range(3)])
    times = [int(line.split(" us")[0]) for line in lines]
    assert [line.split(": ")[1] for line in lines] == [f"1 gets {k} from 0" for k in range(3)]
    assert all(later - earlier > AIRTIME // MICROSECOND + 128 for earlier, later in itertools.pairwise(times))


def test_a_persistent_mac_sends_as_soon_as_the_channel_is_clear() -> None:
    """It senses every 128 us, and does not back off."""
    scenario = with_mac(at_places(0, 5, 6), persistence=1.0)
    lines, _ = run(scenario, [send(0, "first"), send(1, "second", START + MILLISECOND)])
    second = int(lines[-1].split(" us")[0])
    assert lines[-1].endswith("2 gets second from 1")
    assert second - CLEAR <= AIRTIME // MICROSECOND + 300
