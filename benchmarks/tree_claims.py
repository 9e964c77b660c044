"""How brokers' trees are shaped, and who sends most in them: what section 4.6 of the thesis says of MFT-PubSub.

roambus run thesis --agent mft --set config=C8 --set speed=8 --seed 0 --out results/shape/0
python -m benchmarks.tree_claims results/shape

The thesis says that most nodes often are on a single branch from the leader, and that nodes closer to the leader have a
higher load. Both are read from the rows `migrate` and `send` of each trace, in slices of ten seconds: at the beginning
of a slice each broker has the parent of its last migration, the leader is the broker with most others below it, and a
slice counts if there are at least four of them. Means over slices are one number a run; a run is a seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

import click
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from benchmarks.tree_shape import Parents, way_to_root
from roambus.bridge.trace.schema import DETAIL, EVENT, NODE, PEER, TIME_S
from roambus.experiments.claims import Part, Side, make_part
from roambus.python_protocol.vocabulary import MIGRATE, ROLE, SEND, NodeId

SLICE_S = 10.0
FEWEST = 4
"""Fewer brokers below a leader have no shape to speak of."""
HALF = 0.5
LARGEST, SLOPE, DEPTH = "largest branch", "sent per hop from the leader", "greatest depth"


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(places: tuple[Path, ...]) -> None:
    """Prints the numbers of each run, and how the two sentences come out over all of them."""
    traces = [trace for place in places for trace in sorted(place.rglob("trace.parquet"))]
    if not traces:
        sys.exit(f"tree_claims: there is no trace.parquet in {', '.join(map(str, places))}")
    runs = pd.DataFrame([shape_of(pq.read_table(trace).to_pandas()) for trace in traces])
    print(runs.to_string(float_format="%.3f"))
    print(*parts(runs), sep="\n")


def parts(runs: pd.DataFrame) -> tuple[Part, Part]:
    """Most brokers are on one branch; the load falls with each hop from the leader. Runs are seeds."""
    return (
        make_part("share of the brokers below the leader on its largest branch", runs[LARGEST], Side.ABOVE, HALF),
        make_part("messages that a broker sends in 10 s more with each hop from the leader", runs[SLOPE], Side.BELOW),
    )


def shape_of(trace: pd.DataFrame) -> dict[str, float]:
    """The means over the slices of one run; a number that no slice has is left out."""
    found = list(_slices(trace))
    names = dict.fromkeys(name for one in found for name in one)
    return {name: fmean(one[name] for one in found if name in one) for name in names}


def _slices(trace: pd.DataFrame) -> Iterator[dict[str, float]]:
    brokers = {int(node) for node in trace[(trace[EVENT] == ROLE) & trace[DETAIL].str.contains("broker")][NODE]}
    moves = trace[trace[EVENT] == MIGRATE]
    sent = trace[(trace[EVENT] == SEND) & trace[NODE].isin(brokers)]
    for start in np.arange(SLICE_S, trace[TIME_S].max() - SLICE_S, SLICE_S):
        parents = _parents(moves[moves[TIME_S] < start], brokers)
        within = sent[(sent[TIME_S] >= start) & (sent[TIME_S] < start + SLICE_S)]
        if shape := measure(parents, Counter(map(int, within[NODE]))):
            yield shape


def _parents(moves: pd.DataFrame, brokers: set[NodeId]) -> Parents:
    """The parent of each broker after these migrations."""
    newest = moves.drop_duplicates(NODE, keep="last").set_index(NODE)[PEER].dropna()
    return {node: int(newest[node]) if node in newest else None for node in brokers}


def measure(parents: Parents, sent: Mapping[NodeId, int]) -> dict[str, float]:
    """The shape of the largest tree, and the slope of what its brokers sent over depth; nothing if it is small."""
    ways = {node: way_to_root(node, parents) for node in parents}
    sizes = Counter(way[-1] for way in ways.values())
    leader, size = max(sizes.items(), key=lambda one: (one[1], -one[0]))
    below = {node: way for node, way in ways.items() if way[-1] == leader and node != leader}
    if size <= FEWEST:
        return {}
    branches = Counter(way[-2] for way in below.values())
    depths = {leader: 0, **{node: len(way) - 1 for node, way in below.items()}}
    found = {LARGEST: max(branches.values()) / len(below), DEPTH: float(max(depths.values()))}
    slope = np.polyfit(list(depths.values()), [sent.get(node, 0) for node in depths], 1)[0]
    return {**found, SLOPE: float(slope)}


if __name__ == "__main__":
    main()
