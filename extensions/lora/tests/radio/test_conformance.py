"""The compiled reception against the second model, in random schedules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log10
from random import Random
from typing import Any

import pytest

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.radio.airtime import airtime_ns, symbol_ns
from roambus.extensions.lora.radio.reception import adapt
from roambus.extensions.lora.radio.settings import LoRa
from roambus.extensions.lora.tests.radio.model import PowerOf, Receiver, Shot
from roambus.extensions.lora.tests.radio.runs import START, Frame, Outcome, changed, run, scenario
from roambus.python_protocol.simtime import MILLISECOND, SECOND

NODES = 6
SCHEDULES = 40
CELL_M = 200
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
    shots = shots_of(law, frames)
    return compare(
        outcome, [Receiver(n, law, shots, lambda shot, at: powers.get((shot.sender, at))) for n in range(NODES)]
    )


def shots_of(law: LoRa, frames: list[Frame]) -> list[Shot]:
    """Return the frames on the air, in their order."""
    found = []
    for sender, after, size in frames:
        modem, start = law.modem(law.factors[sender % len(law.factors)]), START + after
        symbol = symbol_ns(modem.factor, modem.bandwidth_khz)
        found.append(Shot(sender, modem.factor, start, start + airtime_ns(modem, size), symbol, law))
    return found


def compare(outcome: Outcome, receivers: list[Receiver]) -> Counter[str]:
    """Compare receptions and counts at every node, and return the counts: each signal has one."""
    every: Counter[str] = Counter()
    for receiver in receivers:
        node, shots = receiver.node, receiver.shots
        wanted = {shots.index(shot) for shot in receiver.received()}
        assert {frame for at, frame in outcome.received if at == node} == wanted, node
        assert outcome.counts(node) == dict(receiver.counts), node
        reached = [shot for shot in shots if shot.sender != node and receiver.power_of(shot, node) is not None]
        assert receiver.counts.total() == len(reached)
        every += receiver.counts
    return every


def moving(seed: int) -> Scenario:
    """Return nodes that move through cells of 200 m, without shadowing; they do not sense."""
    template = find_template("lora")
    values: dict[str, Scalar] = {
        "seed": seed,
        "agent": "beacon",
        "agent_parameters": "",
        "nodes": NODES,
        "time_limit": 20,
    }
    values |= {"mobility": "waypoint", "speed": 600, "side": 6000, "cell": CELL_M, "sigma": 0, "bidirectional_sigma": 0}
    values |= {"preset": "ShortFast", "sf": "7 8", "preamble": 8, "threshold": -125, "mac": "TunableMAC"}
    found = parse_scenario(template.render(values), template.file, template.file.parent)
    quiet = replace(found.mac, packet_overhead_bytes=0)
    return replace(found, radio=replace(found.radio, cca_threshold_dbm=300.0), mac=quiet)


def power_while_moving(described: Scenario) -> PowerOf:
    """Return the power by the cells in which both are as the frame begins."""
    backend = RadioBackend(described)
    moves, first = backend._state.moves, backend._state.nodes["cell"].tolist()
    backend.close()
    columns = round(described.field_m[0] / CELL_M)

    def corner(node: int, at: int) -> complex:
        cells = [first[node], *(move["cell"] for move in moves if move["node"] == node and move["time"] <= at)]
        return complex(*divmod(int(cells[-1]), columns)) * CELL_M

    def power(shot: Shot, node: int) -> float | None:
        distance = abs(corner(shot.sender, shot.start) - corner(node, shot.start))
        found = 22 - (59.35 + 23.2 * log10(distance) if distance else 0)
        return found if found >= -125 else None

    return power


@pytest.mark.parametrize("seed", range(3))
def test_schedules_of_moving_nodes_agree(seed: int) -> None:
    """Power is that of the beginning of a frame; nodes change their cells meanwhile."""
    described = moving(seed)
    law = adapt(described).reception
    assert isinstance(law, LoRa)
    own = replace(law, factors=(law.factors * NODES)[:NODES])
    frames = frames_of(Random(f"moving/{seed}"), own)
    power = power_while_moving(described)
    noise_dbm = adapt(described).radio.noise_floor_dbm
    shots = shots_of(own, frames)
    assert len({power(shot, 0) for shot in shots if shot.sender == 1}) > 2
    every = compare(run(described, frames), [Receiver(n, own, shots, power, noise_dbm) for n in range(NODES)])
    assert every["rx_no_interf"] > 10
    assert every["fail_interf"] > 10


def test_schedules_agree() -> None:
    """In every reception and every count, at each node; all fates occur, and each signal has one."""
    every = sum((check(number) for number in range(SCHEDULES)), Counter())
    assert set(every) == {"rx_no_interf", "rx_despite", "fail_interf", "fail_sens", "fail_nonrx"}
    assert min(every.values()) > 100


@pytest.mark.slow
def test_many_schedules_agree() -> None:
    """As above, 600 further ones."""
    assert sum((check(number) for number in range(SCHEDULES, SCHEDULES + 600)), Counter()).total() > 10_000
