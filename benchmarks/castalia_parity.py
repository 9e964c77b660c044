"""Holds the keys that the embedded radio shares with Castalia to Castalia itself, a group of runs for each.

python -m benchmarks.castalia_parity --runs 20
python -m benchmarks.castalia_parity --group "numTx" --runs 5

One ini for both: Castalia runs it with beacons in C++, the embedded radio with the agent `beacon`. Castalia is found
through OMNETPP_ROOT and CASTALIA_ROOT. Each group is compared by means over its runs: of deliveries, frames and energy,
and of the shares of signals that were lost, by why they were. They may differ by the combined 95 % interval (Welch,
corrected for all means of all groups) or 3 %, whichever is wider.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.castalia_beacons import Outputs, run_beacons, write_ini
from benchmarks.radio_fidelity import FAILURES, SIGNALS, Metric, compare, interval, ratio, share
from benchmarks.reference_castalia import BREAKDOWN
from benchmarks.reference_scenarios import beacons
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.system.errors import RoambusError
from roambus.experiments.templates.variables import Scalar

NODES, SIDE_M, SECONDS, PAYLOAD_BYTES = 16, 60, 10, 40
RADIO, MAC = "SN.node[*].Communication.Radio.", "SN.node[*].Communication.MAC."

OFTEN_PER_S, SELDOM_PER_S, RARELY_PER_S = 8, 1, 0.2
"""Beacons of each node: enough to queue, and to collide; with preambles fewer are."""


class Group(NamedTuple):
    """Runs that hold some keys to Castalia."""

    lines: tuple[str, ...]
    """Lines added to the ini."""
    rate_per_s: float = OFTEN_PER_S
    """Beacons of each node."""


GROUPS: dict[str, Group] = {
    "as it is": Group(()),
    "transmit power -10 dBm": Group((f'{RADIO}TxOutputPower = "-10dBm"',)),
    "several transmit powers": Group(
        (
            'SN.node[0..4].Communication.Radio.TxOutputPower = "-15dBm"',
            'SN.node[5..9].Communication.Radio.TxOutputPower = "-5dBm"',
        )
    ),
    "probTx": Group((f"{MAC}probTx = 0.6", f"{MAC}reTxInterval = 5")),
    "numTx": Group((f"{MAC}numTx = 3",)),
    "numTx, probTx, reTxInterval": Group((f"{MAC}numTx = 2", f"{MAC}probTx = 0.5", f"{MAC}reTxInterval = 20")),
    "one packet in a free channel": Group((f"{MAC}txAllPacketsInFreeChannel = false", f"{MAC}numTx = 2")),
    "CSMA 1-persistent": Group((f"{MAC}CSMApersistance = 1",)),
    "CSMA p-persistent": Group((f"{MAC}CSMApersistance = 0.2",)),
    "grid": Group(('SN.deployment = "4x4"',)),
    "coordinates": Group(
        (
            'SN.deployment = "[0..7]->4x2"',
            "SN.node[8..11].xCoor = 20",
            "SN.node[8..11].yCoor = 45",
            "SN.node[12..15].xCoor = 50",
            "SN.node[12..15].yCoor = 30",
        )
    ),
    "line mobility": Group(
        (
            "SN.wirelessChannel.onlyStaticNodes = false",
            'SN.node[*].MobilityManagerName = "LineMobilityManager"',
            "SN.node[*].MobilityManager.xCoorDestination = 10",
            "SN.node[*].MobilityManager.yCoorDestination = 50",
            "SN.node[*].MobilityManager.speed = 12",
            "SN.node[*].MobilityManager.updateInterval = 100",
        )
    ),
    "duty cycle 0.1": Group((f"{MAC}dutyCycle = 0.1",), RARELY_PER_S),
    "duty cycle 0.3, half of the preambles": Group(
        (
            f"{MAC}dutyCycle = 0.3",
            f"{MAC}listenInterval = 15",
            f"{MAC}beaconIntervalFraction = 0.5",
            f"{MAC}beaconFrameSize = 60",
        ),
        SELDOM_PER_S,
    ),
    "duty cycle 0.5": Group((f"{MAC}dutyCycle = 0.5",), SELDOM_PER_S),
    "duty cycle, one packet in a free channel": Group(
        (
            f"{MAC}dutyCycle = 0.4",
            f"{MAC}txAllPacketsInFreeChannel = false",
            f"{MAC}numTx = 2",
            f"{MAC}reTxInterval = 30",
        ),
        SELDOM_PER_S,
    ),
    "sleep in back-offs": Group((f"{MAC}sleepDuringBackoff = true",)),
}
"""The first adds nothing, to see that the rest is alike."""

Row = dict[str, float]
METRICS: dict[str, Metric] = {
    "receivers a frame": ratio("received", "transmitted"),
    "frames a packet": ratio("transmitted", "offered"),
    "mJ a node": ratio("energy_mj", "nodes"),
    **{name: share(name) for name in FAILURES},
}


def settings_of(seed: int) -> dict[str, Scalar]:
    """Settings that all groups share, in the words of the template."""
    return {"nodes": NODES, "side": SIDE_M, "time_limit": SECONDS, "seed": seed}


def ours(group: Group, seed: int) -> Row:
    """A run on the embedded radio."""
    with tempfile.TemporaryDirectory() as name:
        scenario = read_scenario(write_ini(Path(name), settings_of(seed), group.lines))
    totals = beacons(scenario, (group.rate_per_s,) * NODES, PAYLOAD_BYTES)
    row: Row = {name: sum(totals.counts[name]) for name in ("offered", "transmitted", "received", *SIGNALS)}
    return row | {"energy_mj": sum(totals.energy_mj), "nodes": NODES}


def castalias(group: Group, seed: int) -> Row:
    """The same on Castalia."""
    return read_outputs(run_beacons(settings_of(seed), group.lines, group.rate_per_s, PAYLOAD_BYTES))


def read_outputs(outputs: Outputs) -> Row:
    """The samples of the means."""
    return {
        "offered": outputs["Beacons", "sent"],
        "transmitted": outputs["TXed pkts", "TX pkts"],
        "received": outputs["Beacons", "received"],
        "energy_mj": 1000 * outputs["Consumed Energy", ""],
        "nodes": NODES,
        **{name: outputs["RX pkt breakdown", label] for name, label in BREAKDOWN.items()},
    }


def print_group(name: str, theirs: Sequence[Row], mine: Sequence[Row], tests: int) -> bool:
    """A line of the docs' table for each mean; returns whether all agree."""
    agree = True
    for metric, value in METRICS.items():
        found = compare(theirs, mine, value, tests)
        agree = agree and found.inside
        cells = (name, metric, _with_interval(theirs, value), _with_interval(mine, value))
        print(f"| {' | '.join(cells)} | {'yes' if found.inside else '**no**'} |", flush=True)
    return agree


def _with_interval(rows: Sequence[Mapping[str, float]], metric: Metric) -> str:
    """The mean with its own 95 % interval."""
    values = np.array([metric(row) for row in rows])
    exact = np.full(2, values.mean())
    return f"{values.mean():.4g} ± {interval(values, exact, 1):.2g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table; 0 if all groups agree, 1 if not, 2 without a Castalia."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs of each group on each side (20)")
    parser.add_argument("--group", choices=GROUPS, action="append", help="this group only; give it again for more")
    chosen = parser.parse_args(arguments)
    names = chosen.group or list(GROUPS)
    print("| group | mean | Castalia | embedded radio | agree |\n|---|---|---|---|---|")
    try:
        agree = [
            print_group(
                name,
                [castalias(GROUPS[name], seed) for seed in range(chosen.runs)],
                [ours(GROUPS[name], seed) for seed in range(chosen.runs)],
                len(GROUPS) * len(METRICS),
            )
            for name in names
        ]
    except RoambusError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return int(not all(agree))


if __name__ == "__main__":
    sys.exit(main())
