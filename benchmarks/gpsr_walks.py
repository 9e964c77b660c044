"""GPSR on random unit disks that stand: what arrives of all pairs, and after how many hops.

python -m benchmarks.gpsr_walks
python -m benchmarks.gpsr_walks --graphs 100

Places are real numbers; a walk follows the tables that beacons would give. It ends with exit code 1 if a pair fails.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

import click

from roambus.extensions.routing.planar import PLANARIZATIONS
from roambus.extensions.routing.tests.walks import connected, walks

NET_DIAMETER = 35
"""The default of `net_diameter`: a longer walk loses its packet."""


@click.command()
@click.option("--graphs", default=2000, show_default=True, help="Connected ones, for each planarization.")
def main(graphs: int) -> None:
    """Print a table in Markdown."""
    print("| Planar graph | Pairs | Arrive | Hops / fewest | Worst | Longer than 35 hops |\n|---|--:|--:|--:|--:|--:|")
    failed = 0
    for planarization in PLANARIZATIONS:
        ends: Counter[str] = Counter()
        ratios, hops, fewest = [0.0], 0, 0
        for places in islice(connected(), graphs):
            for end, least in walks(places, planarization):
                if isinstance(end, str):
                    ends[end] += 1
                    continue
                ends["arrive"] += 1
                ends["long"] += end > NET_DIAMETER
                hops, fewest = hops + end, fewest + least
                ratios.append(end / least)
        arrived, pairs = ends["arrive"], ends.total() - ends["long"]
        failed += pairs - arrived
        row = f"{planarization} | {pairs:,} | {arrived:,} | {hops / fewest:.3f} | {max(ratios):.1f} | {ends['long']:,}"
        print(f"| {row} |", flush=True)
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
