"""The layout of a results folder: the names of its files and folders, and what its `sweep.json` says.

DIR/sweep.json                                      what was asked for
DIR/traces/agent=mft/speed=2/seed=0/trace.parquet   a run; between agent and seed a level for each axis
DIR/metrics/{runs,points}.{csv,parquet}             what `roambus.spark.aggregation.aggregate` makes of the traces
DIR/aggregated/*.parquet                            what `roambus.spark.aggregation.store` keeps for the next time
DIR/figures/*.{png,svg,txt,csv}, DIR/report.html    what `roambus.experiments` draws and writes from the metrics

`sweep.json` can be damaged, or a stranger's, so that everything in it is checked: whoever reads it by this module finds
what a sweep writes, and nothing else. Results that an earlier version made lack the keys that it did not know.

Tells a user that a file or a folder cannot be written, and what to do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roambus.bridge.errors import UserError
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
AGENT, SEED = "agent", "seed"
METRICS_FOLDER = "metrics"
STORE_FOLDER = "aggregated"
RUNS, POINTS = "runs", "points"
FIGURES_FOLDER = "figures"
REPORT_FILE = "report.html"

# What was asked for

STUDY, SWEEP = "study", "sweep"
"""The keys under which results name their study and their sweep; `sweep.json` of earlier versions lacks both."""
TEMPLATE, SET, AXES, AGENTS, SEEDS = "template", "set", "axes", "agents", "seeds"
MORE_SEEDS = "more_seeds"
"""The key under which some points have more seeds than the others: all below these numbers."""
PRECISION = "precision"
"""The key under which results name the options by which points got as many seeds as they needed."""
MOST_BYTES = 16 * 2**20
"""So large a file describes no sweep: its names and values are what a person, or a script, has written down."""

_RESTORE = "restore it, or delete it and run the sweep again"


def read_asked(results: Path) -> dict[str, Any]:
    """What `sweep.json` in this folder says, with each key checked; empty if there is none. Raises UserError."""
    file = results / SWEEP_FILE
    if not file.is_file():
        return {}
    sweep = _parsed(file)
    if not isinstance(sweep, dict):
        raise _wrong(file, "it describes no sweep")
    for key, check in _CHECKS.items():
        if key in sweep and not check(sweep[key]):
            raise _wrong(file, f"{key} is not what a sweep has there")
    return sweep


def count_runs(asked: Mapping[str, Any]) -> int | None:
    """How many runs the sweep was asked for; None if an earlier version did not write that down."""
    if not {AGENTS, AXES, SEEDS} <= asked.keys():
        return None
    everywhere: int = math.prod(map(len, (asked[AGENTS], *asked[AXES].values(), asked[SEEDS])))
    return everywhere + sum(int(count) - _below(asked, count) for count in asked.get(MORE_SEEDS, {}).values())


def further_runs(asked: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Point and seed of each run of points that have more seeds than the others."""
    everywhere = set(asked.get(SEEDS, ()))
    for point, count in asked.get(MORE_SEEDS, {}).items():
        yield from ((point, seed) for seed in range(count) if seed not in everywhere)


def _below(asked: Mapping[str, Any], count: int) -> int:
    """How many of the seeds of all points are below a number."""
    return sum(seed < count for seed in set(asked[SEEDS]))


def _parsed(file: Path) -> Any:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise _wrong(file, f"it is larger than {MOST_BYTES >> 20} MiB")
        return json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise _wrong(file, str(error)) from None


def _wrong(file: Path, problem: str) -> UserError:
    return UserError(f"{file}: {problem}: {_RESTORE}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or _is_text(value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str)


def _are_settings(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_scalar, value.values()))


def _are_axes(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(values, list) and all(map(_is_scalar, values)) for values in value.values()
    )


def _are_agents(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_agent, value.values()))


def _is_agent(value: object) -> bool:
    match value:
        case [str(), dict() as parameters]:
            return all(map(_is_scalar, parameters.values()))
        case _:
            return False


def _are_seeds(value: object) -> bool:
    return isinstance(value, list) and all(type(seed) is int and seed >= 0 for seed in value)


def _are_counts(value: object) -> bool:
    counts = value.values() if isinstance(value, dict) else [None]
    return all(type(count) is int and 0 <= count <= MOST_RUNS.most for count in counts)


_CHECKS = {
    STUDY: _is_text_or_none,
    SWEEP: _is_text,
    TEMPLATE: _is_text,
    SET: _are_settings,
    AXES: _are_axes,
    AGENTS: _are_agents,
    SEEDS: _are_seeds,
    MORE_SEEDS: _are_counts,
    PRECISION: _is_text,
}


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raises UserError, which names the file or folder, for any OSError while it is written in the block."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}: make room or give a folder you can write to") from None


def unlinked(folder: Path) -> Path:
    """The folder of ours in a results folder, which need not be there yet; raises UserError if it is a link.

    Results can come from a stranger, whose link could lead to any folder of the user's.
    """
    if folder.is_symlink():
        raise UserError(f"{folder}: this is a link, which is not followed: remove it, or put a folder there")
    return folder
