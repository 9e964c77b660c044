"""The layout of a results folder: the names of its files and folders, and what its `sweep.json` says.

DIR/sweep.json                                      what was asked for
DIR/traces/agent=mft/speed=2/seed=0/trace.parquet   a run; between agent and seed a level for each axis
DIR/metrics/{runs,points}.{csv,parquet}             what `roambus.spark.aggregation.aggregate` makes of the traces
DIR/aggregated/*.parquet                            what `roambus.spark.aggregation.store` keeps for the next time
DIR/figures/*.{png,svg,txt,csv}, DIR/report.html    what `roambus.experiments` draws and writes from the metrics

`sweep.json` can be damaged, or a stranger's, so that everything in it is checked: whoever reads it by this module finds
what a sweep writes, and nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.files import read_bounded
from roambus.bridge.limits import RUNS as MOST_RUNS

SWEEP_FILE = "sweep.json"
TRACES = "traces"
TRACE_FILE, LOG_FILE, FAILED_FILE = "trace.parquet", "run.log", "failed"
INI_FILE = "run.ini"
"""The run's ini, which Castalia reads."""
RECORD_FILE = "frames.roambus"
"""What crossed between host and back-end, if the run kept it."""
SIMULATOR_LOG = "simulator.log"
"""What the simulator printed."""
SIMULATOR_FOLDER = ".roambus"
"""What the simulator needs, which is there only while the host waits or runs."""
NODES_FOLDER = "nodes"
"""The journals of the nodes of a live run, which are there until they are collected."""
AGENT, SEED = "agent", "seed"
METRICS_FOLDER = "metrics"
STORE_FOLDER = "aggregated"
RUNS, POINTS = "runs", "points"
FIGURES_FOLDER = "figures"
AGENTS_FOLDER = "agents"
"""The files of agents that were given as classes."""
REPORT_FILE = "report.html"

# Where runs lie


def run_folder(point: str, seed: int) -> Path:
    """The folder of a run below its results; `point` is such as "agent=mft/speed=2"."""
    return Path(TRACES, point, f"{SEED}={seed}")


def files_of_runs(results: Path, name: str) -> list[Path]:
    """The files of that name of all runs, in the order of their paths."""
    return sorted((results / TRACES).glob(f"{AGENT}=*/**/{SEED}=*/{name}"))


def find_traces(results: Path) -> list[Path]:
    """The trace files of all runs, in the order of their paths."""
    return files_of_runs(results, TRACE_FILE)


def run_name(file: Path) -> str:
    """What tables call the run of a file in its folder: its folders from `agent=` on; raises ValueError."""
    parts = file.parent.parts
    return "/".join(parts[len(parts) - parts[::-1].index(TRACES) :])


def levels_of(run: str) -> dict[str, str]:
    """The names and values of a run's folders: agent, axes, seed."""
    return dict(level.split("=", 1) for level in run.split("/"))


# The request

STUDY, SWEEP = "study", "sweep"
"""The keys under which results name their study and their sweep."""
TEMPLATE, SET, AXES, AGENTS, SEEDS = "template", "set", "axes", "agents", "seeds"
MORE_SEEDS = "more_seeds"
"""The key under which some points have more seeds than the others: all below these numbers."""
PARAMETERS = "parameter_axes"
"""The key under which axes that vary a parameter of agents name the agents that have it."""
LACKING = "-"
"""The value that a run has on such an axis if its agent has no such parameter."""
PRECISION = "precision"
"""The key under which results name the options by which points got as many seeds as they needed."""
MEASURE = "measure"
"""The key under which results name what the sweep measures beside the metrics of every run."""
TITLES = "titles"
"""The key under which results have the names of agents for readers, by their labels."""
ORACLE = "oracle_subscribers"
"""The key under which results name the agents that the scenario tells who the subscribers are."""
MOST_BYTES = 16 * 2**20
"""So large a file describes no sweep: its names and values are what a person, or a script, has written down."""

_RESTORE = "restore it, or delete it and run the sweep again"


def read_asked(results: Path) -> dict[str, Any]:
    """What `sweep.json` in this folder says, with each key checked; empty if there is none. Raises UserError."""
    file = results / SWEEP_FILE
    if not file.is_file():
        return {}
    try:
        with file.open("rb") as opened:
            content = read_bounded(opened, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise _wrong(file, f"it is larger than {MOST_BYTES >> 20} MiB")
        sweep = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise _wrong(file, str(error)) from None
    if not isinstance(sweep, dict):
        raise _wrong(file, "it describes no sweep")
    for key, shape in _SHAPES.items():
        if key in sweep and not _fits(sweep[key], shape):
            raise _wrong(file, f"{key} is not what a sweep has there")
    return sweep


def count_runs(asked: Mapping[str, Any]) -> int | None:
    """The number of runs that the sweep requested; None if the results do not say."""
    if not {AGENTS, AXES, SEEDS} <= asked.keys():
        return None
    everywhere = sum(math.prod(map(len, axes_of(asked, agent).values())) for agent in asked[AGENTS]) * len(asked[SEEDS])
    counts: Iterable[int] = asked.get(MORE_SEEDS, {}).values()
    return everywhere + sum(count - sum(1 for seed in set(asked[SEEDS]) if seed < count) for count in counts)


def axes_of(asked: Mapping[str, Any], agent: str) -> dict[str, list[str]]:
    """The values on each axis at which an agent of the sweep runs: only `LACKING` where it lacks the parameter."""
    owners = asked.get(PARAMETERS, {})
    return {
        axis: list(map(str, values)) if agent in owners.get(axis, asked[AGENTS]) else [LACKING]
        for axis, values in asked[AXES].items()
    }


def further_runs(asked: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Point and seed of each run of points that have more seeds than the others."""
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
}
"""What stands under each key: values of a type, an object or a list of such, a list of just these, or what a function
says. Numbers are told by `type`, for to `isinstance` truth values are integers."""


def _fits(value: object, shape: Any) -> bool:
    match shape:
        case dict():
            return isinstance(value, dict) and all(_fits(one, shape[_EACH]) for one in value.values())
        case [each]:
            return isinstance(value, list) and all(_fits(one, each) for one in value)
        case [*parts]:
            return isinstance(value, list) and len(value) == len(parts) and all(map(_fits, value, parts))
        case FunctionType():
            return bool(shape(value))
    return isinstance(value, shape)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raises UserError, which names the file or folder, for any OSError while it is written in the block."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}: make room or give a folder you can write to") from None


def unlinked(folder: Path) -> Path:
    """Our folder in a results folder, which need not be there yet; raises UserError if it is a link.

    Results can come from a stranger, whose link could lead to any folder of the user's.
    """
    if folder.is_symlink():
        raise UserError(f"{folder}: this is a link, which roambus does not follow: remove it, or put a folder there")
    return folder


def unlinked_below(results: Path, place: Path) -> Path:
    """The folder or file at `place` below `results`, a folder of the user's own choice, which may be a link itself.

    Raises UserError if any folder on the way down is one: whoever replaces files there would replace somebody else's.
    So it does for a file that stands in place of a folder.
    """
    for depth in range(1, len(place.parts)):
        if unlinked(results.joinpath(*place.parts[:depth])).is_file():
            raise UserError(
                f"{results.joinpath(*place.parts[:depth])}: this is a file, in the place of a folder of results"
            )
    return results / place
