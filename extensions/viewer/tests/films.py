"""Small runs as the command line leaves them, and traces that no run leaves, for the replay page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.trace.parquet import write_trace
from roambus.bridge.trace.schema import TRACE_SCHEMA
from roambus.command_line import commands

Row = dict[str, object]


def run(out: Path, *arguments: str) -> Path:
    """Runs `roambus run` over ideal links; the run's folder below `out`."""
    commands(["run", *arguments, "--backend", "ideal", "--out", str(out)], standalone_mode=False)
    (trace,) = out.rglob(TRACE_FILE)
    return trace.parent


def run_tree(out: Path, *arguments: str) -> Path:
    """MFT-PubSub in the template `tree`, a minute: a client moves, a partition, a crash, a freeze."""
    return run(out, "tree", "--agent", "mft", "--param", "tree=given", "--param", "link_layer=false", *arguments)


def run_moving(out: Path, agent: str, *arguments: str) -> Path:
    """Four of each role that move in a field, ten seconds."""
    settings = ["publishers=4", "subscribers=4", "brokers=4", "side=90", "speed=8", "time_limit=10", "publish_until=8"]
    pairs = [part for setting in settings for part in ("--set", setting)]
    return run(out, "thesis", "--agent", agent, *pairs, *arguments)


def write_rows(folder: Path, rows: Iterable[Row]) -> Path:
    """A trace that stands alone, with just these rows; returns the file."""
    path = folder / TRACE_FILE
    write_trace(pa.Table.from_pylist(list(rows), TRACE_SCHEMA), path, {})
    return path


def row(time_s: float, node: int, event: str, **fields: object) -> Row:
    """A row of a trace; columns not named are null."""
    return {"time_s": time_s, "node": node, "event": event, **fields}
