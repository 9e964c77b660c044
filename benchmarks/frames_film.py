"""A film of where the frames of runs go: the nodes on their field, who sends what, and how many frames that comes to.

R="roambus run thesis --agent mft --set config=C32 --set speed=8 --set time_limit=40 --set publish_until=40"
$R --param profile=thesis --out results/film/thesis
$R --param profile=as_published --out results/film/as_published
python -m benchmarks.frames_film results/film/thesis results/film/as_published --from 10 --to 20 --out film.gif

Each run has a panel, and all have one clock and one scale. A line leads from a node to its parent, and a dot is a frame
that its node has sent since the picture before, in the colour of its type. Below are the frames that a node has sent
on average since the first picture. Everything is read from the trace, so that it works for every agent.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pyarrow import Table

from roambus.bridge.trace.schema import EVENT, MESSAGE_TYPE, NODE, PEER, TIME_S
from roambus.experiments.viewer.scene import moved_places
from roambus.python_protocol.vocabulary import MIGRATE, SEND
from roambus.spark.aggregation.aggregate import replace_file

STEP_S = 0.25
"""From one picture to the next."""
PICTURES_A_SECOND = 4
"""So that the film takes as long as the run."""
INCHES_A_RUN, DPI = (4.6, 5.6), 80
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito; the last one is for all types that are rarer than the first six."""
OTHERS = "others"


@dataclass(frozen=True)
class Run:
    """What a film shows of a run."""

    title: str
    trace: Table

    @cached_property
    def paths(self) -> list[NDArray[np.float64]]:
        """For each node the rows (time in s, x in m, y in m) between which it goes straight."""
        places = moved_places(self.trace)
        nodes = 1 + max((place.node for place in places), default=-1)
        return [np.array([(p.time_s, p.x, p.y) for p in places if p.node == node]) for node in range(nodes)]

    @cached_property
    def sent(self) -> list[tuple[float, int, str]]:
        """When (s), by whom and of what type each frame was sent, in order of time."""
        return list(self._rows(SEND, MESSAGE_TYPE))

    @cached_property
    def parents(self) -> list[tuple[float, int, int | None]]:
        """When (s) who took whom for its parent, in order of time."""
        return list(self._rows(MIGRATE, PEER))

    def _rows(self, event: str, column: str) -> Iterator[tuple[float, int, Any]]:
        table = self.trace.filter(pc.equal(self.trace[EVENT], event))
        columns = (table[name].to_pylist() for name in (TIME_S, NODE, column))
        yield from sorted(zip(*columns, strict=True), key=lambda row: row[0])

    def frames(self, begin: float, end: float) -> Counter[str]:
        """How many frames of each type were sent after one time and until another one, in s."""
        return Counter(kind for at, _, kind in self.sent if begin < at <= end)

    def places(self, time: float) -> NDArray[np.float64]:
        """A row (x, y) in m for each node, at a time in s."""
        return np.array([[np.interp(time, path[:, 0], path[:, axis]) for axis in (1, 2)] for path in self.paths])

    def parents_at(self, time: float) -> dict[int, int]:
        """The parent of each node that has one."""
        found = {node: parent for at, node, parent in self.parents if at <= time}
        return {node: int(parent) for node, parent in found.items() if parent is not None}


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--from", "first", type=float, default=10.0, show_default=True, help="The second that it begins with.")
@click.option("--to", "last", type=float, default=20.0, show_default=True, help="The second that it ends with.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The GIF file.")
def main(places: tuple[Path, ...], first: float, last: float, out: Path) -> None:
    """Draws the film of one run, or of several beside each other."""
    if not first < last:
        sys.exit(f"frames_film: --from {first:g} must be before --to {last:g}")
    draw_film([read_run(place) for place in places], np.arange(first, last, STEP_S) + STEP_S, out)
    click.echo(out)


def read_run(place: Path) -> Run:
    """The run whose trace is this file, or lies below this folder; ends the program if there is not exactly one."""
    traces = [place] if place.is_file() else sorted(place.rglob("trace.parquet"))
    if len(traces) != 1:
        sys.exit(f"frames_film: {place} has {len(traces)} files trace.parquet; name a folder with one run")
    run = Run(place.stem if place.is_dir() else place.parent.name, pq.read_table(traces[0]))
    if not run.paths:
        sys.exit(f"frames_film: in {traces[0]} no node has a place on a field")
    return run


def draw_film(runs: Sequence[Run], times: NDArray[np.float64], out: Path) -> None:
    """Writes a GIF with a picture for each time (s), and a panel for each run; raises OSError."""
    width, height = INCHES_A_RUN
    picture = Figure(figsize=(width * len(runs), height), layout="constrained")
    rows = picture.subplots(2, len(runs), squeeze=False, height_ratios=(4, 1))
    kinds, begin = commonest_types(runs), times[0] - STEP_S
    most = max(sum(run.frames(begin, times[-1]).values()) / len(run.paths) for run in runs)

    def show(time: float) -> None:
        for run, field, bars in zip(runs, *rows, strict=True):
            show_field(field, run, kinds, time)
            show_counts(bars, by_type(run.frames(begin, time), kinds), len(run.paths))
            bars.set_xlim(0, 1.05 * most)
            bars.set_xlabel(f"frames a node since {begin:g} s")

    film = FuncAnimation(picture, show, times, init_func=lambda: None)
    replace_file(out, partial(save, film))


def save(film: FuncAnimation, file: Path) -> None:
    """Writes a film into a file of any name; Pillow knows by the suffix what it is to write."""
    with TemporaryDirectory() as folder:
        made = Path(folder, "film.gif")
        film.save(str(made), writer=PillowWriter(fps=PICTURES_A_SECOND), dpi=DPI)
        shutil.copyfile(made, file)


def commonest_types(runs: Sequence[Run]) -> list[str]:
    """The types of frames that have a colour of their own, those that are most frequent in all runs first."""
    counts = Counter(kind for run in runs for _, _, kind in run.sent)
    return [kind for kind, _ in counts.most_common(len(COLOURS) - 1)]


def show_field(axes: Axes, run: Run, kinds: Sequence[str], time: float) -> None:
    """The nodes, the tree, and the frames since the picture before."""
    axes.clear()
    places, parents = run.places(time), run.parents_at(time)
    for node, parent in parents.items():
        axes.plot(places[[node, parent], 0], places[[node, parent], 1], color="#bbbbbb", linewidth=0.8, zorder=1)
    axes.scatter(places[:, 0], places[:, 1], s=8, color="#888888", zorder=2)
    recent = [(node, kind) for at, node, kind in run.sent if time - STEP_S < at <= time]
    for kind, colour in zip([*kinds, OTHERS], COLOURS, strict=False):
        nodes = [node for node, sent in recent if kind == (sent if sent in kinds else OTHERS)]
        axes.scatter(places[nodes, 0], places[nodes, 1], s=70, color=colour, alpha=0.6, zorder=3, linewidths=0)
    axes.set_title(f"{run.title}, {time:.2f} s")
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def by_type(frames: Counter[str], kinds: Sequence[str]) -> dict[str, int]:
    """How many frames there are of each type that has a colour, and of all others."""
    return {**{kind: frames[kind] for kind in kinds}, OTHERS: sum(frames.values()) - sum(frames[one] for one in kinds)}


def show_counts(axes: Axes, counts: Mapping[str, int], nodes: int) -> None:
    """A bar of the frames a node, by type."""
    axes.clear()
    left = 0.0
    for (kind, count), colour in zip(counts.items(), COLOURS, strict=False):
        axes.barh(0, count / nodes, left=left, color=colour, label=kind)
        left += count / nodes
    axes.set_yticks([])
    axes.text(left, 0, f" {left:.0f}", verticalalignment="center")
    axes.legend(ncols=4, fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.7))


if __name__ == "__main__":
    main()
