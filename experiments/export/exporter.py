"""Writes the files of an export: one for each run and format, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.run import errors_named
from roambus.bridge.runs.writing import unlinked
from roambus.bridge.unfinished_file import UnfinishedFile
from roambus.experiments.export.json_lines import json_lines
from roambus.experiments.export.result_file import run_label
from roambus.experiments.export.runs import Export, find_runs
from roambus.experiments.export.scalars import scalar_file
from roambus.experiments.export.vectors import vector_file
from roambus.experiments.studies.reading import find_extra, sweep_folders
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import Trace

SCALARS, VECTORS, JSON_LINES = "sca", "vec", "jsonl"
EXPORT_FOLDER = "export"
"""The folder below the results, unless another one is asked for."""

_LONGEST_NAME, _KEPT_OF_LABEL = 240, 200
"""In bytes: file systems take 255, of which the hidden name of an unfinished file needs some."""

_STREAMED = {VECTORS: vector_file, JSON_LINES: json_lines}


def export_results(path: Path, formats: Sequence[str], out: Path | None) -> Iterator[tuple[Path | None, str | None]]:
    """Writes `OUT/RUN.FORMAT` of the run, or of all runs, in `path`; yields each file, or what is wrong with a trace.

    Of a study with several sweeps, each has a folder: its own, or one of its name in `out`. Scalars need the metrics:
    those that no aggregation has computed yet are computed with Spark. Raises UserError if there is nothing to export,
    OSError if a file cannot be written.
    """
    exports = [find_runs(folder) for folder in sweep_folders(path)]
    for export in exports:
        if out is None:
            folder = unlinked(export.results / EXPORT_FOLDER)
        else:
            folder = out if len(exports) == 1 else out / export.results.name
        yield from _export(export, formats, folder)


def _export(export: Export, formats: Sequence[str], folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    folder.mkdir(parents=True, exist_ok=True)
    yield from ((None, problem) for problem in export.problems)
    for kind in formats:
        yield from _scalars(export, folder) if kind == SCALARS else _streamed(export.traces, folder, kind)


def _scalars(export: Export, folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    extra = find_extra(export.results)
    metrics, problems = metrics_of(export.results, export.traces, extra)
    for trace in export.traces:
        if trace.file in problems:
            yield None, problems[trace.file]
        else:
            measured = {str(name): value for name, value in metrics.loc[trace.run].items()}
            yield _write(folder, trace, SCALARS, scalar_file(trace, measured, extra.catalogue))


def _streamed(traces: Sequence[Trace], folder: Path, kind: str) -> Iterator[tuple[Path | None, str | None]]:
    for trace in traces:
        yield _write(folder, trace, kind, _STREAMED[kind](trace))


def _write(folder: Path, trace: Trace, kind: str, lines: Iterable[str]) -> tuple[Path | None, str | None]:
    """The file, or the line for a trace that turns out to be damaged."""
    path = folder / _file_name(run_label(trace), kind)
    try:
        with errors_named(path), UnfinishedFile(path) as unfinished:
            for line in lines:
                unfinished.file.write(line.encode())
            unfinished.finish()
    except UserError as error:
        return None, str(error)
    return path, None


def _file_name(label: str, kind: str) -> str:
    """The name of a run's file: its label, or the beginning and a hash of one that no file system would take."""
    whole = f"{label}.{kind}"
    if len(os.fsencode(whole)) <= _LONGEST_NAME:
        return whole
    digest = sha256(os.fsencode(label)).hexdigest()[:16]
    begin = os.fsdecode(os.fsencode(label)[:_KEPT_OF_LABEL]).encode(errors="ignore").decode()
    return f"{begin}-{digest}.{kind}"
