"""A radio may read signal strengths wrongly, which changes nothing of what it receives."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from roambus.bridge.backends.castalia.backend import check_radio_alone
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from tests.bridge.backends.radio.runs import AIRTIME, START, at_places, send

FRAMES = 200


def wrong(offset_db: float, noise_db: float) -> Scenario:
    scenario = at_places(0, 5, -5)
    return replace(scenario, radio=replace(scenario.radio, rssi_offset_db=offset_db, rssi_noise_db=noise_db))


def readings(scenario: Scenario) -> dict[int, list[float]]:
    """What nodes 1 and 2, which are as far away as each other, read of the frames of node 0."""
    backend, read = RadioBackend(scenario), dict[int, list[float]]()
    backend.open()
    outgoing = [send(0, str(number), START + number * 2 * AIRTIME) for number in range(FRAMES)]
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        for delivery in step.deliveries:
            read.setdefault(delivery.receiver, []).append(delivery.rssi_dbm)
    return read


def test_each_node_has_an_error_of_its_own() -> None:
    """It is the same for all frames, within the bound, and another one for each node."""
    right, off = readings(wrong(0, 0)), readings(wrong(6, 0))
    errors = [off[node][0] - right[node][0] for node in (1, 2)]
    assert all(0 < abs(error) <= 6 for error in errors)
    assert errors[0] != errors[1]
    for node in (1, 2):
        assert {round(a - b, 9) for a, b in zip(off[node], right[node], strict=True)} == {round(errors[node - 1], 9)}


def test_readings_vary_from_frame_to_frame() -> None:
    """Their mean is right, and their deviation is the one that was set; as many frames arrive."""
    right, varying = readings(wrong(0, 0))[1], readings(wrong(0, 2))[1]
    assert len(varying) == len(right) == FRAMES
    assert abs(fmean(varying) - fmean(right)) < 0.5
    assert 1.5 < stdev(varying) < 2.5


@pytest.mark.parametrize("simulator", ["Castalia", "ns-3"])
def test_simulators_refuse_errors_that_they_would_pass_over(simulator: str) -> None:
    """A run that read all strengths right would be taken for one that did not."""
    with pytest.raises(UserError, match=rf"Radio\.rssiNoise: {simulator} reads all signal strengths without error"):
        check_radio_alone(wrong(0, 2), simulator)
