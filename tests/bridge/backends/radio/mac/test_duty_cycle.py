"""Nodes that sleep in turns: what that saves, and how a packet reaches them all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backend import DEATHS
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.bridge.backends.radio.runs import START, at_places, run, send, total, with_mac

RX_MW, SLEEP_MW, BASELINE_MW = 62, 1.4, 6
PREAMBLES = 22
"""A preamble has 131 bytes and takes 4.192 ms; so many cover the 90 ms that others sleep."""
PREAMBLE_MS = 4.192


def sleeping(*xs: float, duty_cycle: float = 0.1) -> Scenario:
    """Nodes at these places that listen for 10 ms, and then sleep."""
    return with_mac(at_places(*xs), duty_cycle=duty_cycle)


@pytest.mark.parametrize("duty_cycle", [0.1, 0.25, 0.5])
def test_an_idle_node_uses_the_power_of_sleep_while_it_sleeps(duty_cycle: float) -> None:
    """Falling asleep takes the power of sleep, and waking up that of RX."""
    _, totals = run(sleeping(0, duty_cycle=duty_cycle), [])
    power = duty_cycle * RX_MW + (1 - duty_cycle) * SLEEP_MW + BASELINE_MW
    assert totals.energy_mj == pytest.approx([10 * power], rel=1e-6)


@pytest.mark.parametrize("asked", [0.0, 1.0])
def test_a_duty_cycle_of_nothing_or_of_all_is_none(asked: float) -> None:
    """As in TunableMAC: then the radio never sleeps."""
    lines, totals = run(sleeping(0, 5, duty_cycle=asked), [send(0, "a")])
    assert lines == ["2100 us: 1 gets a from 0"]
    assert totals.energy_mj[1] == pytest.approx(10 * (RX_MW + BASELINE_MW))


def test_preambles_wake_who_sleeps() -> None:
    """The packet comes after them, when whoever is near has heard one, and waits for it."""
    lines, totals = run(sleeping(0, 5, 6), [send(0, "a")])
    assert [line.split(": ")[1] for line in lines] == ["1 gets a from 0", "2 gets a from 0"]
    assert PREAMBLES * PREAMBLE_MS < int(lines[0].split()[0]) / 1000 < PREAMBLES * PREAMBLE_MS + 4
    assert totals.counts["transmitted"] == [PREAMBLES + 1, 0, 0]
    assert totals.counts["received"] == [0, 1, 1]


def test_without_preambles_who_sleeps_hears_nothing() -> None:
    """A packet that comes while others sleep is lost."""
    lines, totals = run(with_mac(sleeping(0, 5), preamble_share=0.0), [send(0, "a", START + 40 * MILLISECOND)])
    assert lines == []
    assert totals.counts["transmitted"] == [1, 0]
    assert totals.counts["fail_nonrx"] == [0, 1]


def test_who_has_its_packet_sleeps_and_misses_what_follows() -> None:
    """All that is queued is sent after the preambles, as by TunableMAC, whose receivers wait for one packet only."""
    lines, totals = run(sleeping(0, 5), [send(0, str(k)) for k in range(5)])
    assert [line.split(": ")[1] for line in lines] == ["1 gets 0 from 0"]
    assert totals.counts["transmitted"] == [PREAMBLES + 5, 0]


def test_each_packet_has_its_preambles_if_one_is_sent_at_a_time() -> None:
    """Then all arrive."""
    scenario = with_mac(sleeping(0, 5), sends_all=False)
    lines, totals = run(scenario, [send(0, str(k)) for k in range(5)])
    assert [line.split(": ")[1] for line in lines] == [f"1 gets {k} from 0" for k in range(5)]
    assert totals.counts["transmitted"] == [5 * (PREAMBLES + 1), 0]


def test_a_packet_from_above_is_lost_while_another_is_waited_for() -> None:
    """TunableMAC's own mistake: it drops the first of its queue when it has no tries left, as it has none then."""
    both = [send(0, "a"), send(1, "b", START + 80 * MILLISECOND)]
    lines, totals = run(sleeping(0, 5), both)
    assert [line.split(": ")[1] for line in lines] == ["1 gets a from 0"]
    assert totals.counts["transmitted"] == [PREAMBLES + 1, 0]


def test_a_battery_lasts_longer_in_sleep() -> None:
    """What lasts 2.5 s awake lasts more than 10 s at a tenth of the time."""
    joules = 2.5 * (RX_MW + BASELINE_MW) / 1000
    for duty_cycle, dies in ((1.0, True), (0.1, False)):
        scenario = sleeping(0, 5, duty_cycle=duty_cycle)
        small = replace(scenario, nodes=tuple(replace(node, initial_energy_j=joules) for node in scenario.nodes))
        _, totals = run(small, [])
        assert (DEATHS in totals.counts) == dies


def test_sleep_in_back_offs_saves_energy_without_a_duty_cycle() -> None:
    """Who finds the channel busy sleeps until it looks again; what it has to say arrives all the same."""
    long = [send(0, "long", size=900), send(1, "late", START + MILLISECOND)]
    lines, awake = run(at_places(0, 5), long)
    asleep_lines, asleep = run(with_mac(at_places(0, 5), sleeps_in_backoff=True), long)
    assert lines[-1].endswith("0 gets late from 1")
    assert asleep_lines[-1].endswith("0 gets late from 1")
    assert asleep.energy_mj[1] < awake.energy_mj[1]


packets = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4000)), max_size=60)


@given(packets, st.sampled_from([0.05, 0.3, 0.8]), st.booleans(), st.integers(0, 20))
@settings(max_examples=40)
def test_whatever_is_sent_nodes_sleep_again(
    sent: list[tuple[int, int]], duty_cycle: float, sends_all: bool, seed: int
) -> None:
    """Every packet is transmitted, refused or dropped; long after the last one all nodes sleep in turns as at first."""
    scenario = with_mac(at_places(0, 5, 8, 12, seed=seed), duty_cycle=duty_cycle, sends_all=sends_all)
    frames = [send(node, str(k), START + at * MILLISECOND) for k, (node, at) in enumerate(sent)]
    short, long = (replace(scenario, time_limit=end * SECOND) for end in (100, 200))
    (_, first), (_, second) = run(short, frames), run(long, frames)
    assert first.counts == second.counts
    power = duty_cycle * RX_MW + (1 - duty_cycle) * SLEEP_MW + BASELINE_MW
    used = [b - a for a, b in zip(first.energy_mj, second.energy_mj, strict=True)]
    assert used == pytest.approx([100 * power] * 4, rel=0.01)
    assert total(first, "offered") == len(sent)
