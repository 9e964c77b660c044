"""The files that can be damaged, each with everything that reads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.foreign_files.damage import damage
from benchmarks.foreign_files.forged import forge_json, forge_table
from roambus.bridge.movement.extent import Extent
from roambus.bridge.movement.reader import read_movement
from roambus.bridge.record.rerun import rerun
from roambus.bridge.runs.layout import read_asked
from roambus.bridge.trace.reader import damage_of, read_trace
from roambus.command_line import commands
from roambus.experiments.export.exporter import Asked, export_results
from roambus.experiments.reporting.figure_files import all_figures, draw_figures
from roambus.experiments.reporting.report import write_report
from roambus.experiments.studies.reading import read_results
from roambus.experiments.sweeps.description import opened_results
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.render import render, template_variables
from roambus.experiments.viewer.show import page_of
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.aggregation.traces import find_traces, missing

RUN = "traces/agent=beacon/speed=1/seed=0"
"""The run whose files are damaged, below the results."""
SWEEP = """\
template = "mine.ini.j2"
seeds = 2
backend = "ideal"
[set]
time_limit = 4
[axes]
speed = [1, 2]
[agents]
beacon = {}
also = { use = "beacon", parameters = { rate = 2 } }
"""
TEMPLATE = """\
{% set nodes = nodes | default(3) -%}
{% set mobility = "waypoint" %}
{% include "field.ini.j2" %}
"""
MOVEMENTS = "".join(f"0.0 {n}.5 10.0 5.0 {n + 7} 12.5 20.0 3.25 {n}.0\n" for n in range(6))
SETDEST = "".join(
    f'$node_({n}) set X_ {n}.5\n$node_({n}) set Y_ 2.0\n$ns_ at {n}.5 "$node_({n}) setdest 9.0 {n}.0 1.5"\n'
    for n in range(6)
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A file below the results, found by a pattern, and what reads it, called with the folder of the results."""

    name: str
    file: str
    readers: tuple[Callable[[Path], object], ...]
    forge: Callable[[bytes, Random], bytes] = damage
    """What else can be done to the file than to damage it."""


def subjects() -> list[Subject]:
    """All kinds; those whose readers need Spark come last."""
    return [
        Subject("trace", f"{RUN}/trace.parquet", (_trace, _page, _page_again, _jsonl, _vec, _resume), forge_table),
        Subject("record", f"{RUN}/frames.roambus", (_page, _rerun)),
        Subject("ini", f"{RUN}/run.ini", (_page, _page_again)),
        Subject("radio file", f"{RUN}/CC2420.txt", (_page,)),
        Subject("sweep.json", "sweep.json", (read_asked, _missing, _planned, _report, _merge), forge_json),
        Subject("runs.parquet", "metrics/runs.parquet", (_planned, _report), forge_table),
        Subject("points.parquet", "metrics/points.parquet", (_planned, _report, _figures), forge_table),
        Subject("figure", "figures/messages*.svg", (_report,)),
        Subject("sweep file", "mine.toml", (_plan,)),
        Subject("template", "mine.ini.j2", (_render, _plan)),
        Subject("BonnMotion", "walk.movements", (_movement("walk.movements"),)),
        Subject("BonnMotion gz", "walk.movements.gz", (_movement("walk.movements.gz"),)),
        Subject("params", "walk.params", (_movement("walk.movements"),)),
        Subject("setdest", "walk.tcl", (_movement("walk.tcl"),)),
        Subject("scenario", "line.txt", (_transcribe,)),
    ]


def lay(folder: Path) -> None:
    """Makes the results, with everything that subjects need; a Spark session should be there."""
    import gzip  # noqa: PLC0415  # for this alone

    for name, text in {
        "mine.toml": SWEEP,
        "mine.ini.j2": TEMPLATE,
        "walk.movements": MOVEMENTS,
        "walk.tcl": SETDEST,
        "walk.params": "nn=6\nx=30.0\ny=30.0\nduration=600.0\n",
        "line.txt": "agent flooding ttl=3\nlinks n1-n2 n2-n3\nslot 9ms\n\n> n1 publishes e1\n> after 3ms n2 crashes\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "walk.movements.gz").write_bytes(gzip.compress(MOVEMENTS.encode()))
    _call("sweep", str(folder / "mine.toml"), "--workers", "1", "--out", str(folder))
    settings = [
        "--backend",
        "ideal",
        "--record",
        "--set",
        "time_limit=4",
        "--set",
        "speed=1",
        "--out",
        str(folder / "one"),
    ]
    _call("run", str(folder / "mine.ini.j2"), *settings)
    record = next((folder / "one").rglob("frames.roambus"))
    run = folder / RUN
    for file in record.parent.iterdir():
        shutil.copyfile(file, run / file.name)
    aggregate(folder)
    draw_figures(folder)
    write_report(folder)


@contextmanager
def damaged(file: Path, content: bytes) -> Iterator[None]:
    """Has the damaged content in the place of the file in the block."""
    whole = file.read_bytes()
    file.write_bytes(content)
    try:
        yield
    finally:
        file.write_bytes(whole)


def _call(*words: str) -> None:
    commands(list(words), standalone_mode=False)


def _run(folder: Path) -> Path:
    return folder / RUN


def _trace(folder: Path) -> object:
    """Whatever `damage_of` calls whole can be read."""
    file = _run(folder) / "trace.parquet"
    return None if damage_of(file) else read_trace(file).to_pylist()


def _page(folder: Path) -> object:
    return page_of([_run(folder)], print, again=False)


def _page_again(folder: Path) -> object:
    return page_of([_run(folder)], print, again=True)


def _rerun(folder: Path) -> object:
    return rerun(_run(folder) / "frames.roambus")


def _jsonl(folder: Path) -> object:
    return list(export_results(_run(folder), Asked(["jsonl"], folder / "exported")))


def _vec(folder: Path) -> object:
    return list(export_results(_run(folder), Asked(["vec"], folder / "exported")))


def _resume(folder: Path) -> object:
    return plan_runs(_sweep(folder), folder)


def _missing(folder: Path) -> object:
    return missing(folder, find_traces(folder))


def _figures(folder: Path) -> object:
    return draw_figures(folder)


def _report(folder: Path) -> object:
    return write_report(folder)


def _planned(folder: Path) -> object:
    """All figures up to their numbers; to draw them takes longer than everything else."""
    return [all_figures(found) for found in read_results(folder).sweeps]


def _sweep(folder: Path) -> Sweep:
    return read_sweep(str(folder / "mine.toml"))


def _merge(folder: Path) -> None:
    with opened_results(_sweep(folder), folder):
        pass


def _plan(folder: Path) -> object:
    return plan_runs(_sweep(folder), folder)


def _render(folder: Path) -> object:
    template = folder / "mine.ini.j2"
    template_variables(template)
    return render(template, {"seed": 1, "agent": "beacon", "agent_parameters": "", "speed": 1, "time_limit": 4})


def _movement(name: str) -> Callable[[Path], object]:
    extent = Extent(6, (30.0, 30.0), 10 * SECOND)
    return lambda folder: read_movement(folder / name, extent)


def _transcribe(folder: Path) -> object:
    from roambus.bridge.transcript.transcript import transcribe  # noqa: PLC0415  # for this alone

    return transcribe(folder / "line.txt")
