"""What reaches whom: path loss, bit errors, collisions, capture, turn-arounds, addresses."""

from dataclasses import replace

import pytest

from benchmarks.reference_scenarios import FLAT, Conditions, pair
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.radio import MODULATIONS
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND
from tests.bridge.backends.radio.runs import AIRTIME, START, at_places, run, send


@pytest.mark.parametrize(
    ("payload", "distance_m", "prr"),
    [(20, 10, 1.0), (20, 33, 0.857), (20, 35, 0.712), (20, 37, 0.519), (100, 33, 0.652), (100, 35, 0.391), (20, 60, 0)],
)
def test_packets_are_lost_with_distance_as_in_castalia(payload: int, distance_m: float, prr: float) -> None:
    """Castalia's own reception ratios, measured over 100,000 packets each, to 0.015."""
    counts = pair(distance_m, payload, 50, Conditions(800, FLAT, 1))
    assert counts["received"] / counts["sent"] == pytest.approx(prr, abs=0.015)


def test_a_broadcast_reaches_everybody_in_range() -> None:
    """Neighbours get it 10 us (to TX), its air time and 10 us (to the MAC) after it was handed over."""
    lines, _ = run(at_places(0, 5, 6, 20), [send(0, "hello")])
    assert lines == ["2100 us: 1 gets hello from 0", "2100 us: 2 gets hello from 0"]


def test_a_unicast_is_only_for_its_destination() -> None:
    """Others receive it and drop it; nobody is told."""
    lines, totals = run(at_places(0, 5, 6), [send(0, "secret", destination=2)])
    assert lines == ["2100 us: 2 gets secret from 0"]
    assert totals.counts["rx_no_interf"] == [0, 1, 1]
    assert totals.counts["received"] == [0, 0, 1]


def test_hidden_terminals_collide() -> None:
    """Nodes 14 m apart do not sense each other; between them both frames are lost."""
    lines, totals = run(at_places(0, 7, 14), [send(0, "left"), send(2, "right", START + 300 * MICROSECOND)])
    assert lines == []
    assert totals.counts["fail_interf"] == [0, 2, 0]


def test_oqpsk_receives_the_first_of_two_equal_frames() -> None:
    """Its bits survive an interferer as strong as itself; the radio is at one frame at a time."""
    scenario = at_places(0, 7, 14)
    scenario = replace(scenario, radio=replace(scenario.radio, modulation=MODULATIONS.index("OQPSK")))
    lines, totals = run(scenario, [send(0, "left"), send(2, "right", START + 300 * MICROSECOND)])
    assert [line.partition(": ")[2] for line in lines] == ["1 gets left from 0"]
    assert totals.counts["fail_interf"] == [0, 1, 0]


def test_a_much_stronger_signal_is_captured() -> None:
    """At 12 m the hidden terminal is 15 dB weaker: the near one's frame survives it."""
    lines, totals = run(at_places(0, 5, 17), [send(0, "near"), send(2, "far", START + 300 * MICROSECOND)])
    assert lines == ["2100 us: 1 gets near from 0"]
    assert totals.counts["rx_despite"] == [0, 1, 0]
    assert totals.counts["fail_sens"] == [0, 1, 0]


def test_two_that_send_at_the_same_instant_collide() -> None:
    """Both sense a clear channel; neither hears the other, a third hears neither."""
    lines, totals = run(at_places(0, 5, 2.5), [send(0, "a"), send(1, "b")])
    assert lines == []
    assert totals.counts["fail_nonrx"] == [1, 1, 0]
    assert totals.counts["fail_interf"] == [0, 0, 2]


@pytest.mark.parametrize(("after_us", "fate"), [(5, "fail_nonrx"), (15, "fail_sens")])
def test_a_radio_that_turns_around_hears_nothing(after_us: int, fate: str) -> None:
    """A signal (too weak to be sensed) that starts in the 10 us after the radio's own frame meets it not in RX."""
    sends = [send(0, "mine"), send(1, "yours", START + AIRTIME + after_us * MICROSECOND)]
    _, totals = run(at_places(0, 12), sends)
    fates = {name: totals.counts[name][0] for name in ("fail_nonrx", "fail_sens")}
    assert fates == {"fail_nonrx": 0, "fail_sens": 0, fate: 1}


def test_the_levels_are_those_of_castalia() -> None:
    """At 10 m and 38 m without shadowing, as the reference has them."""
    levels = []
    for distance_m in (10, 38):
        backend = RadioBackend(at_places(0, distance_m, air=FLAT))
        backend.open()
        step = backend.advance([send(0, "x", START + k * MILLISECOND) for k in range(50)], None)
        assert step is not None
        levels.append((step.deliveries[0].rssi_dbm, step.deliveries[0].lqi_db))
    assert levels[0] == pytest.approx((-79.0, 21.0))
    assert levels[1] == pytest.approx((-92.9148, 7.0852), abs=1e-4)


def test_a_node_hears_nothing_before_it_boots() -> None:
    """A frame on the air when it boots is ignored from its beginning to its end."""
    scenario = at_places(0, 5, 6)
    late = replace(scenario.nodes[1], start_offset=START + AIRTIME // 2)
    lines, totals = run(replace(scenario, nodes=(scenario.nodes[0], late, scenario.nodes[2])), [send(0, "x")])
    assert lines == ["2100 us: 2 gets x from 0"]
    assert all(totals.counts[name][1] == 0 for name in totals.counts)
