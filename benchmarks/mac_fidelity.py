"""Holds the embedded radio's IEEE 802.15.4 to ns-3's lr-wpan: both carry the same frames, and what arrives is compared.

    python -m benchmarks.mac_fidelity DIR                compares the embedded MAC with DIR/lr_wpan.csv
    python -m benchmarks.mac_fidelity DIR --measure 4    measures ns-3 with so many seeds, and writes that file

A group is a scenario with a value. Its means agree as in `benchmarks.radio_fidelity`: they may differ by their combined
95 % interval, corrected for all tests, or 3 % of ns-3's, whichever is wider; shares of all frames by 0.02. Both radios
have the bit errors of the standard's O-QPSK, a clear channel below -85 dBm, and the same places, frames and times.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.radio_fidelity import Comparison, Metric, Rows, compare, ratio
from benchmarks.reference_scenarios import CC2420
from roambus.bridge.backend import Backend, Transmission
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.random_waypoint import RandomWaypoint
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import MODULATIONS, ChannelSettings, RadioSettings
from roambus.bridge.system.errors import RoambusError
from roambus.extensions.ns3.backend import SETTINGS_FILE, find_adapter, settings_text, ways_of
from roambus.python_protocol.events import CHANNEL_ACCESS_FAILURE, NO_ACKNOWLEDGEMENT
from roambus.python_protocol.messages.fields import U32
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

FILE = "lr_wpan.csv"
KEYS = ("scenario", "value", "seed")
RADIO = replace(CC2420, modulation=MODULATIONS.index("OQPSK"), cca_threshold_dbm=-85.0)
FLAT = LogDistance(sigma_db=0, bidirectional_sigma_db=0)
SECONDS = 10
START = SECOND
BYTES = 40
SHARE_MARGIN = 0.02


class Probe(Message, tag=1, name="Probe"):
    """A frame that can be told from all others."""

    number: U32
    rest: bytes


PROBES = MessageSet([Probe])

Planned = tuple[Scenario, list[Transmission]]


# The scenarios: nodes, and the frames that they are given


def pair(distance_m: float, seed: int) -> Planned:
    """Fifty unicasts a second to a node at this distance, and a radio as sensitive as its noise allows."""
    radio = replace(RADIO, sensitivity_dbm=-100.0)
    return _static([(0, 0), (distance_m, 0)], seed, radio), list(_frames(seed, 0, 50, [1]))


def saturated(senders: float, seed: int) -> Planned:
    """So many senders around one node offer it 400 frames a second together, twice what the channel carries."""
    count = int(senders)
    around = [(50 + 5 * math.cos(k * math.tau / count), 50 + 5 * math.sin(k * math.tau / count)) for k in range(count)]
    frames = [frame for k in range(count) for frame in _frames(seed, k, 400 / count, [count])]
    return _static([*around, (50, 50)], seed), frames


def hidden(rate_per_s: float, seed: int) -> Planned:
    """Two senders that do not hear each other, and a receiver between them."""
    frames = [frame for sender in (0, 2) for frame in _frames(seed, sender, rate_per_s, [1])]
    return _static([(0, 0), (40, 0), (80, 0)], seed), frames


def mixed(rate_per_s: float, seed: int) -> Planned:
    """Ten nodes around a place; half of them broadcast, the others send to their neighbour."""
    around = [(50 + 8 * math.cos(k * math.tau / 10), 50 + 8 * math.sin(k * math.tau / 10)) for k in range(10)]
    frames = [
        frame for k in range(10) for frame in _frames(seed, k, rate_per_s, [(k + 1) % 10 if k % 2 else BROADCAST])
    ]
    return _static(around, seed), frames


def mobile(rate_per_s: float, seed: int) -> Planned:
    """Eighteen nodes that move in a square of 60 m and send unicasts to all others by turns, on a shadowed channel."""
    node = NodeSettings(mobility=RandomWaypoint(speed_mps=8.0), start_spread=0)
    scenario = _of((node,) * 18, seed, RADIO, LogDistance())
    frames = [
        frame
        for k in range(18)
        for frame in _frames(seed, k, rate_per_s, [to for to in range(18) if to != k] + [BROADCAST])
    ]
    channel = ChannelSettings(only_static_nodes=False)
    return replace(scenario, field_m=(60.0, 60.0), channel=channel), frames


SCENARIOS: dict[str, tuple[Callable[[float, int], Planned], tuple[float, ...]]] = {
    "pair, m": (pair, (40, 60, 65, 67)),
    "saturated, senders": (saturated, (2, 5, 10, 20, 50)),
    "hidden, frames/s": (hidden, (5, 20, 50)),
    "broadcast beside unicast, frames/s": (mixed, (5, 12)),
    "mobile, frames/s": (mobile, (1, 4)),
}


def _static(places: Sequence[tuple[float, float]], seed: int, radio: RadioSettings = RADIO) -> Scenario:
    return _of([NodeSettings(position=(float(x), float(y)), start_spread=0) for x, y in places], seed, radio, FLAT)


def _of(nodes: Sequence[NodeSettings], seed: int, radio: RadioSettings, law: LogDistance) -> Scenario:
    limit = START + (SECONDS + 1) * SECOND
    field, mac = (100.0, 100.0), Ieee802154Settings()
    return Scenario(seed, limit, field, ChannelSettings(), radio, mac, tuple(nodes), propagation=law)


def _frames(seed: int, sender: NodeId, rate_per_s: float, destinations: Sequence[NodeId]) -> Iterator[Transmission]:
    """Frames of one sender at exponential distances, each with the number of its sender and place in the stream."""
    random = Random(f"{seed}/{sender}/{rate_per_s}")
    at: SimTime = START
    for number in range(1 << 16):
        at += round(random.expovariate(rate_per_s) * SECOND) + 1
        if at >= START + SECONDS * SECOND:
            return
        message = Probe(sender << 16 | number, bytes(BYTES - Probe(0, b"").encoded_size()))
        yield Transmission(sender, at, destinations[number % len(destinations)], message, len(message.encode()))


# Running them


def run(backend: Backend, planned: Planned) -> dict[str, float]:
    """Carry the frames, and count what became of them."""
    scenario, frames = planned
    sent = {frame.message.number: frame for frame in frames}  # type: ignore[attr-defined]  # all are Probe
    backend.open()
    backend.advance([], START)
    delays: list[float] = []
    unicasts, reasons = 0, [NO_ACKNOWLEDGEMENT, CHANNEL_ACCESS_FAILURE]
    failed = dict.fromkeys(reasons, 0)
    outgoing = sorted(frames, key=lambda frame: frame.at)
    while (step := backend.advance(outgoing, None)) is not None:
        outgoing = []
        for delivery in step.deliveries:
            origin = sent[delivery.message.number]  # type: ignore[attr-defined]  # see above
            delays.append((step.now - origin.at) / SECOND)
            unicasts += origin.destination != BROADCAST
        for failure in step.failures:
            if failure.reason in failed:
                failed[failure.reason] += 1
    counts = backend.close().counts
    wanted = sum(len(scenario.nodes) - 1 if frame.destination == BROADCAST else 1 for frame in frames)
    return {
        "wanted": wanted,
        "received": len(delays),
        "unicasts_received": unicasts,
        "delay_s": sum(delays),
        "unacknowledged": failed[NO_ACKNOWLEDGEMENT],
        "access_failures": failed[CHANNEL_ACCESS_FAILURE],
        **{name: sum(counts[name]) for name in ("offered", "acknowledgements", "retransmissions", "transmitted")},
    }


COLUMNS = (
    "wanted",
    "received",
    "unicasts_received",
    "delay_s",
    "unacknowledged",
    "access_failures",
    "offered",
    "acknowledgements",
    "retransmissions",
    "transmitted",
)

METRICS: dict[str, Metric] = {
    "received": ratio("received", "wanted"),
    "throughput, 1/s": lambda row: row["received"] / SECONDS,
    "delay, s": ratio("delay_s", "received"),
    "acknowledgements of a unicast received": ratio("acknowledgements", "unicasts_received"),
    # The embedded MAC counts retries as they begin, ns-3 those that found a clear channel: both count what is sent.
    "sent": lambda row: (row["transmitted"] - row["acknowledgements"]) / row["offered"],
    "not acknowledged": ratio("unacknowledged", "offered"),
    "access failures": ratio("access_failures", "offered"),
}
SHARES = ("received", "sent", "not acknowledged", "access failures")
"""Of all frames."""


def on_radio(scenario: str, value: float, seed: int) -> dict[str, float]:
    """The counts of a run on the embedded radio."""
    planned = SCENARIOS[scenario][0](value, seed)
    return run(RadioBackend(planned[0]), planned)


def on_ns3(scenario: str, value: float, seed: int) -> dict[str, float]:
    """The counts of a run on ns-3; raises UserError without it."""
    planned = SCENARIOS[scenario][0](value, seed)
    with TemporaryDirectory() as folder:
        program = Program((str(find_adapter()),), files={SETTINGS_FILE: settings_text(planned[0])})
        simulator = StartedSimulator(Path(folder), program, 60, ways_of(planned[0]))
        return run(CastaliaBackend(planned[0], PROBES, simulator), planned)


# Comparing


def agreement(theirs: Rows, ours: Rows, tests: int) -> dict[str, Comparison]:
    """Each metric of a group; shares may differ by SHARE_MARGIN at least."""
    found = {}
    for name, metric in METRICS.items():
        comparison = compare(theirs, ours, metric, tests)
        found[name] = replace(comparison, margin=max(comparison.margin, SHARE_MARGIN)) if name in SHARES else comparison
    return found


def read_groups(path: Path) -> dict[tuple[str, float], list[dict[str, float]]]:
    """ns-3's rows by scenario and value."""
    groups: dict[tuple[str, float], list[dict[str, float]]] = {}
    with path.open(newline="", encoding="utf-8") as text:
        for row in csv.DictReader(text):
            rows = groups.setdefault((row["scenario"], float(row["value"])), [])
            rows.append({name: float(row[name]) for name in COLUMNS})
    return groups


def measure(path: Path, seeds: int) -> None:
    """Write ns-3's counts."""
    with path.open("w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, [*KEYS, *COLUMNS], lineterminator="\n")
        writer.writeheader()
        for name, (_, values) in SCENARIOS.items():
            for value in values:
                for seed in range(seeds):
                    counts: Mapping[str, float] = on_ns3(name, value, 100 + seed)
                    writer.writerow({"scenario": name, "value": value, "seed": 100 + seed, **counts})
                    text.flush()


def check(path: Path, seeds: int) -> int:
    """Print every group; return how many metrics are outside."""
    groups = read_groups(path)
    inside = outside = 0
    for (name, value), theirs in groups.items():
        ours = [on_radio(name, value, seed) for seed in range(seeds)]
        compared = agreement(theirs, ours, len(groups) * len(METRICS))
        print(f"{name}: {value:g}")
        for metric, comparison in compared.items():
            mark = "inside" if comparison.inside else "OUTSIDE"
            values = f"ns-3 {comparison.castalia:9.4f}  ours {comparison.ours:9.4f}  of {comparison.margin:.4f}"
            print(f"    {metric:<40} {values}  {mark}")
        outside += sum(not comparison.inside for comparison in compared.values())
        inside += sum(comparison.inside for comparison in compared.values())
    print(f"{inside} inside, {outside} outside, of {len(groups)} groups")
    return outside


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if a metric is outside, 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mac_fidelity", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--measure", type=int, default=0, metavar="SEEDS", help="measure ns-3 with so many seeds")
    parser.add_argument("--seeds", type=int, default=8, help="of the embedded radio")
    asked = parser.parse_args(arguments)
    try:
        if asked.measure:
            measure(asked.folder / FILE, asked.measure)
            return 0
        return int(check(asked.folder / FILE, asked.seeds) > 0)
    except (RoambusError, OSError) as error:
        print(f"mac_fidelity: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
