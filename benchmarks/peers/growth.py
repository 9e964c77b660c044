"""What beacons cost in networks of different sizes."""

from __future__ import annotations

import csv
import math
import multiprocessing
import resource
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks.peers.field import SPEED, Counted, Field, cpu_now_s, hosted
from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.measurements import markdown_table
from roambus.python_protocol.baselines import Beacon

SIZES = (66, 260, 1040, 10_000)
SECONDS_OF_GROWTH, NODE_SECONDS = (3, 20), 5_000
"""At least and at most simulated by `growth`; in between, so many seconds of one node."""


class Point(NamedTuple):
    """Of a network: CPU time of a simulated second and of the start (s), deliveries a second, peak memory (MiB)."""

    kind: str
    nodes: int
    cpu_s: float
    start_s: float
    deliveries: float
    memory_mib: float


KINDS: dict[str, tuple[bool, Callable[[Scenario], Backend]]] = {
    "ideal links, static": (False, make_ideal),
    "embedded radio, static": (False, RadioBackend),
    f"embedded radio, {SPEED} m/s": (True, RadioBackend),
}
"""Whether nodes move, and the back-end."""


def point(kind: str, nodes: int) -> Point:
    """The cost of this network, in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_point, kind, nodes).result()


def _point(kind: str, nodes: int) -> Point:
    moving, make = KINDS[kind]
    hosted(Field(3, moving).scenario(1), Beacon, make(Field(3, moving).scenario(1)))  # what is compiled is, now
    least, most = SECONDS_OF_GROWTH
    seconds = max(least, min(most, NODE_SECONDS // nodes))
    before, scenario = cpu_now_s(), Field(nodes, moving).scenario(seconds)
    backend = Counted(make(scenario))
    Host(scenario, Beacon, backend, TraceWriter()).run()
    cpu_s, start_s = (cpu_now_s() - backend.open_s) / seconds, backend.open_s - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Point(kind, nodes, cpu_s, start_s, backend.deliveries / seconds, memory)


def exponent(points: Sequence[Point]) -> tuple[float, float]:
    """Of CPU time over nodes by least squares on logarithms, with its standard error; needs four points."""
    x, y = (np.log([getattr(one, name) for one in points]) for name in ("nodes", "cpu_s"))
    fit, covariance = np.polyfit(x, y, 1, cov=True)
    return float(fit[0]), float(math.sqrt(covariance[0, 0]))


def draw(points: Sequence[Point], file: Path) -> None:
    """A picture of CPU time over nodes, a line a kind."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for kind in KINDS:
        of_kind = [one for one in points if one.kind == kind]
        axes.loglog([one.nodes for one in of_kind], [one.cpu_s for one in of_kind], "o-", label=kind)
    axes.set(xlabel="nodes, ten beacons a second each", ylabel="CPU time of a simulated second (s)")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=150)


def growth(sizes: Sequence[int], *, as_csv: bool, picture: Path | None) -> None:
    """Prints the points as a table or CSV, and the exponents on standard error."""
    points = [point(kind, nodes) for kind in KINDS for nodes in sizes]
    rows = [tuple(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in one) for one in points]
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([Point._fields, *rows])
    else:
        print(markdown_table(Point._fields, rows))
    for kind in KINDS:
        slope, error = exponent([one for one in points if one.kind == kind])
        print(f"{kind}: exponent over nodes {slope:.2f} +- {error:.2f}", file=sys.stderr)
    if picture:
        draw(points, picture)
