"""A node that is down acknowledges nothing on 802.15.4; one that has crashed is off until it recovers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from roambus.bridge.backend import DEATHS, Totals, Transmission
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import START, at_places, run, send, total

CRASH, FREEZE, RECOVER = FaultKind.CRASH, FaultKind.FREEZE, FaultKind.RECOVER
BEGINS = (8 + 12) * 16 * MICROSECOND
"""From the hand-over to the first bit: CCA and turnaround, for these nodes do not back off first."""
FRAME = (40 + 10 + 11 + 6) * 32 * MICROSECOND


def failing(*planned: tuple[SimTime, int, FaultKind], **settings: int) -> Scenario:
    """Three nodes in reach of each other on 802.15.4, and their faults."""
    faults = tuple(Fault(at, node, kind) for at, node, kind in planned)
    return replace(at_places(0, 5, 6), mac=Ieee802154Settings(**{"min_be": 0, **settings}), faults=faults)


def happens(scenario: Scenario, frames: Iterable[Transmission]) -> tuple[list[str], Totals]:
    """The lines of a run, without the times."""
    lines, totals = run(scenario, frames)
    return [line.partition(": ")[2] for line in lines], totals


@pytest.mark.parametrize("kind", [CRASH, FREEZE])
def test_a_node_that_is_down_neither_takes_nor_acknowledges_frames(kind: FaultKind) -> None:
    """Its neighbour learns it; after the recovery it does both again."""
    scenario = failing((START - 1, 1, kind), (2 * SECOND, 1, RECOVER))
    frames = [send(0, "lost", destination=1), send(0, "to all", SECOND), send(0, "back", 3 * SECOND, destination=1)]
    lines, totals = happens(scenario, frames)
    assert lines == ["0 cannot send: no acknowledgement", "2 gets to all from 0", "1 gets back from 0"]
    assert totals.counts["acknowledgements"] == [0, 1, 0]
    assert totals.counts["received"] == [0, 1, 1]


@pytest.mark.parametrize("kind", [CRASH, FREEZE])
def test_a_fault_between_radio_and_mac_is_in_time(kind: FaultKind) -> None:
    """A frame is at its MAC 10 us after its last bit: one whose receiver fails meanwhile is not acknowledged."""
    arrived = START + BEGINS + FRAME
    lines, totals = happens(failing((arrived + 5_000, 1, kind)), [send(0, "lost", destination=1)])
    assert lines == ["0 cannot send: no acknowledgement"]
    assert total(totals, "acknowledgements") == 0


def test_a_crashed_node_loses_what_its_mac_had_and_says_so() -> None:
    """The frame on the air leaves whole, once; the others never do, nor does one that a processing delay held back."""
    crash = START + BEGINS + FRAME // 2
    frames = [send(0, "on the air", destination=1), send(0, "queued"), send(0, "later", crash + MILLISECOND)]
    lines, totals = happens(failing((crash, 0, CRASH)), frames)
    assert sorted(lines) == ["0 cannot send: crash", "0 cannot send: crash", "1 gets on the air from 0"]
    assert totals.counts["transmitted"] == [1, 1, 0]


def test_a_frozen_nodes_mac_goes_on_with_its_frames() -> None:
    """It gets their acknowledgements: the agent, which has kept its state, learns the truth when it recovers."""
    lines, totals = happens(failing((START, 0, FREEZE)), [send(0, "first", destination=1), send(0, "second")])
    assert lines == ["1 gets first from 0", "1 gets second from 0", "2 gets second from 0"]
    assert totals.counts["retransmissions"] == [0, 0, 0]


def test_a_frozen_node_that_recovers_is_where_it_was() -> None:
    """Its MAC waits for the acknowledgement of the frame that it was sending, and then sends the next one."""
    frozen = START + BEGINS + FRAME // 2
    scenario = failing((frozen, 0, FREEZE), (frozen + FRAME // 4, 0, RECOVER))
    lines, totals = happens(scenario, [send(0, "first", destination=1), send(0, "second", destination=1)])
    assert lines == ["1 gets first from 0", "1 gets second from 0"]
    assert totals.counts["retransmissions"] == [0, 0, 0]


def test_a_crashed_nodes_radio_sleeps() -> None:
    """It draws 1.4 mW in place of 62 mW from the crash on, and 6 mW for the rest of the node."""
    _, totals = run(failing((2 * SECOND, 1, CRASH), (7 * SECOND, 1, RECOVER), (9 * SECOND, 2, FREEZE)), [])
    assert totals.energy_mj == pytest.approx([680, 680 - 5 * (62 - 1.4), 680], abs=0.02)


def test_a_node_that_recovers_at_once_is_up() -> None:
    """Even if its radio has not gone to sleep meanwhile, or its frame is still on the air."""
    crash = START + BEGINS + FRAME // 2
    for gap in (MICROSECOND, FRAME // 4, FRAME):
        scenario = failing((crash, 1, CRASH), (crash + gap, 1, RECOVER))
        frames = [send(1, "cut"), send(1, "after", 2 * START), send(0, "to it", 3 * START, destination=1)]
        lines, _ = happens(scenario, frames)
        assert lines[-3:] == ["0 gets after from 1", "2 gets after from 1", "1 gets to it from 0"], gap


def test_a_battery_that_is_empty_ends_an_outage_for_good() -> None:
    """Its recovery is none, and from its death on nothing is acknowledged."""
    scenario = failing((SECOND, 1, CRASH), (5 * SECOND, 1, RECOVER))
    nodes = list(scenario.nodes)
    nodes[1] = replace(nodes[1], initial_energy_j=0.08)
    frames = [send(0, "lost", 6 * SECOND, destination=1), send(1, "dead", 7 * SECOND)]
    lines, totals = happens(replace(scenario, nodes=tuple(nodes)), frames)
    assert lines == ["0 cannot send: no acknowledgement", "1 cannot send: node has no energy left"]
    assert 2 * SECOND < totals.counts[DEATHS][1] < 5 * SECOND


def test_a_dead_node_does_not_acknowledge_what_its_radio_had_received() -> None:
    """Its battery is found empty in the 10 us in which the frame is on its way to the MAC."""
    arrived = START + BEGINS + FRAME
    scenario = failing()
    nodes = list(scenario.nodes)
    nodes[1] = replace(nodes[1], initial_energy_j=1e-4, energy_interval=arrived + 5_000)
    lines, totals = happens(replace(scenario, nodes=tuple(nodes)), [send(0, "lost", destination=1)])
    assert totals.counts[DEATHS] == [0, arrived + 5_000, 0]
    assert lines == ["0 cannot send: no acknowledgement"]


def test_a_mac_without_acknowledgements_goes_on() -> None:
    """As under Castalia, where only the host knows of the fault: it drops what arrives."""
    scenario = replace(failing((START - 1, 1, CRASH)), mac=at_places(0).mac)
    lines, totals = happens(scenario, [send(0, "heard", destination=1), send(1, "sent", 2 * START)])
    assert lines == ["1 gets heard from 0", "0 gets sent from 1", "2 gets sent from 1"]
    assert totals.energy_mj[1] == pytest.approx(680, abs=0.1)
