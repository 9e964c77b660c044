"""The compiled reception against the second model, in random schedules."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from roambus.extensions.lora.radio.airtime import airtime_ns, symbol_ns
from roambus.extensions.lora.radio.settings import LoRa
from roambus.extensions.lora.tests.radio.model import Receiver, Shot
from roambus.extensions.lora.tests.radio.runs import START, Frame, changed, run, scenario
from roambus.python_protocol.simtime import MILLISECOND, SECOND

NODES = 6
SCHEDULES = 40
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"adds_up": False, "preamble_harms": False},
    {"gateways": (0, 1), "demodulators": 2},
    {"gateways": (0,), "demodulators": 8, "relocks": False},
    {"needed": 8, "is_imperfect": False},
    {"relocks": False, "capture_db": 3.0},
)


def law_of(random: Random, number: int) -> LoRa:
    """Return settings with a spreading factor for each node."""
    few = (random.choice((7, 8)), random.choice((8, 9, 10)))
    return changed(factors=tuple(random.choice(few) for _ in range(NODES)), **SETTINGS[number % len(SETTINGS)])


def frames_of(random: Random, law: LoRa) -> list[Frame]:
    """Return frames within three seconds, none of which begins before its sender is in RX again."""
    free, found = [0] * NODES, []
    for at in sorted(random.sample(range(3 * SECOND), 60)):
        sender, size = random.randrange(NODES), random.choice((1, 10, 20, 60))
        if at > free[sender]:
            found.append(Frame(sender, at, size))
            free[sender] = at + airtime_ns(law.modem(law.factors[sender]), size) + 30 * MILLISECOND
    return found


def check(number: int) -> Counter[str]:
    """Compare a schedule's receptions and counts at every node, and return the counts."""
    random = Random(f"lora/{number}")
    law = law_of(random, number)
    pairs = [(a, b) for a in range(NODES) for b in range(NODES) if a != b and random.random() < 0.8]
    powers = {pair: round(random.uniform(-131, -95), 2) for pair in pairs}
    frames = frames_of(random, law)
    outcome = run(scenario(powers, law, NODES), frames)
    shots = []
    for sender, after, size in frames:
        modem, start = law.modem(law.factors[sender]), START + after
        symbol = symbol_ns(modem.factor, modem.bandwidth_khz)
        shots.append(Shot(sender, modem.factor, start, start + airtime_ns(modem, size), symbol, law))
    every: Counter[str] = Counter()
    for node in range(NODES):
        receiver = Receiver(node, law, shots, powers)
        wanted = {shots.index(shot) for shot in receiver.received()}
        assert {frame for at, frame in outcome.received if at == node} == wanted, (number, node)
        assert outcome.counts(node) == dict(receiver.counts), (number, node)
        assert sum(receiver.counts.values()) == sum((shot.sender, node) in powers for shot in shots)
        every += receiver.counts
    return every


def test_schedules_agree() -> None:
    """In every reception and every count, at each node; all fates occur, and each signal has one."""
    every = sum((check(number) for number in range(SCHEDULES)), Counter())
    assert set(every) == {"rx_no_interf", "rx_despite", "fail_interf", "fail_sens", "fail_nonrx"}
    assert min(every.values()) > 100


@pytest.mark.slow
def test_many_schedules_agree() -> None:
    """As above, 600 further ones."""
    assert sum((check(number) for number in range(SCHEDULES, SCHEDULES + 600)), Counter()).total() > 10_000
