"""The crashes of results, as sentences for captions and heads.

They give the settings, the pairs that do not count, and the runs without a publication after the crash. A crash takes
publishers and subscribers alike, so a rate can rise with the share of nodes that crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roambus.bridge.runs.layout import AGENT, SET, find_traces, levels_of, run_name
from roambus.bridge.trace.schema import CRASH, EVENT, PUBLISH, TIME_S
from roambus.experiments.measurements import Measurements
from roambus.spark.metrics.catalogue import down_for_good

_MOST_NAMES = 4
"""The most runs that a caption names."""


def crashes(measured: Measurements, folder: Path | None) -> str:
    """Some sentences for captions and heads on the crashes of these runs; empty if no node crashes."""
    settings = dict(_settings(measured))
    counts = measured.runs.get(down_for_good.column)
    pairs = 0 if counts is None else int(counts.sum())
    if not pairs and not settings:
        return ""
    found = {file: _times(file, file.stat().st_mtime_ns) for file in find_traces(folder)} if folder else {}
    crashed = {file: times for file, times in found.items() if times}
    if not pairs and not crashed:
        return ""
    runs = f" in {len(crashed):,} of {len(found):,} runs" if found else ""
    given = "; ".join(f"{name} {text}" for name, text in settings.items())
    return " ".join(
        [
            f"Nodes crash{runs}{f' ({given})' if given else ''}.",
            f"Pairs of a node that stays down are not expected ({pairs:,}).",
            *_silent([file for file, times in crashed.items() if not times[1] > times[0]]),
        ]
    )


def _settings(measured: Measurements) -> Iterator[tuple[str, str]]:
    given = {**measured.sweep.get(SET, {}), **{axis: ", ".join(measured.values(axis)) for axis in measured.axes}}
    yield from ((name, str(value)) for name, value in given.items() if name.startswith(("crash_", "recover_")))


def _silent(files: list[Path]) -> Iterator[str]:
    """The sentence on runs in which nothing was published after the first crash; all agents have the same ones."""
    names = dict.fromkeys(_place(file) for file in files)
    if names:
        further = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        shown = "; ".join([*names][:_MOST_NAMES])
        yield f"The means hold runs in which nothing was published after the crash: {shown}{further}."


def _place(file: Path) -> str:
    return ", ".join(f"{name} {value}" for name, value in levels_of(run_name(file)).items() if name != AGENT)


@cache
def _times(file: Path, _changed_ns: int) -> tuple[float, float] | None:
    """The first crash and the last publication of a run (s); None without a crash, or of a damaged trace."""
    try:
        rows = pq.read_table(
            file, columns=[TIME_S, EVENT], filters=[(EVENT, "in", [CRASH, PUBLISH])], partitioning=None
        ).to_pandas()
    except (OSError, pa.ArrowException, ValueError):
        return None
    crash, last = rows[TIME_S][rows[EVENT] == CRASH].min(), rows[TIME_S][rows[EVENT] == PUBLISH].max()
    return (float(crash), float(last)) if crash >= 0 else None  # NaN without a publication
