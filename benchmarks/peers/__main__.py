"""The CPU time of roambus beside other simulators, and how it grows with the network.

    python -m benchmarks.peers beside [--rounds 5] [--seconds 20]
    python -m benchmarks.peers growth [--sizes 66,260,1040,10000] [--csv] [--picture FILE]

`beside` has two loads: 66 static nodes with ten beacons a second each, and AODV at C8 with nodes at 8 m/s. They run on
ideal links, on the embedded radio, and on Castalia and ns-3, with the same agents in Python. Beside them are Castalia
and ns-3 without Python, and GrADyS-SIM NG (`pip install --no-deps gradysim`); the program names those that it lacks.
`growth` has the beacons alone, with the room that each node has in C32.

A figure is the CPU time of a simulated second, of this process and those that it starts. For `beside` each run is made
twice, and the time of the short one is taken off: reading, set-up and the simulator's start are not in it. Its rounds
are interleaved. `growth` counts from the moment at which the back-end is open.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.peers.beside import beside
from benchmarks.peers.growth import SIZES, growth
from roambus.bridge.system.errors import RoambusError


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or that of the error."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.command == "beside":
            print(f"load {os.getloadavg()[0]:.1f} before", file=sys.stderr)
            print(beside(asked.seconds, asked.rounds))
        else:
            growth(asked.sizes, as_csv=asked.csv, picture=asked.picture)
    except RoambusError as error:
        print(f"peers: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    others = commands.add_parser("beside", help="beside other simulators")
    others.add_argument("--rounds", type=_above(0), default=5, help="of which the median is taken (5)")
    others.add_argument("--seconds", type=_above(0), default=20, help="simulated (20)")
    grown = commands.add_parser("growth", help="from small networks to large ones")
    grown.add_argument("--sizes", type=_sizes, default=SIZES, help="four numbers of nodes or more")
    grown.add_argument("--csv", action="store_true", help="print CSV")
    grown.add_argument("--picture", type=Path, help="draw this file, too")
    return parser


def _above(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isdigit() or int(text) <= least:
            raise argparse.ArgumentTypeError(f"{text}: not a whole number above {least}")
        return int(text)

    return whole


def _sizes(text: str) -> list[int]:
    sizes = [_above(1)(one) for one in text.split(",")]
    if len(set(sizes)) < 4:
        raise argparse.ArgumentTypeError(f"{text}: an exponent and its error need four sizes")
    return sizes


if __name__ == "__main__":
    sys.exit(main())
