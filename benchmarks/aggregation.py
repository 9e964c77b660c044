"""How long aggregating takes, and how much memory, against the number of trace rows.

python -m benchmarks.aggregation --rows 1000000 10000000 100000000 --plot aggregation.png

Traces are synthetic, mostly 500,000 rows a run, with the events of the thesis' largest runs, or many deliveries. Each
size has a process of its own, from the start of Spark to the metrics on disk; time and memory are
those of this process and all its children together, without the executors of a cluster. Beside each stands DuckDB,
which computes the same metrics in SQL right after it, so that a ratio of both means something on a busy machine, too.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.metrics_in_sql import metrics_in_sql
from benchmarks.synthetic_traces import AGENTS, THESIS, write_traces
from roambus.bridge.runs.layout import find_traces
from roambus.bridge.system.errors import RoambusError
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.engine.session import spark_session

ROWS = (1_000_000, 10_000_000, 100_000_000)
ROWS_A_RUN = 500_000
CORES = 2
LOCAL = f"local[{CORES}]"
_SAMPLES_S = 0.2


class Cost(NamedTuple):
    """Of one aggregation: `wall` and `cpu` in s, `memory` at its peak in bytes; `load` is the machine's before it.

    Of all that `start` and `start_cpu` are until Spark is there.
    """

    rows: int
    wall: float
    cpu: float
    memory: int
    load: float
    start: float = 0.0
    start_cpu: float = 0.0


def measure(
    rows: int, folder: Path, mix: str = THESIS, master: str = LOCAL, rows_a_run: int = ROWS_A_RUN
) -> tuple[Cost, Cost]:
    """Generates the traces that are not there yet and aggregates them afresh, by Spark, then by DuckDB.

    Each is in a process of its own.
    """
    results = folder / folder_name(rows, mix, rows_a_run)
    if not find_traces(results):
        nodes = min(66, rows_a_run // 100)
        write_traces(results, rows, max(1, rows // rows_a_run), mix=mix, nodes=nodes, workers=CORES)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as process:
        spark = process.submit(_aggregate, rows, results, master).result()
    with ProcessPoolExecutor(1, spawn) as process:
        return spark, process.submit(_in_sql, rows, results).result()


def folder_name(rows: int, mix: str, rows_a_run: int = ROWS_A_RUN) -> str:
    """Where traces of that many rows are kept: each mix and size of a run has folders of its own."""
    size = "" if rows_a_run == ROWS_A_RUN else f"-by-{rows_a_run}"
    return f"{rows}-rows{size}" if mix == THESIS else f"{rows}-{mix}-rows{size}"


def _aggregate(rows: int, results: Path, master: str) -> Cost:
    load, start = os.getloadavg()[0], time.perf_counter()
    with _watched() as samples, spark_session(master) as session:
        session.range(0, CORES, 1, CORES).mapInArrow(
            lambda batches: batches, "id long"
        ).toArrow()  # its Python starts, too
        started, started_cpu = time.perf_counter() - start, usage_of_family(os.getpid()).cpu
        problems = aggregate(results, master, afresh=True)
        wall = time.perf_counter() - start
    if problems:
        raise RoambusError(problems[0])
    cpu, memory = (max(column) for column in zip(*((sample.cpu, sample.memory) for sample in samples), strict=True))
    return Cost(rows, wall, cpu, int(memory), load, started, started_cpu)


def _in_sql(rows: int, results: Path) -> Cost:
    load, start = os.getloadavg()[0], time.perf_counter()
    with _watched() as samples:
        metrics_in_sql(find_traces(results), CORES)
        wall = time.perf_counter() - start
    cpu, memory = (max(column) for column in zip(*((sample.cpu, sample.memory) for sample in samples), strict=True))
    return Cost(rows, wall, cpu, int(memory), load)


# Memory and CPU time of a process and all its children


class Usage(NamedTuple):
    """Resident memory in bytes, and CPU time in s."""

    memory: int
    cpu: float


@contextmanager
def _watched() -> Iterator[list[Usage]]:
    """Yields a list to which the usage of this process and its children is added, again and again."""
    samples, stop = [usage_of_family(os.getpid())], threading.Event()

    def sample() -> None:
        while not stop.wait(_SAMPLES_S):
            samples.append(usage_of_family(os.getpid()))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield samples
    finally:
        samples.append(usage_of_family(os.getpid()))
        stop.set()
        sampler.join()


def usage_of_family(pid: int) -> Usage:
    """The resources that a process and its living descendants use together."""
    try:
        children = [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in _words(file)]
        pages = int(_words(Path(f"/proc/{pid}/statm"))[1])
        ticks = [int(word) for word in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]]
    except OSError:  # it has just ended
        return Usage(0, 0.0)
    parts = [usage_of_family(child) for child in children]
    own = Usage(pages * os.sysconf("SC_PAGE_SIZE"), sum(ticks) / os.sysconf("SC_CLK_TCK"))
    return Usage(own.memory + sum(part.memory for part in parts), own.cpu + sum(part.cpu for part in parts))


def _words(file: Path) -> list[str]:
    return file.read_text().split()


# Output


def exponent(costs: Sequence[Cost]) -> float:
    """The slope of time against rows, both as logarithms: 1 is linear; NaN for a single size."""
    if len(costs) < 2:
        return math.nan
    return float(np.polyfit(np.log([cost.rows for cost in costs]), np.log([cost.wall for cost in costs]), 1)[0])


def straight_line(costs: Sequence[Cost]) -> tuple[float, float]:
    """Seconds to start, and seconds for a million rows more: least squares; NaN for a single size."""
    if len(costs) < 2:
        return math.nan, math.nan
    slope, start = np.polyfit([cost.rows / 1e6 for cost in costs], [cost.wall for cost in costs], 1)
    return float(start), float(slope)


def report(costs: Sequence[Cost], in_sql: Sequence[Cost] = ()) -> None:
    """Prints a row for each size, the exponents over all and over the largest two, and the straight line."""
    print(f"{'rows':>12} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9} {'load before':>12} {'start s':>8} {'of CPU':>8}")
    for rows, wall, cpu, memory, load, start, start_cpu in (*costs, *in_sql):
        print(f"{rows:12,} {wall:8.1f} {cpu:8.1f} {memory / 2**20:9.0f} {load:12.1f} {start:8.1f} {start_cpu:8.1f}")
    for ours, in_duckdb in zip(costs, in_sql, strict=False):
        wall, cpu = (ours.wall - ours.start) / in_duckdb.wall, (ours.cpu - ours.start_cpu) / in_duckdb.cpu
        print(f"{ours.rows:,} rows, start aside, over DuckDB: {wall:.2f} of its wall, {cpu:.2f} of its CPU time")
    print(f"exponent {exponent(costs):.2f}; between the largest two {exponent(costs[-2:]):.2f}")
    start, slope = straight_line(costs)
    print(f"straight line: {start:.0f} s to start, {slope:.2f} s a million rows")


def draw(costs: Sequence[Cost], file: Path) -> None:
    """Draws time and memory against rows; raises OSError."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # slow to import, and mostly not needed

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    rows = [cost.rows / 1e6 for cost in costs]
    series = {"wall time (s)": [cost.wall for cost in costs], "peak memory (GiB)": [c.memory / 2**30 for c in costs]}
    for axes, (title, values) in zip(figure.subplots(1, 2), series.items(), strict=True):
        axes.plot(rows, values, "o-")
        axes.set(xlabel="trace rows (million)", ylabel=title, ylim=(0, None))
    start, slope = straight_line(costs)
    figure.axes[0].axline((0, start), slope=slope, linestyle=":", label=f"{start:.0f} s + {slope:.2f} s a million rows")
    figure.axes[0].legend()
    figure.savefig(file, dpi=120)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 2 for a user's error."""
    asked = _parser().parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="roambus-aggregation-") as temporary:
            folder = (asked.folder or Path(temporary)).absolute()  # executors may have another working directory
            costs = [measure(rows, folder, asked.mix, asked.spark, asked.rows_a_run) for rows in sorted(asked.rows)]
        spark, in_sql = ([pair[place] for pair in costs] for place in (0, 1))
        report(spark, in_sql)
        if asked.plot:
            draw(spark, asked.plot)
    except (RoambusError, OSError) as error:
        print(f"aggregation: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.aggregation",
        description=f"Measures aggregation on {CORES} cores, or on a cluster, against the number of trace rows.",
        epilog="example: python -m benchmarks.aggregation --rows 1000000 10000000",
    )
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS), help="sizes (default: 1, 10, 100 million)")
    parser.add_argument(
        "--rows-a-run", type=int, default=ROWS_A_RUN, help="2000 makes many small runs (default: 500000)"
    )
    parser.add_argument(
        "--mix", choices=AGENTS, default=THESIS, help="which rows (default: thesis; rich: half are deliveries)"
    )
    parser.add_argument(
        "--spark", metavar="URL", default=LOCAL, help="aggregate on this Spark cluster; executors are not measured"
    )
    parser.add_argument("--folder", type=Path, help="keep the traces there, and use those that are there already")
    parser.add_argument("--plot", type=Path, help="draw time and memory into this PNG")
    return parser


if __name__ == "__main__":
    sys.exit(main())
