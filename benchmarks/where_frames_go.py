"""Where the frames of a run go: by type, what became of their signals, what tree and links did and were, and delays.

roambus run thesis --agent mft --set publishers=2 --set subscribers=32 --set brokers=32 --set side=110 --set speed=8 \
    --set time_limit=100 --set publish_until=80 --out results/frames
python -m benchmarks.where_frames_go results/frames

The argument is a trace, or a folder with traces of runs; each run is a column of the table. Everything is read from the
trace, so that it works for every agent.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import Table

from benchmarks.tree_shape import shape_of
from roambus.bridge.trace.schema import DETAIL, EVENT, MESSAGE_TYPE, NODE, NOTIFICATION_ID, PEER, TIME_S
from roambus.python_protocol.vocabulary import DELIVER, DROP, MIGRATE, PUBLISH, RADIO, REPLAY, ROLE, SEND, STORE

Figures = Mapping[str, float]
"""What was counted, by the name of its row, in the order of the rows."""


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(places: tuple[Path, ...]) -> None:
    """Prints a table with a row for each figure and a column for each run."""
    traces = [trace for place in places for trace in _traces(place)]
    if not traces:
        sys.exit(f"where_frames_go: there is no trace.parquet in {', '.join(map(str, places))}")
    runs = [figures_of(pq.read_table(trace)) for trace in traces]
    names = dict.fromkeys(name for run in runs for name in run)
    for name in names:
        print(f"{name:34}" + "".join(f"{run.get(name, 0):12.4g}" for run in runs))


def _traces(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("trace.parquet"))


def figures_of(trace: Table) -> Figures:
    """All figures of one run; rates are per node and second of the whole run, shares are of expected pairs."""
    nodes = _of(trace, ROLE).num_rows
    seconds = pc.max(trace[TIME_S]).as_py()
    return {
        **_delivery(trace),
        "frames per node": _of(trace, SEND).num_rows / nodes,
        **_by_type(trace, nodes),
        "parents taken per node and second": _parents_taken(trace) / nodes / seconds,
        **shape_of(trace),
        **_happenings(trace, nodes),
        **_signals(trace),
    }


def _delivery(trace: Table) -> Figures:
    """Delivered pairs over expected ones, and the delays of first deliveries in s."""
    published = _of(trace, PUBLISH)
    times = dict(zip(published[NOTIFICATION_ID].to_pylist(), published[TIME_S].to_pylist(), strict=True))
    expected = sum(len((wanted or "").split()) for wanted in published[DETAIL].to_pylist())
    rows = _of(trace, DELIVER)
    first: dict[tuple[int, str], float] = {}
    keys = zip(rows[NODE].to_pylist(), rows[NOTIFICATION_ID].to_pylist(), strict=True)
    for key, time in zip(keys, rows[TIME_S].to_pylist(), strict=True):
        first.setdefault(key, time - times[key[1]])
    delays = sorted(first.values()) or [float("nan")]
    quantiles = {f"delay, {share:.0%} of them within": delays[int(share * (len(delays) - 1))] for share in (0.5, 0.99)}
    return {
        "delivered, share": len(first) / expected if expected else float("nan"),
        "delivered again, share": (rows.num_rows - len(first)) / expected if expected else float("nan"),
        "delay, mean": sum(delays) / len(delays),
        **quantiles,
        "delay, longest": delays[-1],
    }


def _by_type(trace: Table, nodes: int) -> Figures:
    """Frames and bytes a node of each type, the most frequent first."""
    sent = _of(trace, SEND).group_by(MESSAGE_TYPE).aggregate([("bytes", "count"), ("bytes", "mean")])
    rows = sorted(sent.to_pylist(), key=lambda row: -row["bytes_count"])
    frames = {f"  {row[MESSAGE_TYPE]}": row["bytes_count"] / nodes for row in rows}
    return frames | {f"  {row[MESSAGE_TYPE]}, mean bytes": row["bytes_mean"] for row in rows}


def _parents_taken(trace: Table) -> int:
    taken = _of(trace, MIGRATE)
    return sum(peer is not None for peer in taken[PEER].to_pylist())


def _happenings(trace: Table, nodes: int) -> Figures:
    """Notifications stored and replayed a node, and drops by their reason."""
    counts = {f"{event} per node": _of(trace, event).num_rows / nodes for event in (STORE, REPLAY)}
    reasons = _of(trace, DROP)[DETAIL].value_counts().to_pylist()
    return counts | {f"drop: {row['values']}": row["counts"] for row in reasons}


def _signals(trace: Table) -> Figures:
    """What the radios counted, over all signals at all radios."""
    totals: dict[str, float] = {}
    rows = _of(trace, RADIO)
    for name, value in zip(rows[MESSAGE_TYPE].to_pylist(), rows[DETAIL].to_pylist(), strict=True):
        totals[f"radio: {name}"] = totals.get(f"radio: {name}", 0) + float(value)
    return totals


def _of(trace: Table, event: str) -> Table:
    return trace.filter(pc.equal(trace[EVENT], event))


if __name__ == "__main__":
    main()
