"""IEEE 802.15.4: back-offs, acknowledgements, retransmissions, failures, on the air to the microsecond."""

import re
from dataclasses import replace

import pytest

from roambus.bridge.backend import SENT
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings
from roambus.python_protocol.messages.message import Fragment
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND
from tests.bridge.backends.radio.runs import START, at_places, run, said, send, total

SYMBOL = 16
UNIT, CCA, TURNAROUND, ACK_WAIT, LIFS, SIFS = (symbols * SYMBOL for symbols in (20, 8, 12, 54, 40, 12))
"""us"""
FRAME = (40 + 10 + 11 + 6) * 32
"""us on the air"""
DELAY = 10
"""us from a receiver's radio to its MAC"""


def ieee(*xs: float, **settings: int) -> Scenario:
    """Nodes at these places with this MAC, whose first back-off is 0 unless a test says otherwise."""
    return replace(at_places(*xs), mac=Ieee802154Settings(**{"min_be": 0, **settings}))


def times(lines: list[str]) -> list[int]:
    """The us of each line."""
    return [int(re.match(r"(-?\d+) us", line)[1]) for line in lines]  # type: ignore[index]  # every line begins so


def test_a_frame_follows_the_cca_and_the_turnaround() -> None:
    """With a back-off of 0 a broadcast arrives 8 + 12 symbols and its air time after it was handed over."""
    lines, totals = run(ieee(0, 5), [send(0, "hello")])
    assert lines == [f"{CCA + TURNAROUND + FRAME + DELAY} us: 1 gets hello from 0"]
    assert total(totals, "acknowledgements") == 0


def test_the_first_back_off_is_up_to_seven_units() -> None:
    """MacMinBE is 3: frames of forty seeds begin after 0 to 7 unit backoffs, and each of these occurs."""
    least = CCA + TURNAROUND + FRAME + DELAY
    runs = [run(replace(ieee(0, 5, min_be=3), seed=seed), [send(0, "hello")])[0] for seed in range(40)]
    waits = {times(lines)[0] - least for lines in runs}
    assert waits == {units * UNIT for units in range(8)}


def test_a_unicast_is_acknowledged_and_delivered_once() -> None:
    """The acknowledgement ends the frame: nothing is sent again, and no one else passes the frame on."""
    lines, totals = run(ieee(0, 5, 6), [send(0, "hello", destination=1)])
    assert lines == [f"{CCA + TURNAROUND + FRAME + DELAY} us: 1 gets hello from 0"]
    assert totals.counts["transmitted"] == [1, 1, 0]
    assert totals.counts["acknowledgements"] == [0, 1, 0]
    assert total(totals, "retransmissions") == 0


def test_frames_of_one_node_leave_a_space_after_the_acknowledgement() -> None:
    """The next frame waits for the ACK (a turnaround and 11 bytes) and LIFS, and then contends anew."""
    lines, _ = run(ieee(0, 5), [send(0, "b", destination=1), send(0, "a", destination=1)])
    first, second = times(lines)
    acknowledgement = TURNAROUND + 11 * 32
    assert second - first == acknowledgement + LIFS + CCA + TURNAROUND + FRAME


def test_an_absent_receiver_costs_three_retransmissions_and_a_reason() -> None:
    """After each frame the sender waits 54 symbols; the fourth silence is told to the agent."""
    lines, totals = run(ieee(0, 5, 90), [send(0, "hello", destination=2)])
    attempt = CCA + TURNAROUND + FRAME + ACK_WAIT
    assert lines == [f"{4 * attempt} us: 0 cannot send: no acknowledgement"]
    assert totals.counts["transmitted"] == [4, 0, 0]
    assert (total(totals, "retransmissions"), total(totals, "unacknowledged")) == (3, 1)


def test_whatever_is_on_the_air_is_counted_in_bytes() -> None:
    """A frame of 40 bytes with 27 of headers, and its acknowledgement of 11; four tries of a frame for nobody."""
    _, totals = run(ieee(0, 5, 90), [send(0, "hello", destination=1)])
    assert (totals.counts["air_frames"], totals.counts["air_bytes"]) == ([1, 1, 0], [67, 11, 0])
    _, totals = run(ieee(0, 5, 90), [send(0, "hello", destination=2)])
    assert (totals.counts["air_frames"], totals.counts["air_bytes"]) == ([4, 0, 0], [4 * 67, 0, 0])


def test_nothing_of_the_warm_up_is_counted_on_the_air() -> None:
    """One frame before its end, one after; the count of all transmissions has both."""
    scenario = replace(ieee(0, 5), warm_up=START + 50 * MILLISECOND)
    _, totals = run(scenario, [send(0, "a"), send(0, "b", START + 100 * MILLISECOND)])
    assert (totals.counts["air_frames"], totals.counts["air_bytes"]) == ([1, 0], [67, 0])
    assert totals.counts["transmitted"] == [2, 0]


def test_a_lost_acknowledgement_makes_no_duplicate() -> None:
    """A node that the receiver does not hear begins to send in the middle of the acknowledgement.

    The frame is sent and acknowledged twice, and delivered once.
    """
    jam_at = START + (CCA + TURNAROUND + FRAME) * 1000
    lines, totals = run(ieee(0, 7, -6.9), [send(0, "hello", destination=1), send(2, "jam", jam_at, size=1)])
    assert totals.counts["fail_interf"][0] > 0, "the acknowledgement is not lost"
    assert totals.counts["acknowledgements"] == [0, 2, 0]
    assert totals.counts["retransmissions"] == [1, 0, 0]
    assert [line.partition(": ")[2] for line in lines if "hello" in line] == ["1 gets hello from 0"]
    assert not any("cannot" in line for line in lines)


def test_the_first_bit_follows_the_cca_by_the_turnaround() -> None:
    """A signal that begins 191 us after a node's CCA collides with its frame; one that began in the CCA is waited for.

    So two nodes whose CCAs end less than a turnaround apart send both.
    """
    for apart_us, collide in ((TURNAROUND - 2, True), (TURNAROUND + CCA + 2, False)):
        lines, totals = run(ieee(0, 4, 2), [send(0, "a"), send(1, "b", START + apart_us * 1000)])
        assert totals.counts["transmitted"] == [1, 1, 0]
        overlap = times([line for line in lines if "2 gets b" in line]) == []
        assert overlap is collide, apart_us


def test_the_rest_of_a_message_is_not_sent_after_a_fragment_has_failed() -> None:
    """Of three fragments to an absent node the first is tried four times, the others never; the next message is."""
    pieces = [send(0, "", destination=1)._replace(message=Fragment(7, 9, at, b"abc")) for at in (0, 3, 6)]
    next_pieces = [send(0, "", destination=2)._replace(message=Fragment(8, 6, at, b"abc")) for at in (0, 3)]
    lines, totals = run(ieee(0, 90, 5), [*pieces, *next_pieces])
    assert [line.partition(": ")[2] for line in lines] == [
        "0 cannot send: no acknowledgement",
        "0 cannot send: an earlier fragment failed",
        "0 cannot send: an earlier fragment failed",
        "2 gets Fragment from 0",
        "2 gets Fragment from 0",
    ]
    assert totals.counts["transmitted"] == [4 + 2, 0, 2]


def test_a_fragment_without_room_in_the_queue_fails_the_rest() -> None:
    """The second of three finds a queue of 1 full: the third is not taken, although there would be room later."""
    pieces = [send(0, "", START + at, 1)._replace(message=Fragment(7, 9, at, b"abc")) for at in (0, 3)]
    late = send(0, "", START + 100 * MILLISECOND, 1)._replace(message=Fragment(7, 9, 6, b"abc"))
    lines, _ = run(ieee(0, 5, buffer_size=1), [*pieces, late])
    assert [line.partition(": ")[2] for line in lines] == [
        "0 cannot send: MAC queue full",
        "1 gets Fragment from 0",
        "0 cannot send: an earlier fragment failed",
    ]


def test_sent_frames_are_reported_to_nodes_that_ask() -> None:
    """When they are acknowledged, or have left; failures as before, and other nodes' frames not at all."""
    backend = RadioBackend(ieee(0, 5, 90))
    hello = backend.open()
    assert hello.report_sent is not None
    hello.report_sent([0])
    sent = [send(0, "a", destination=1), send(0, "b"), send(0, "c", destination=2), send(1, "d")]
    steps, outgoing = [], sent
    while (step := backend.advance(outgoing, None)) is not None:
        steps.append(step)
        outgoing = []
    reports = [(failure.node, said(failure.message), failure.reason) for step in steps for failure in step.failures]
    assert reports == [(0, "a", SENT), (0, "b", SENT), (0, "c", "no acknowledgement")]


def test_a_channel_that_stays_busy_is_a_channel_access_failure() -> None:
    """MacMaxCSMABackoffs = 0: the first busy result is the last, and the agent learns the reason."""
    scenario = ieee(0, 5, 6, max_csma_backoffs=0)
    lines, totals = run(scenario, [send(0, "long", size=90), send(1, "late", START + MILLISECOND, destination=2)])
    assert [line.partition(": ")[2] for line in lines if "cannot" in line] == ["1 cannot send: channel access failure"]
    assert totals.counts["access_failures"] == [0, 1, 0]


def test_the_exponent_grows_no_further_than_its_limit() -> None:
    """With macMaxBE = 1 four busy results cost up to 0, 1, 1 and 1 units, and each sum of these occurs."""
    messages = [send(0, "long", size=90), send(1, "late", START + MILLISECOND, destination=2)]
    scenario = ieee(0, 5, 6, max_be=1, max_csma_backoffs=3)
    runs = [run(replace(scenario, seed=seed), messages)[0] for seed in range(30)]
    failures = [at for lines in runs for at, line in zip(times(lines), lines, strict=True) if "cannot" in line]
    assert {at - 1000 - 4 * CCA for at in failures} == {units * UNIT for units in range(4)}


def test_each_frame_has_all_its_back_offs() -> None:
    """Three frames that meet a long one each: five back-offs outlast it nearly always, whatever the one before took."""
    messages = [send(0, "long", START + 10 * at * MILLISECOND, size=90) for at in range(3)]
    messages += [send(1, "late", START + (10 * at + 1) * MILLISECOND) for at in range(3)]
    scenario = ieee(0, 5, 6, max_csma_backoffs=5)
    runs = [run(replace(scenario, seed=seed), messages) for seed in range(20)]
    assert sum(total(totals, "access_failures") for _, totals in runs) < 6
    assert sum(line.endswith("2 gets late from 1") for lines, _ in runs for line in lines) > 54


def test_two_hidden_nodes_collide_and_recover() -> None:
    """Neither hears the other; their receiver between them loses both first frames, and gets both in the end."""
    lines, totals = run(ieee(0, 12, 24, min_be=3), [send(0, "a", destination=1), send(2, "b", destination=1)])
    said = sorted(line.split(" gets ")[1] for line in lines if "gets" in line)
    assert said == ["a from 0", "b from 2"] or any("no acknowledgement" in line for line in lines)
    assert total(totals, "retransmissions") > 0


@pytest.mark.parametrize(("size", "refused"), [(106, False), (107, True)])
def test_a_frame_has_at_most_127_bytes(size: int, refused: bool) -> None:
    """Ten bytes of network and eleven of MAC leave 106 for a message."""
    lines, _ = run(ieee(0, 5), [send(0, "long", size=size, destination=BROADCAST)])
    assert any("cannot send: packet longer than MAC.macMaxPacketSize" in line for line in lines) is refused


def test_a_lone_senders_throughput_is_that_of_the_published_sum() -> None:
    """Latré et al. (2006) reach 64.9 % of 250 kbit/s with 122 bytes and 5 of header; CCA and turnaround come on top."""
    scenario = ieee(0, 5, min_be=3, network_overhead_bytes=0, packet_overhead_bytes=5)
    sent = 3.5 * UNIT + 133 * 32 + LIFS
    assert 122 * 8 / sent / 0.25 == pytest.approx(0.649, abs=5e-4)
    gaps = []
    for seed in range(20):
        lines, _ = run(replace(scenario, seed=seed), [send(0, "long", size=122)] * 31)
        gaps.append((times(lines)[-1] - times(lines)[0]) / 30)
    assert sum(gaps) / len(gaps) == pytest.approx(sent + CCA + TURNAROUND, rel=0.02)


def test_exponents_in_the_wrong_order_are_refused() -> None:
    """The message names both."""
    with pytest.raises(ValueError, match="macMinBE = 6 is above macMaxBE = 5"):
        Ieee802154Settings(min_be=6)


def test_short_frames_are_followed_by_the_short_space() -> None:
    """Up to 18 bytes the space is SIFS, 12 symbols, in place of 40."""
    size = 18 - 11
    gaps = []
    for payload in (size, size + 1):
        scenario = replace(ieee(0, 5), mac=Ieee802154Settings(min_be=0, network_overhead_bytes=0))
        lines, _ = run(scenario, [send(0, "b", size=payload), send(0, "a", size=payload)])
        first, second = times(lines)
        gaps.append(second - first - CCA - TURNAROUND - (payload + 17) * 32)
    assert gaps == [SIFS, LIFS]
