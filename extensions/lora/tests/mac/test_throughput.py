"""The throughput of many nodes: pure ALOHA's is the textbook's, and listening before talk carries more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import MacSettings
from roambus.extensions.lora.mac.settings import LoRaAloha, LoRaCad
from roambus.extensions.lora.tests.mac.scenes import START, airtime, frame, run, scene
from roambus.python_protocol.simtime import SECOND

NODES, FRAMES = 100, 3000
STUDENT_95 = 2.571
"""For six seeds"""


def ring(mac: MacSettings, seed: int) -> Scenario:
    """A sink that hears a ring of nodes alike, so that none captures; each symbol of the preamble is needed."""
    alone = replace(scene(0, mac=mac, needed=16), field_m=(1000.0, 1000.0), seed=seed)
    angles = [2 * math.pi * k / NODES for k in range(NODES)]
    places = [(500.0, 500.0), *((500 + 100 * math.cos(angle), 500 + 100 * math.sin(angle)) for angle in angles)]
    return replace(alone, nodes=tuple(replace(alone.nodes[0], position=place) for place in places))


def throughput(mac: MacSettings, load: float, seed: int) -> tuple[float, float]:
    """Frames offered and received in an airtime."""
    scenario, random = ring(mac, seed), Random(f"{load}/{seed}")
    lasting, at, frames = airtime(scenario), 0, []
    for _ in range(FRAMES):
        at += round(random.expovariate(load / lasting))
        frames.append(frame(random.randint(1, NODES), "x", at))
    course = run(replace(scenario, time_limit=START + at + 30 * SECOND), frames)
    return len(frames) * lasting / at, len(course.texts(0)) * lasting / at


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half of its confidence interval (95 %)."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return mean, STUDENT_95 * deviation / math.sqrt(len(values))


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.25, 0.5, 1.0])
def test_pure_aloha_has_the_throughput_of_its_formula(load: float) -> None:
    """Of a load G arrives G exp(-2 G), within one and a half confidence intervals (Abramson, 1970)."""
    runs = [throughput(LoRaAloha(), load, seed) for seed in range(6)]
    mean, error = mean_and_error([received - offered * math.exp(-2 * offered) for offered, received in runs])
    assert error < 0.01
    assert abs(mean) < 1.5 * error


@pytest.mark.slow
def test_listening_before_talk_carries_more_than_twice_as_much() -> None:
    """Where all hear each other, at the load at which pure ALOHA has its maximum of 0.18."""
    listening, error = mean_and_error([throughput(LoRaCad(), 0.5, seed)[1] for seed in range(6)])
    assert listening - error > 2 * 0.184
