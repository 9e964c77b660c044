"""Prints the cost of a sweep: time, memory and traces, by agent and by the values of one axis.

python -m benchmarks.sweep_cost results/thesis --by config

Each run's log has its time, its CPU time, and its worker's peak memory until then. Writing the trace comes after that,
and is not in the times.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from roambus.bridge.runs.layout import AGENT, LOG_FILE, find_traces, run_name
from roambus.spark.aggregation.aggregate import natural_order

_LOG = re.compile(r"complete in ([\d.]+) s, ([\d.]+) s of CPU, (\d+) MiB at most")
_COLUMNS = {
    "wall": "wall s",
    "cpu": "CPU s",
    "slowest": "slowest run s",
    "memory": "peak MiB",
    "rows": "rows",
    "size": "traces MiB",
}


def read_costs(results: Path) -> pd.DataFrame:
    """One row a complete run: the levels of its folder, wall and CPU time (s), memory (MiB), rows, size (MiB).

    Raises ValueError naming a run whose log has no cost.
    """
    return pd.DataFrame([_cost(trace) for trace in find_traces(results)])


def _cost(trace: Path) -> dict[str, object]:
    log = trace.with_name(LOG_FILE)
    measured = _LOG.search(log.read_text(encoding="utf-8"))
    if measured is None:
        raise ValueError(f"{log}: does not tell what the run cost: run the sweep again")
    wall, cpu, memory = measured.groups()
    numbers = {"wall": float(wall), "cpu": float(cpu), "memory": int(memory)}
    rows = pq.read_metadata(trace).num_rows
    levels = dict(level.split("=", 1) for level in run_name(trace).split("/"))
    return {**levels, **numbers, "rows": rows, "size": trace.stat().st_size / 2**20}


def summarise(costs: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Sums over all runs of an agent and a value of the axis, the greatest memory, and the slowest run."""
    groups = costs.groupby([AGENT, axis], sort=False)
    table = groups[["wall", "cpu", "rows", "size"]].sum()
    table.insert(0, "runs", groups.size())
    table.insert(3, "slowest", groups["wall"].max())
    table.insert(4, "memory", groups["memory"].max())
    ordered = table.sort_index(key=lambda level: level.map(natural_order))
    return ordered.rename(columns=_COLUMNS)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 2 for a user's error."""
    asked = _parser().parse_args(arguments)
    try:
        costs = read_costs(asked.results)
        if costs.empty or asked.by not in costs:
            raise ValueError(f"{asked.results}: no complete run of a sweep with the axis {asked.by}")
    except (OSError, ValueError) as error:
        print(f"sweep_cost: {error}", file=sys.stderr)
        return 2
    print(summarise(costs, asked.by).to_string(float_format=lambda value: f"{value:.1f}"))
    total = costs[["wall", "cpu", "rows", "size"]].sum()
    print(
        f"\n{len(costs)} runs: {total['wall']:,.0f} s of wall time in all workers, {total['cpu']:,.0f} s of CPU, "
        f"{costs['memory'].max()} MiB at most, {total['rows']:,.0f} rows, {total['size']:,.0f} MiB of traces"
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sweep_cost",
        description="Tells what the runs of a sweep cost.",
        epilog="example: python -m benchmarks.sweep_cost results/thesis --by config",
    )
    parser.add_argument("results", type=Path, help="the sweep's folder")
    parser.add_argument("--by", default="config", help="the axis to tell apart (default: config)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
