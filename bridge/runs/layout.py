"""The layout of a results folder: its files and folders, and the schema of `sweep.json`.

DIR/sweep.json                                      the request
DIR/traces/agent=mft/speed=2/seed=0/trace.parquet   a run; a level for each axis
DIR/metrics/{runs,points}.{csv,parquet}             by `roambus.spark.aggregation.aggregate`
DIR/aggregated/*.parquet                            cache of `roambus.spark.aggregation.store`
DIR/figures/*.{png,svg,txt,csv}, DIR/report.html    by `roambus.experiments`
DIR/inputs/HASH/*                                   the user's templates, sweep files and metrics

`sweep.json` can be damaged or a stranger's, so every key is checked here.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import check_writable, open_regular, read_bounded
from roambus.bridge.system.limits import RUNS as MOST_RUNS

SWEEP_FILE = "sweep.json"
TRACES = "traces"
TRACE_FILE, LOG_FILE, FAILED_FILE = "trace.parquet", "run.log", "failed"
INI_FILE = "run.ini"
"""The run's ini, which Castalia reads."""
RECORD_FILE = "frames.roambus"
"""The recorded frames between host and back-end, if kept."""
SIMULATOR_LOG = "simulator.log"
"""The simulator's output."""
SIMULATOR_FOLDER = ".roambus"
"""The simulator's files, there only while the host waits or runs."""
NODES_FOLDER = "nodes"
"""The journals of live nodes, until they are collected."""
AGENT, SEED = "agent", "seed"
METRICS_FOLDER = "metrics"
STORE_FOLDER = "aggregated"
RUNS, POINTS = "runs", "points"
FIGURES_FOLDER = "figures"
INPUTS_FOLDER = "inputs"
"""The user's templates, sweep files and metrics, a folder for each set of contents."""
AGENTS_FOLDER = "agents"
"""The files of agents given as classes."""
REPORT_FILE = "report.html"

# Where runs lie


def run_folder(point: str, seed: int) -> Path:
    """A run's folder below its results; `point` is such as "agent=mft/speed=2"."""
    return Path(TRACES, point, f"{SEED}={seed}")


def files_of_runs(results: Path, name: str) -> list[Path]:
    """All runs' files of that name, in path order."""
    return sorted((results / TRACES).glob(f"{AGENT}=*/**/{SEED}=*/{name}"))


def find_traces(results: Path) -> list[Path]:
    """All runs' trace files, in path order."""
    return files_of_runs(results, TRACE_FILE)


def run_name(file: Path) -> str:
    """A run's name in tables: its folders from `agent=` on; raises ValueError."""
    parts = file.parent.parts
    return "/".join(parts[len(parts) - parts[::-1].index(TRACES) :])


def levels_of(run: str) -> dict[str, str]:
    """Names and values of a run's folders: agent, axes, seed."""
    return dict(level.split("=", 1) for level in run.split("/"))


# The request

STUDY, SWEEP = "study", "sweep"
"""The keys of a study's and a sweep's name."""
TEMPLATE, SET, AXES, AGENTS, SEEDS = "template", "set", "axes", "agents", "seeds"
MORE_SEEDS = "more_seeds"
"""The key for points with more seeds than the others: all below these numbers."""
PARAMETERS = "parameter_axes"
"""The key that lists, for each axis of an agent parameter, the agents that have it."""
LACKING = "-"
"""The value on such an axis of agents without the parameter."""
PRECISION = "precision"
"""The key for the options by which points got as many seeds as they needed."""
MEASURE = "measure"
"""The key for measures beside every run's metrics."""
TITLES, AXIS_TITLES = "titles", "axis_titles"
"""The keys for agents' display names, by label, and for the axes' titles."""
ORACLE = "oracle_subscribers"
"""The key for agents that learn the subscribers from the scenario."""
VALUES = "values"
"""The key for values of axes whose folders have other names: by axis and name."""
TEMPLATE_HASH = "template_sha256"
"""The key for a hash of the text of the template and its parts."""
BACKEND, LEVEL, RECORD = "backend", "level", "record"
"""The keys for how the runs were made: the back-end, the level of their traces, and whether frames are recorded."""
MOST_BYTES = 16 * 2**20
"""A larger file describes no sweep."""

_RESTORE = "restore it, or delete it and run the sweep again"


def read_asked(results: Path) -> dict[str, Any]:
    """Read this folder's `sweep.json`, every key checked; empty without one. Raises UserError."""
    file = results / SWEEP_FILE
    if not os.path.lexists(file):
        return {}
    try:
        with open_regular(file) as opened:
            content = read_bounded(opened, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise _wrong(file, f"it is larger than {MOST_BYTES >> 20} MiB")
        sweep: dict[str, Any] = json.loads(content.decode())
    except OSError as error:
        raise _wrong(file, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _wrong(file, str(error)) from None
    _check(file, sweep)
    return sweep


def _check(file: Path, sweep: Any) -> None:
    if not isinstance(sweep, dict):
        raise _wrong(file, "it describes no sweep")
    for key, shape in _SHAPES.items():
        if key in sweep and not _fits(sweep[key], shape):
            raise _wrong(file, f"{key} is not what a sweep has there")
    shown = [list(sweep.get(AGENTS, ())), *map(sweep.get, (STUDY, SWEEP, AXES, TITLES, AXIS_TITLES))]
    try:
        check_writable(json.dumps(shown, ensure_ascii=False))  # figures cannot draw half a character
    except ValueError as error:
        raise _wrong(file, str(error)) from None


def count_runs(asked: Mapping[str, Any]) -> int | None:
    """The number of runs requested; None if unknown."""
    if not {AGENTS, AXES, SEEDS} <= asked.keys():
        return None
    everywhere = sum(math.prod(map(len, axes_of(asked, agent).values())) for agent in asked[AGENTS]) * len(asked[SEEDS])
    counts: Iterable[int] = asked.get(MORE_SEEDS, {}).values()
    return everywhere + sum(count - sum(1 for seed in set(asked[SEEDS]) if seed < count) for count in counts)


def axes_of(asked: Mapping[str, Any], agent: str) -> dict[str, list[str]]:
    """An agent's values on each axis: only `LACKING` without the parameter."""
    owners = asked.get(PARAMETERS, {})
    return {
        axis: list(map(str, values)) if agent in owners.get(axis, asked[AGENTS]) else [LACKING]
        for axis, values in asked[AXES].items()
    }


def further_runs(asked: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Point and seed of each run beyond the common seeds."""
    everywhere = set(asked.get(SEEDS, ()))
    for point, count in asked.get(MORE_SEEDS, {}).items():
        yield from ((point, seed) for seed in range(count) if seed not in everywhere)


def _wrong(file: Path, problem: str) -> UserError:
    return UserError(f"{file}: {problem}: {_RESTORE}")


_EACH = "each"
_SCALAR = int | float | str
_SHAPES: dict[str, Any] = {
    STUDY: str | None,
    SWEEP: str,
    TEMPLATE: str,
    SET: {_EACH: _SCALAR},
    AXES: {_EACH: [_SCALAR]},
    AGENTS: {_EACH: [str, {_EACH: _SCALAR}]},
    # Functions where a type does not say enough: seeds are not negative, and counts are within the limit on runs.
    SEEDS: [lambda value: type(value) is int and value >= 0],
    MORE_SEEDS: {_EACH: lambda value: type(value) is int and 0 <= value <= MOST_RUNS.most},
    PARAMETERS: {_EACH: [str]},
    PRECISION: str,
    MEASURE: [str],
    ORACLE: [str],
    TITLES: {_EACH: str},
    AXIS_TITLES: {_EACH: str},
    BACKEND: str,
    LEVEL: str,
    RECORD: bool,
    VALUES: {_EACH: {_EACH: str}},
    TEMPLATE_HASH: str,
}
"""The schema of each key: a type, an object or list of such, fixed values, or a function's check. Numbers are checked
by `type`, for `isinstance` counts truth values as integers."""


def _fits(value: object, shape: Any) -> bool:
    match shape:
        case dict():
            return isinstance(value, dict) and all(_fits(element, shape[_EACH]) for element in value.values())
        case [each]:
            return isinstance(value, list) and all(_fits(element, each) for element in value)
        case [*parts]:
            return isinstance(value, list) and len(value) == len(parts) and all(map(_fits, value, parts))
        case FunctionType():
            return bool(shape(value))
    return isinstance(value, shape)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn an OSError in the block into a UserError that names the file or folder."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}: make room or give a folder you can write to") from None


def unlinked(folder: Path) -> Path:
    """Our folder in results, perhaps absent; raises UserError for a link.

    A stranger's link could lead to any folder of the user's.
    """
    if folder.is_symlink():
        raise UserError(f"{folder}: this is a link, which roambus does not follow: remove it, or put a folder there")
    return folder


def unlinked_below(results: Path, place: Path) -> Path:
    """The path `place` below `results`, which may itself be a link.

    Raises UserError for a link on the way, which could replace files elsewhere, and for a file in place of a folder.
    """
    for depth in range(1, len(place.parts)):
        if unlinked(results.joinpath(*place.parts[:depth])).is_file():
            raise UserError(
                f"{results.joinpath(*place.parts[:depth])}: this is a file, in the place of a folder of results"
            )
    return results / place


def unlinked_run(folder: Path) -> None:
    """Raise UserError for a link among a run's files, or on the way to them from its results.

    Its ini names files beside it, whose lines messages show: a stranger's link could lead to any of the user's.
    """
    parts = folder.parts
    levels = parts[len(parts) - parts[::-1].index(TRACES) - 1 :] if TRACES in parts else ()
    unlinked_below(folder.parents[len(levels) - 1] if levels else folder, Path(*levels, TRACE_FILE))
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            unlinked(Path(place, name))
