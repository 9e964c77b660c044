"""What a run costs against its number of nodes, and against its traffic.

python -m benchmarks.growth --out docs

Nodes: 66 to 10000 (mft and aodv to 1040) with the room that each has in the thesis' C32. Traffic: C32 with each
publisher's notifications a second (radio and beacon: each node's packets) from 0.5 to 8. Every run has a process of
its own. Its set-up and the writing of its trace are measured apart from the simulation, whose CPU time for a
simulated second is fitted by a power law, least squares on logarithms: the exponent with its standard error. Writes
OUT/growth.png, prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.growth_fit import Line, draw, fitted
from benchmarks.growth_runs import PUBLISHERS, RADIO, RADIOS, STATIC_RADIO, Case, Cost, measure_apart
from roambus.bridge.errors import RoambusError, UserError

SECONDS = {RADIO: 60.0, STATIC_RADIO: 60.0, "beacon": 20.0, "flooding": 10.0, "mft": 20.0, "aodv": 10.0}
"""Simulated: the largest run takes half a minute."""
OTHER_SECONDS = 10.0
SIZES = (66, 130, 260, 520, 1040, 2600, 10000)
LARGEST = {"mft": 1040, "aodv": 1040}
"""Whose runs would take too long in larger networks."""
RATES = (0.5, 1.0, 2.0, 4.0, 8.0)
FEWEST_NODES = PUBLISHERS + 2
PICTURE = "growth.png"

COLUMNS = {
    "agent": "{0.case.agent}",
    "nodes": "{0.case.nodes}",
    "rate 1/s": "{0.case.rate_per_s:g}",
    "simulated s": "{0.case.seconds:g}",
    "set-up s": "{0.setup:.2f}",
    "CPU s per simulated s": "{0.per_second:.4f}",
    "wall s": "{0.wall:.2f}",
    "trace written s": "{0.writing:.2f}",
    "MiB": "{1:.0f}",
    "steps": "{0.steps}",
    "transmissions": "{0.transmissions}",
    "deliveries": "{0.deliveries}",
    "rows": "{0.rows}",
    "trace bytes": "{0.trace_bytes}",
}
"""The table: titles, and how a Cost (0) and its memory in MiB (1) fill them."""


def size_cases(agents: Sequence[str], sizes: Sequence[int], seconds: float | None) -> list[Case]:
    """Each agent at each size, but for those that are too large for it."""
    pairs = [(agent, nodes) for agent in agents for nodes in sizes if nodes <= LARGEST.get(agent, nodes)]
    return [Case(agent, nodes, _seconds(agent, seconds)) for agent, nodes in pairs]


def rate_cases(agents: Sequence[str], rates: Sequence[float], nodes: int, seconds: float | None) -> list[Case]:
    """Each agent with each traffic."""
    return [Case(agent, nodes, _seconds(agent, seconds), rate) for agent in agents for rate in rates]


def _seconds(agent: str, asked: float | None) -> float:
    return asked if asked is not None else SECONDS.get(agent, OTHER_SECONDS)


def measured(cases: Sequence[Case]) -> Iterator[Cost]:
    """One after the other, told on standard error."""
    for number, case in enumerate(cases, start=1):
        print(f"[{number}/{len(cases)}] {case.agent}, {case.nodes} nodes, {case.rate_per_s:g}/s", file=sys.stderr)
        yield measure_apart(case)


def table(costs: Sequence[Cost]) -> str:
    """The Markdown table of COLUMNS."""
    rows = [form.format(cost, cost.peak_memory / 2**20) for cost in costs for form in COLUMNS.values()]
    width = len(COLUMNS)
    lines = [[*COLUMNS], ["---:"] * width, *(rows[at : at + width] for at in range(0, len(rows), width))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def exponents(title: str, lines: Sequence[Line]) -> str:
    """The Markdown table of a fit's lines; `deliveries` says how much of the growth is that more is carried."""
    head = f"| {title} | CPU per simulated s | deliveries per simulated s |\n|---|---|---|"
    return "\n".join([head, *(f"| {line.agent} | {line.cost} | {line.deliveries} |" for line in lines)])


def report(by_size: Sequence[Cost], by_rate: Sequence[Cost], folder: Path) -> None:
    """Writes the picture and prints the tables; raises OSError."""
    sizes = fitted(by_size, lambda case: case.nodes)
    rates = fitted(by_rate, lambda case: case.rate_per_s)
    draw({"nodes": sizes, "packets or publications per second": rates}, folder / PICTURE)
    print(exponents("exponent against nodes", sizes), end="\n\n")
    print(exponents("exponent against traffic", rates), end="\n\n")
    print(table([*by_size, *by_rate]))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 2 for a user's error."""
    asked = _parser().parse_args(arguments)
    try:
        _check(asked)
        asked.out.mkdir(parents=True, exist_ok=True)
        by_size = list(measured(size_cases(asked.agents, asked.sizes, asked.seconds)))
        by_rate = list(measured(rate_cases(asked.agents, asked.rates, min(asked.sizes), asked.seconds)))
        report(by_size, by_rate, asked.out)
    except (RoambusError, OSError) as error:
        print(f"growth: {error}", file=sys.stderr)
        return 2
    return 0


def _check(asked: argparse.Namespace) -> None:
    if min(asked.sizes) < FEWEST_NODES:
        raise UserError(f"--sizes: a run has two publishers, a subscriber and a broker at least, {FEWEST_NODES} nodes")
    if min(asked.rates) <= 0:
        raise UserError("--rates: a power law needs rates above 0")
    if asked.seconds is not None and asked.seconds <= 0:
        raise UserError("--seconds: nothing happens in no time")
    if len(set(asked.sizes)) < 3 or len(set(asked.rates)) < 3:
        raise UserError("--sizes, --rates: an exponent and its error need three different values at least")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description=__doc__,
        epilog="example: python -m benchmarks.growth --agents mft aodv --sizes 66 130 260 --seconds 10 --out results",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        default=[*SECONDS],
        help=f"{' or '.join(RADIOS)} (no agents at all), or names that roambus list agents tells",
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help=f"numbers of nodes {SIZES}")
    parser.add_argument("--rates", nargs="+", type=float, default=RATES, help="traffic per second (0.5 1 2 4 8)")
    seconds = ", ".join(f"{agent} {taken:g}" for agent, taken in SECONDS.items())
    parser.add_argument("--seconds", type=float, help=f"simulated in each run ({seconds}, others {OTHER_SECONDS:g})")
    parser.add_argument("--out", type=Path, default=Path("results"), help=f"folder for {PICTURE} (results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
