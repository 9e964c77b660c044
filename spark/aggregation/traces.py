"""Finds the traces of a sweep, tells sound from damaged and missing ones by their footers, and reads them with Spark.

The footer of a Parquet file has its columns, its number of rows and the run's key. Only if the columns are those of a
trace is it read further; the number of rows tells afterwards whether all of it could be read.

Hadoop takes the names of files for patterns, and knows no names but texts. So Spark on this machine gets numbered links
to the files, in a folder of its own: whatever a file system takes for a name is a name here, too. Executors of a
cluster find no such links. They get the names themselves, which must be texts, with the option that says that these are
no patterns.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses
from pyspark.sql.pandas.types import from_arrow_schema

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.runs.layout import (
    AGENT,
    AGENTS,
    FAILED_FILE,
    LOG_FILE,
    SEED,
    SEEDS,
    TRACE_FILE,
    TRACES,
    axes_of,
    count_runs,
    further_runs,
    read_asked,
)
from roambus.bridge.trace import parquet
from roambus.bridge.trace.parquet import DamagedTraceError
from roambus.bridge.trace.schema import RUN_KEY, TIME_S, TRACE_SCHEMA, WARM_UP
from roambus.spark.engine.session import is_remote
from roambus.spark.metrics.run_metrics import EARLY, RUN

NO_PATTERNS = {"__globPaths__": "false"}
"""Spark's own option by which it takes paths as they are (its DataSource.GLOB_PATHS_KEY)."""


@contextmanager
def readable_names(session: SparkSession, files: Sequence[Path]) -> Iterator[list[Path]]:
    """A name for each file, in their order, by which Spark finds it in the block; raises UserError, OSError."""
    if is_remote(session) or not (session.sparkContext.master or "").startswith("local"):
        yield [_text(file) for file in files]
        return
    own = session.sparkContext.getConf().get("spark.local.dir", "")  # the session's own folder is removed with it
    with TemporaryDirectory(prefix="roambus-traces-", dir=own if own and Path(own).is_dir() else None) as folder:
        links = [Path(folder, f"{number}.parquet") for number in range(len(files))]
        for link, file in zip(links, files, strict=True):
            link.symlink_to(file.absolute())
        yield links


def _text(file: Path) -> Path:
    try:
        str(file).encode()
    except UnicodeEncodeError:
        name = os.fsencode(file).decode(errors="backslashreplace")
        raise UserError(f"{name}: on a cluster Spark reads no file whose name is not UTF-8: rename it") from None
    return file.absolute()


MOST_NAMED = 1000
"""So many runs that are missing are named one by one."""
_FORMULAS, _NUMBER = ("=", "+", "-", "@", "\t", "\r"), re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
"""What a formula of a spreadsheet begins with, and what begins like one and is none."""
_WARM_UP_S = "warm_up_s"
_READERS = 8
"""How many threads read footers: what takes the time is opening files."""
_SKIP_DAMAGED = {
    "ignoreCorruptFiles": "true",
    "ignoreMissingFiles": "true",
    "parquet.page.verify-checksum.enabled": "true",
}
"""A damaged file gives fewer rows than its footer promises, instead of ending the whole job."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace file as its footer describes it. `run` is its place, `key` the run's (empty if the file has none)."""

    file: Path
    run: str
    key: str
    size: int
    modified_ns: int
    rows: int
    warm_up_s: float = 0.0
    """Nothing before it counts in metrics."""


def find_traces(results: Path) -> list[Path]:
    """The trace files of all runs, in the order of their paths."""
    return sorted((results / TRACES).glob(f"{AGENT}=*/**/{SEED}=*/{TRACE_FILE}"))


def examine(files: Sequence[Path]) -> tuple[list[Trace], dict[Path, str]]:
    """The traces that have the footer of one, and a line for each other file."""
    with ThreadPoolExecutor(_READERS) as readers:
        found = dict(zip(files, readers.map(_examine, files), strict=True))
    traces = [trace for trace in found.values() if isinstance(trace, Trace)]
    return traces, {file: line for file, line in found.items() if isinstance(line, str)}


def _examine(file: Path) -> Trace | str:
    try:
        return read_footer(file)
    except UserError as error:
        return str(error)


def read_footer(file: Path) -> Trace:
    """The trace without its rows; raises UserError if the file cannot be one."""
    try:
        run_name(file).encode()  # Python has stand-ins for bytes that are not UTF-8, and Spark has not
        _refuse_formulas(file)
        footer, status = parquet.read_footer(file), file.stat()
        warm_up_s = _warm_up_s(file, footer.metadata)
    except UnicodeEncodeError:
        raise UserError(f"{file}: the name of a folder is not UTF-8: rename it") from None
    except DamagedTraceError as error:
        raise UserError(f"{error}: {REMEDY}") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}: {REMEDY}") from None
    key = footer.metadata.get(RUN_KEY, "")
    return Trace(file, run_name(file), key, status.st_size, status.st_mtime_ns, footer.rows, warm_up_s)


def _refuse_formulas(file: Path) -> None:
    """Raises UserError for a name or value in the run's place that a spreadsheet would compute, and not show."""
    for text in (text for part in run_name(file).split("/") for text in part.split("=", 1)):
        if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text):
            raise UserError(f"{file}: in tables {text!r} would be a formula: remove or rename its folder")


def _warm_up_s(file: Path, metadata: Mapping[str, str]) -> float:
    """What metrics leave out at the beginning, in seconds; raises DamagedTraceError."""
    with suppress(ValueError):
        warm_up_s = float(metadata.get(WARM_UP, "0"))
        if 0 <= warm_up_s < math.inf:
            return warm_up_s
    raise DamagedTraceError(file, "damaged (its warm-up is no time)")


REMEDY = "run the sweep again to make it anew"


def damaged_pages(trace: Trace, rows_read: int) -> str:
    """The line for a trace of which Spark could read no more than `rows_read` rows."""
    if not trace.file.exists():
        return f"{trace.file}: vanished while it was read: run the sweep again to add it"
    return f"{trace.file}: damaged (only {rows_read} of its {trace.rows} rows can be read): {REMEDY}"


def missing(results: Path, found: Sequence[Path], again: str = "the same sweep") -> list[str]:
    """What to say of the runs that `sweep.json` asks for and that are not among the trace files found.

    A run that failed has a line of its own, for each can have failed of something else; it is not tried again unless
    that is asked for. All that were never made have one line: there can be as many as the sweep has, such as where two
    narrow sweeps into one folder have made a wide one of it. `again` is the command that makes them.
    """
    gone = list(absent(results, found))
    failed = [trace for trace in gone if trace.with_name(FAILED_FILE).is_file()]
    tried = set(failed)
    never = [trace for trace in gone if trace not in tried]
    lines = [
        f"{trace}: missing: it failed (see {trace.with_name(LOG_FILE)}): correct that, "
        "then run the sweep again with --retry-failed"
        for trace in failed[:MOST_NAMED]
    ]
    if len(failed) > MOST_NAMED:
        lines.append(f"{len(failed) - MOST_NAMED} more runs are missing that failed")
    if never:
        which = "1 run is" if len(never) == 1 else f"{len(never)} runs are"
        lines.append(f"{results}: {which} missing, such as {never[0].parent}: {again} adds what is missing")
    return lines


def absent(results: Path, found: Sequence[Path]) -> Iterator[Path]:
    """The trace of each run that `sweep.json` asks for and that is not among the trace files found."""
    asked = read_asked(results)
    there = set(found)
    for place in run_places(asked) if count_runs(asked) else ():
        if (trace := results / TRACES / place / TRACE_FILE) not in there:
            yield trace


def run_places(asked: Mapping[str, Any]) -> Iterator[str]:
    """The place of each run that a sweep was asked for, below the folder of its traces."""
    for agent in asked[AGENTS]:
        levels = {AGENT: [agent], **axes_of(asked, agent), SEED: asked[SEEDS]}
        named = [[f"{name}={value}" for value in values] for name, values in levels.items()]
        yield from map("/".join, itertools.product(*named))
    yield from (f"{point}/{SEED}={seed}" for point, seed in further_runs(asked))


def run_name(file: Path) -> str:
    """What tables call the run of a trace file: its folders from `agent=` on."""
    parts = file.parent.parts
    start = max(index for index, part in enumerate(parts) if part == TRACES)
    return "/".join(parts[start + 1 :])


def read_traces(session: SparkSession, files: Sequence[Path]) -> DataFrame:
    """The rows of all files, as far as they can be read; `run` is a number for each file, as `run_numbers` gives it.

    A file that is damaged or vanishes gives fewer rows than its footer promises, which the caller has to compare.
    """
    frames = session.read.schema(from_arrow_schema(TRACE_SCHEMA)).options(**_SKIP_DAMAGED, **NO_PATTERNS)
    rows = frames.parquet(*(str(file) for file in files))
    return rows.select(*TRACE_SCHEMA.names, _number().alias(RUN))


def mark_warm_ups(session: SparkSession, traces: DataFrame, warm_ups: Mapping[int, float]) -> DataFrame:
    """The rows with the column EARLY, if any run has a warm-up; `warm_ups` has seconds by the runs' numbers."""
    if not any(warm_ups.values()):
        return traces
    ends = session.createDataFrame(list(warm_ups.items()), f"{RUN} long, {_WARM_UP_S} double")
    marked = traces.join(F.broadcast(ends), RUN, "left")
    return marked.withColumn(EARLY, F.coalesce(F.col(TIME_S) < F.col(_WARM_UP_S), F.lit(False))).drop(_WARM_UP_S)


def _number() -> Column:
    """The number of the file that a row is in; to group by the file's long name would take several times as long."""
    return F.xxhash64("_metadata.file_path")


def run_numbers(session: SparkSession, files: Sequence[Path]) -> dict[int, Path]:
    """The files by the numbers that `read_traces` gives them; those that have vanished are left out.

    Raises RoambusError if two files have the same number.
    """
    frames = session.read.format("binaryFile").options(ignoreMissingFiles="true", **NO_PATTERNS)
    named = frames.load([str(file) for file in files]).select(_number(), "_metadata.file_path").collect()
    numbers = {number: Path(unquote(urlsplit(uri).path)) for number, uri in named}
    if len(numbers) < len(named):
        raise RoambusError(f"two of {len(named)} traces have the same number: aggregate them in two folders")
    return numbers
