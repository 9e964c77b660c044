"""RadioBackend as a back-end: steps, limits, repeatability, totals, errors."""

from dataclasses import replace

import pytest

from benchmarks.reference_scenarios import MOBILE, SHADOWED
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.line import Line
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.bridge.backends.radio.runs import START, at_places, run, send


def wandering(seed: int) -> Scenario:
    """Ten nodes that wander about, on a shadowed channel."""
    nodes = (NodeSettings(mobility=RandomWaypoint(5)),) * 10
    return replace(at_places(air=MOBILE, seed=seed), nodes=nodes, field_m=(45, 45))


def test_a_step_comes_at_the_wake_up_and_none_at_the_limit() -> None:
    """Nothing happens at the limit itself; a wake-up that has passed is now."""
    backend = RadioBackend(at_places(0, 5))
    assert backend.open().time_limit == 10 * SECOND
    steps = [backend.advance([], wake_up) for wake_up in (3, 2, 10 * SECOND - 1, 10 * SECOND)]
    assert [step and step.now for step in steps] == [3, 3, 10 * SECOND - 1, None]


def test_a_delivery_comes_before_the_wake_up() -> None:
    """The step is the delivery's, and the wake-up's is the next."""
    backend = RadioBackend(at_places(0, 5))
    backend.open()
    first = backend.advance([send(0, "x")], START + 3 * MILLISECOND)
    second = backend.advance([], START + 3 * MILLISECOND)
    assert first is not None
    assert second is not None
    assert (first.now, len(first.deliveries)) == (START + 2_100_000, 1)
    assert (second.now, len(second.deliveries)) == (START + 3 * MILLISECOND, 0)


def test_deliveries_of_one_instant_are_sorted_by_receiver() -> None:
    """Two pairs out of each other's reach send at one instant."""
    backend = RadioBackend(at_places(50, 55, 0, 5))
    backend.open()
    step = backend.advance([send(1, "there"), send(2, "here")], None)
    assert step is not None
    assert [(delivery.receiver, delivery.sender) for delivery in step.deliveries] == [(0, 1), (3, 2)]


def test_a_transmission_in_the_past_is_a_mistake() -> None:
    """The host may send now or later."""
    backend = RadioBackend(at_places(0, 5))
    backend.open()
    backend.advance([], START + 1)
    with pytest.raises(ValueError, match="before"):
        backend.advance([send(0, "x")], None)


def test_any_number_of_frames_can_be_pending() -> None:
    """Room is made as it is needed."""
    lines, totals = run(at_places(0, 5), [send(0, str(k), START + k * 10 * MILLISECOND) for k in range(700)])
    assert [line.split(" ")[4] for line in lines] == [str(k) for k in range(700)]
    assert totals.counts["received"] == [0, 700]


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    """Everything that is told, every count, every place."""
    sends = [send(k % 10, str(k), START + k * MILLISECOND) for k in range(300)]
    first, again, other = (run(wandering(seed), sends) for seed in (1, 1, 2))
    assert first == again
    assert first[0] != other[0]
    assert first[1].moves != other[1].moves


def test_the_agents_change_neither_places_nor_shadowing() -> None:
    """Runs with one seed share mobility and levels, whatever is sent before."""
    quiet, totals = run(wandering(1), [send(0, "probe", 5 * SECOND)])
    noisy, more = run(wandering(1), [*(send(3, str(k)) for k in range(20)), send(0, "probe", 5 * SECOND)])
    assert totals.moves == more.moves
    assert quiet == [line for line in noisy if "probe" in line]
    assert quiet


def test_what_a_radio_receives_goes_up_on_its_own_node() -> None:
    """Bursts of broadcasts among nodes that change cells meanwhile: each node gets as many as its radio received."""
    fast = RandomWaypoint(300, update_interval=MILLISECOND)
    scenario = replace(wandering(3), nodes=(NodeSettings(mobility=fast),) * 12, field_m=(150, 150))
    bursts = [send(burst % 12, "x", START + burst * 60 * MILLISECOND) for burst in range(48) for _ in range(20)]
    _, totals = run(scenario, bursts)
    radios = zip(totals.counts["rx_no_interf"], totals.counts["rx_despite"], strict=True)
    assert totals.counts["received"] == [alone + despite for alone, despite in radios]
    assert sum(totals.counts["received"]) > 1000


def test_an_idle_node_draws_baseline_and_rx_since_its_boot() -> None:
    """(6 + 62) mW for 10 s and for 6 s."""
    scenario = at_places(0, 50)
    late = replace(scenario.nodes[1], start_offset=4 * SECOND)
    _, totals = run(replace(scenario, nodes=(scenario.nodes[0], late)), [])
    assert list(totals.energy_mj) == pytest.approx([680, 408])


def test_sending_draws_the_level_of_its_power() -> None:
    """100 frames of 2.08 ms at 57.42 mW instead of 62 mW; transitions draw as much as RX."""
    _, totals = run(at_places(0, 50), [send(0, "x", START + k * 10 * MILLISECOND) for k in range(100)])
    assert totals.energy_mj[0] == pytest.approx(680 - 100 * 0.00208 * (62 - 57.42))


def unmodelled() -> list[tuple[Scenario, str]]:
    """Scenarios that the radio refuses, with what it says."""
    base = at_places(0, 5)
    node = base.nodes[0]
    return [
        (replace(base, radio=replace(base.radio, collision_model=1)), "collisionModel = 2"),
        (replace(base, nodes=(replace(node, tx_power_dbm=3),)), "node 0: .* no transmit power of 3 dBm"),
        (
            replace(base, nodes=(node, replace(node, mobility=Line(1, 1, 1)))),
            "node 1 moves: set SN.wirelessChannel.onlyStaticNodes = false",
        ),
        (replace(base, channel=replace(MOBILE.channel, x_cell_m=0.1, y_cell_m=0.1)), "xCellSize"),
        (replace(base, radio=replace(base.radio, data_rate_bps=100_000_000)), "lower the data rate"),
    ]


@pytest.mark.parametrize(("scenario", "message"), unmodelled())
def test_what_is_not_modelled_is_refused(scenario: Scenario, message: str) -> None:
    """One message that says what to change."""
    with pytest.raises(UserError, match=message):
        RadioBackend(scenario)


def test_shadowing_differs_between_pairs() -> None:
    """Nodes at one distance are received with different levels."""
    backend = RadioBackend(replace(at_places(0, 10, air=SHADOWED), nodes=tuple(ring())))
    backend.open()
    step = backend.advance([send(0, "x")], None)
    assert step is not None
    assert len({delivery.rssi_dbm for delivery in step.deliveries}) == len(step.deliveries) > 1


def ring() -> list[NodeSettings]:
    """A node, and four 8 m from it."""
    places = [(10.0, 10.0), (18.0, 10.0), (2.0, 10.0), (10.0, 18.0), (10.0, 2.0)]
    return [NodeSettings(position=place, start_spread=0) for place in places]
