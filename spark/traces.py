"""Finds the traces of a sweep, tells sound files from damaged and missing ones, and reads them with Spark."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # the name that every text on Spark uses
from pyspark.sql.pandas.types import from_arrow_schema

from spark.layout import AGENT, SEED, SWEEP_FILE, TRACE_FILE, TRACES
from spark.metrics import RUN
from spark.schema import DETAIL, ENERGY, EVENT, PUBLISH, ROUTE, TRACE_SCHEMA


def find_traces(results: Path) -> list[Path]:
    """The trace files of all runs, in the order of their paths."""
    return sorted((results / TRACES).glob(f"{AGENT}=*/**/{SEED}=*/{TRACE_FILE}"))


def damage(file: Path) -> str | None:
    """What is wrong with a trace, read to its last page, in a line that names it; None for a sound one."""
    try:
        with pq.ParquetFile(file) as parquet:
            if not parquet.schema_arrow.equals(TRACE_SCHEMA):
                return f"{file}: its columns are not those of a trace: delete it and run the sweep again"
            if any(_is_nonsense(batch) for batch in parquet.iter_batches()):
                return f"{file}: a {PUBLISH}, {ROUTE} or {ENERGY} row whose {DETAIL} holds no numbers: mend its agent"
    except (OSError, pa.ArrowException) as error:
        return f"{file}: damaged ({str(error).splitlines()[0]}): delete it and run the sweep again"
    return None


def _is_nonsense(rows: pa.RecordBatch) -> bool:
    """Whether an agent's own notes put something else where the metrics need numbers."""
    numeric = pc.is_in(rows[EVENT], pa.array([PUBLISH, ROUTE, ENERGY]))
    readable = pc.match_substring_regex(pc.fill_null(rows[DETAIL], ""), r"^[0-9. ]*$")
    return bool(pc.any(pc.and_not(numeric, readable)).as_py())


def missing(results: Path, found: Sequence[Path]) -> list[str]:
    """A line for each run that `sweep.json` asks for and that is not among the trace files found."""
    file = results / SWEEP_FILE
    if not file.is_file():
        return []
    places = _places(json.loads(file.read_text(encoding="utf-8")))
    wanted = [results / TRACES / place / TRACE_FILE for place in places]
    there = set(found)
    return [f"{trace}: missing: run the sweep again to add it" for trace in wanted if trace not in there]


def _places(sweep: dict[str, Any]) -> list[str]:
    levels = {AGENT: list(sweep["agents"]), **sweep["axes"], SEED: sweep["seeds"]}
    named = [[f"{name}={value}" for value in values] for name, values in levels.items()]
    return ["/".join(place) for place in itertools.product(*named)]


def run_name(file: Path) -> str:
    """What tables call the run of a trace file: its folders from `agent=` on."""
    parts = file.parent.parts
    start = max(index for index, part in enumerate(parts) if part == TRACES)
    return "/".join(parts[start + 1 :])


def read_traces(session: SparkSession, files: Sequence[Path]) -> DataFrame:
    """The rows of all files; `run` is the URI of a row's file.

    It is the same for all rows of a file, and so costs nothing, as anything computed from it would.
    """
    rows = session.read.schema(from_arrow_schema(TRACE_SCHEMA)).parquet(*(str(file) for file in files))
    return rows.select(*TRACE_SCHEMA.names, F.col("_metadata.file_path").alias(RUN))


def file_of(uri: str) -> Path:
    """The file that Spark calls `uri`."""
    return Path(unquote(urlsplit(uri).path))
