"""Holds the temporal model of the embedded radio to Castalia's: both run the same scenarios, seed by seed.

CASTALIA_ROOT=... OMNETPP_ROOT=... python -m benchmarks.temporal_fidelity FILE [--seeds N] [--group NAME]

FILE is a parameters file of the temporal model, such as Castalia's own
`Simulations/Parameters/WirelessChannel/BANmodels/TemporalModel.txt`. Groups differ in how often nodes send: more often
than the correlation times, between them, and after the coherence time; in one of them nodes move. The first metric is
judged as those of `benchmarks.radio_fidelity` are: the means over seeds may differ by the combined 95 % interval,
corrected for the number of groups and metrics, or by 3 %, whichever is wider.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware.bursts import FACTORIES, Sent, exchange
from benchmarks.held_groups import Rows, check, exit_code
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.simtime import SECOND

SEEDS = 12
PAYLOAD_BYTES = 40
FIRST_S = 0.2
"""Nodes have booted by then."""


class Group(NamedTuple):
    """Nodes in a field, each of which sends with exponential gaps."""

    nodes: int
    side_m: float
    rate: float
    """packets a second and node"""
    seconds: float
    mobility: str = "static"

    def frames(self, seed: int) -> list[Sent]:
        """The transmissions in the order of time; both back-ends get the same."""
        random = np.random.default_rng(seed)
        sent = []
        for node in range(self.nodes):
            gaps = random.exponential(1 / self.rate, round(2 * self.rate * self.seconds) + 20)
            times = FIRST_S + np.cumsum(gaps)
            sent += [Sent(round(time * SECOND), node) for time in times[times < self.seconds].tolist()]
        return sorted(sent)

    def variables(self, temporal: Path) -> dict[str, Scalar]:
        """Of the template `field`."""
        return {"nodes": self.nodes, "side": self.side_m, "mobility": self.mobility, "temporal": str(temporal)}


GROUPS = {
    "often": Group(6, 30, 20, 20),
    "far": Group(8, 60, 5, 30),
    "between": Group(8, 40, 1, 120),
    "seldom": Group(8, 40, 0.1, 600),
    "moving": Group(8, 45, 4, 40, "line"),
}

METRICS = ("receivers_per_tx", "mean_rssi_dbm", "again")


def run_group(backend: str, group: Group, temporal: Path, seed: int) -> dict[str, float]:
    """The metrics of one run; raises RoambusError.

    `again` is how often a link delivers two frames of its sender in a row, over what it would be by the two alone: 1
    means that a link has forgotten the first at the second.
    """
    frames = group.frames(seed)
    heard = exchange(FACTORIES[backend], group.variables(temporal), seed, frames, PAYLOAD_BYTES)
    got = np.zeros((len(frames), group.nodes))
    for reception in heard:
        got[reception.frame, reception.receiver] = 1
    return {
        "receivers_per_tx": len(heard) / len(frames),
        "mean_rssi_dbm": float(np.mean([reception.rssi_dbm for reception in heard])) if heard else math.nan,
        "again": _again(np.array([frame.node for frame in frames]), got),
    }


def _again(senders: NDArray[np.int64], got: NDArray[np.float64]) -> float:
    both, chance = 0.0, 0.0
    for sender in np.unique(senders):
        own = got[senders == sender]
        both += float((own[:-1] * own[1:]).mean(axis=0).sum())
        chance += float((own.mean(axis=0) ** 2).sum())
    return both / chance if chance else math.nan


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if any metric is outside, 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.temporal_fidelity", description=__doc__)
    parser.add_argument("file", type=Path, help="parameters file of the temporal model")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--group", choices=list(GROUPS), action="append", help="only this one")
    chosen = parser.parse_args(arguments)

    def run(group: str, backend: str) -> Rows:
        return [run_group(backend, GROUPS[group], chosen.file, seed) for seed in range(chosen.seeds)]

    return exit_code("temporal_fidelity", lambda: check(chosen.group or list(GROUPS), list(GROUPS), METRICS, run))


if __name__ == "__main__":
    sys.exit(main())
