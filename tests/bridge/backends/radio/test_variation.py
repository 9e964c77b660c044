"""Links vary in time by the temporal model: how they walk, what forgets, and who sees the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.temporal_model import Layer, TemporalModel
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.bridge.backends.radio.runs import START, Text, at_places, send

STRONG, WEAK = 0.0, -40.0


def walk(coherent: Layer, from_weak: Layer, from_strong: Layer) -> TemporalModel:
    """Two levels, 40 dB apart; a step takes 100 ms, and after 2 s all is forgotten."""
    return TemporalModel(
        WEAK, STRONG - WEAK, STRONG, (100 * MILLISECOND,), 2 * SECOND, ((coherent,), (from_weak,), (from_strong,))
    )


FLIPPING = walk(Layer((STRONG,)), Layer((STRONG,)), Layer((WEAK,)))


def heard(scenario: Scenario, times: list[SimTime]) -> list[list[int]]:
    """Who hears a frame of node 0 that begins about then; the frame takes 2.1 ms."""
    backend = RadioBackend(scenario)
    backend.open()
    frames: list[Transmission] = [send(0, str(k), time) for k, time in enumerate(times)]
    found: list[list[int]] = [[] for _ in times]
    while (step := backend.advance(frames, None)) is not None:
        frames = []
        for delivery in step.deliveries:
            assert isinstance(delivery.message, Text)
            found[int(delivery.message.text)].append(delivery.receiver)
    backend.close()
    return found


def test_a_link_walks_in_steps_of_the_correlation_time() -> None:
    """It turns weak and strong every 100 ms, however often it is looked at; it began at its mean."""
    scenario = replace(at_places(0, 1), temporal=FLIPPING)
    times = [20, 90, 120, 180, 220, 420, 720]
    assert heard(scenario, [time * MILLISECOND for time in times]) == [[1], [1], [], [], [1], [1], []]


def test_after_the_coherence_time_a_link_has_forgotten() -> None:
    """It is drawn anew, here weak, and walks on from there."""
    model = walk(Layer((WEAK,)), Layer((WEAK,)), Layer((STRONG,)))
    scenario = replace(at_places(0, 1), temporal=model)
    assert heard(scenario, [START, 3 * SECOND, 3500 * MILLISECOND]) == [[1], [], []]


def test_values_and_layers_are_drawn_alike() -> None:
    """Each element of a layer is as likely as the others: of four, one leads to a layer that is always strong."""
    coherent = (Layer((WEAK, WEAK, WEAK), (1,)), Layer((STRONG,)))
    model = replace(FLIPPING, coherence_time=MILLISECOND, distributions=(coherent, *FLIPPING.distributions[1:]))
    times = [START + k * 5 * MILLISECOND for k in range(1900)]
    counts = Counter(map(bool, heard(replace(at_places(0, 1), temporal=model), times)))
    assert counts[True] / len(times) == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("cell_m", [5, 0.45])
def test_nodes_in_one_cell_see_the_same(cell_m: float) -> None:
    """The walk is that of the way between cells, in a small field as in one of many cells; others walk alone."""
    coherent = Layer((STRONG, WEAK))
    model = replace(FLIPPING, coherence_time=MILLISECOND, distributions=((coherent,), *FLIPPING.distributions[1:]))
    scenario = at_places(0, 6.0, 6.1, 3.0)
    channel = replace(scenario.channel, only_static_nodes=False, x_cell_m=cell_m, y_cell_m=50 * cell_m)
    found = heard(
        replace(scenario, temporal=model, channel=channel, field_m=(20.0, 20.0)),
        [START + k * 5 * MILLISECOND for k in range(200)],
    )
    assert Counter((1 in receivers, 2 in receivers) for receivers in found).keys() == {(True, True), (False, False)}
    if cell_m < 3:
        assert len({(1 in receivers, 3 in receivers) for receivers in found}) == 4
