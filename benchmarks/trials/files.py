"""Tries damaged and forged files: each reader works, or refuses them with one message, soon.

python -m benchmarks.trials files --trials 140 --seed 1 [--subject trace record]

Each damaged file is given to all of its readers, in this process. A reader may raise only roambus' own errors, with a
message and without a traceback in it; a warning is an error.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.trials.damage import damage, forge_json, forge_table
from benchmarks.trials.formats import INPUTS, lay_inputs
from benchmarks.trials.harness import Chapter, Outcome, TrialOptions, patience
from roambus.bridge.formats.format import Extent
from roambus.bridge.formats.movement import read_movement
from roambus.bridge.runs.layout import find_traces, read_asked
from roambus.bridge.system.errors import RoambusError
from roambus.bridge.trace.parquet import damage_of, read_trace
from roambus.bridge.transcript.transcript import transcribe
from roambus.command_line import commands
from roambus.experiments.reporting.figure_files import all_figures, draw_figures
from roambus.experiments.studies.study import read_results
from roambus.experiments.sweeps.request_file import opened_results
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import Sweep
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.experiments.templates.template import Template
from roambus.extensions.export import exporter
from roambus.extensions.recording.replay import rerun
from roambus.extensions.viewer.document import page_of
from roambus.extensions.viewer.report import write_report
from roambus.python_protocol.simtime import SECOND
from roambus.spark.aggregation.aggregate import aggregate
from roambus.spark.aggregation.traces import missing
from roambus.spark.engine.session import spark_session

PATIENCE_S = 20
"""So long may a call take; what it waits for is small."""
WORKED, REFUSED = "worked", "refused"
DAMAGED, FORGED = "damaged", "forged"
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


Reader = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Subject:
    """A file below the results, found by a pattern, and what reads it, called with the folder of the results."""

    name: str
    file: str
    readers: tuple[Reader, ...]
    forge: Callable[[bytes, Random], bytes] | None = None
    """Further harms to the file besides damage."""


def lay(folder: Path) -> None:
    """Makes the results, with everything that subjects need; a Spark session should be there."""
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
    settings = ["--set", "time_limit=4", "--set", "speed=1"]
    options = ["--backend", "ideal", "--record", "--out", str(folder / "one")]
    _call("run", str(folder / "mine.ini.j2"), *settings, *options)
    record = next((folder / "one").rglob("frames.roambus"))
    run = folder / RUN
    for file in record.parent.iterdir():
        shutil.copyfile(file, run / file.name)
    aggregate(folder)
    draw_figures(folder)
    write_report(folder)
    lay_inputs(folder, run)


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


def _trace(folder: Path) -> object:
    """Read a trace that `damage_of` calls whole."""
    file = folder / RUN / "trace.parquet"
    return None if damage_of(file) else read_trace(file).to_pylist()


def _page(folder: Path) -> object:
    return page_of([folder / RUN], print, again=False)


def _page_again(folder: Path) -> object:
    return page_of([folder / RUN], print, again=True)


def _exported(kind: str) -> Reader:
    return lambda folder: list(
        exporter.export_results(folder / RUN, exporter.ExportOptions([kind], folder / "exported"))
    )


def _planned(folder: Path) -> object:
    """All figures up to their numbers; to draw them takes longer than everything else."""
    return [all_figures(found) for found in read_results(folder).sweeps]


def _sweep(folder: Path) -> Sweep:
    return read_sweep(str(folder / "mine.toml"))


def _resume(folder: Path) -> object:
    return plan_runs(_sweep(folder), folder)


def _merge(folder: Path) -> None:
    with opened_results(_sweep(folder), folder):
        pass


def _render(folder: Path) -> object:
    return Template(folder / "mine.ini.j2").render(
        {"seed": 1, "agent": "beacon", "agent_parameters": "", "speed": 1, "time_limit": 4}
    )


def _movement(name: str) -> Reader:
    extent = Extent(6, (30.0, 30.0), 10 * SECOND)
    return lambda folder: read_movement(folder / name, extent)


_FORGERS = {"metadata of a crate": forge_json, "cache of metrics": forge_table}
SUBJECTS = (
    Subject(
        "trace",
        f"{RUN}/trace.parquet",
        (_trace, _page, _page_again, _exported("vec"), _resume),
        forge_table,
    ),
    Subject("record", f"{RUN}/frames.roambus", (_page, lambda folder: rerun(folder / RUN / "frames.roambus"))),
    Subject("ini", f"{RUN}/run.ini", (_page, _page_again)),
    Subject("radio file", f"{RUN}/CC2420.txt", (_page,)),
    Subject(
        "sweep.json",
        "sweep.json",
        (read_asked, lambda folder: missing(folder, find_traces(folder)), _planned, write_report, _merge),
        forge_json,
    ),
    Subject("runs.parquet", "metrics/runs.parquet", (_planned, write_report), forge_table),
    Subject("points.parquet", "metrics/points.parquet", (_planned, write_report, draw_figures), forge_table),
    Subject("figure", "figures/messages*.svg", (write_report,)),
    Subject("sweep file", "mine.toml", (_resume,)),
    Subject("template", "mine.ini.j2", (_render, _resume)),
    Subject("BonnMotion", "walk.movements", (_movement("walk.movements"),)),
    Subject("BonnMotion gz", "walk.movements.gz", (_movement("walk.movements.gz"),)),
    Subject("params", "walk.params", (_movement("walk.movements"),)),
    Subject("setdest", "walk.tcl", (_movement("walk.tcl"),)),
    Subject("scenario", "line.txt", (lambda folder: transcribe(folder / "line.txt"),)),
    *(Subject(name, file, (reader,), _FORGERS.get(name)) for name, file, reader in INPUTS),
)
"""All kinds."""


def judge(call: Callable[[], object]) -> tuple[str, list[str]]:
    """How the call of a reader ends, and what is wrong with that: a RoambusError with one message is a refusal."""
    try:
        with patience(PATIENCE_S), warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("error")
            call()
    except RoambusError as error:
        text = str(error)
        wrong = "an empty message" if not text.strip() else "a traceback in the message" if "Traceback" in text else ""
        return REFUSED, [f"{wrong}: {text[:300]!r}"] if wrong else []
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return REFUSED, [f"{type(error).__name__}: {str(error)[:200]} at {place.filename}:{place.lineno}"]
    return WORKED, []


def _try(folder: Path, subject: Subject, asked: TrialOptions) -> Iterator[Outcome]:
    """Damages the file so many times, and has all its readers read each."""
    for reader in subject.readers:
        reader(folder)  # undamaged, everything works: what is refused below is refused for its damage
    file = sorted(folder.glob(subject.file))[0]
    whole, random = file.read_bytes(), asked.random(subject.name)
    ways = {DAMAGED: damage, FORGED: subject.forge}
    chosen = [(harm, way) for harm, way in ways.items() if way is not None and harm in asked.harms]
    for number in range(asked.trials if chosen else 0):
        harm, way = random.choice(chosen)
        with damaged(file, way(whole, random)):
            for place, reader in enumerate(subject.readers):
                start = time.monotonic()
                end, complaints = judge(partial(reader, folder))
                problems = [f"file {number}, reader {place}: {complaint}" for complaint in complaints]
                yield Outcome(subject.name, harm, end, problems, took_s=time.monotonic() - start)


def _run_chapter(asked: TrialOptions) -> Iterator[Outcome]:
    with spark_session("local[1]"):
        lay(asked.folder)
        for subject in SUBJECTS:
            if subject.name in asked.subjects:
                yield from _try(asked.folder, subject, asked)


CHAPTER = Chapter(_run_chapter, [subject.name for subject in SUBJECTS], (DAMAGED, FORGED), trials=140)
