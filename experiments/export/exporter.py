"""Writes the files of an export: one for each run and format, and one dissector, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from roambus.bridge.agents.registry import UntrustedAgentError, load_agent_of_results
from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENTS, read_asked
from roambus.bridge.runs.run import errors_named
from roambus.bridge.runs.writing import unlinked
from roambus.bridge.unfinished_file import UnfinishedFile
from roambus.experiments.export.capture.dissector import dissector
from roambus.experiments.export.capture.recorded import capture_of, captures_of_nodes
from roambus.experiments.export.graph import graph_file
from roambus.experiments.export.json_lines import json_lines
from roambus.experiments.export.result_file import run_label
from roambus.experiments.export.runs import Export, find_runs
from roambus.experiments.export.scalars import scalar_file
from roambus.experiments.export.timeline import timeline
from roambus.experiments.export.vectors import vector_file
from roambus.experiments.studies.reading import find_extra, sweep_folders
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import Trace

SCALARS, VECTORS, JSON_LINES = "sca", "vec", "jsonl"
CAPTURE, CAPTURES, TIMELINE, GRAPH = "pcapng", "pcapng-nodes", "perfetto", "graphml"
DISSECTOR, DISSECTOR_FILE = "dissector", "roambus.lua"
EXPORT_FOLDER = "export"
"""The folder below the results, unless another one is asked for."""

_LONGEST_NAME, _KEPT_OF_LABEL = 240, 200
"""In bytes: file systems take 255, of which the hidden name of an unfinished file needs some."""

Content = Iterable[str] | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be written: the formats, the folder, if not the usual one, the time of graphs (s), and agents."""

    formats: Sequence[str]
    out: Path | None = None
    at_s: float | None = None
    agents: Sequence[str] = ()
    """The agents whose messages a dissector reads; those of the results unless some are named."""


def _one(ending: str, write: Callable[[Trace], Content]) -> Callable[[Trace, Asked], Iterator[tuple[str, Content]]]:
    """A format with one file for each run, whose name ends so."""

    def files(trace: Trace, _: Asked) -> Iterator[tuple[str, Content]]:
        yield ending, write(trace)

    return files


def _graph(trace: Trace, asked: Asked) -> Iterator[tuple[str, Content]]:
    moment = "" if asked.at_s is None else f",at={asked.at_s:g}"
    yield f"{moment}.{GRAPH}", graph_file(trace, asked.at_s)


_STREAMED = {
    VECTORS: _one(f".{VECTORS}", vector_file),
    JSON_LINES: _one(f".{JSON_LINES}", json_lines),
    CAPTURE: _one(f".{CAPTURE}", capture_of),
    CAPTURES: lambda trace, _: captures_of_nodes(trace),
    TIMELINE: _one(f".{TIMELINE}-trace", timeline),
    GRAPH: _graph,
}
"""Writes the files of a run, each with the end of its name."""


def export_results(path: Path, asked: Asked) -> Iterator[tuple[Path | None, str | None]]:
    """Writes `OUT/RUN.FORMAT` of the run, or of all runs, in `path`; yields each file, or what is wrong with a trace.

    Of a study with several sweeps, each has a folder: its own, or one of its name in `out`. Scalars need the metrics:
    those that no aggregation has computed yet are computed with Spark. Raises UserError if there is nothing to export,
    OSError if a file cannot be written.
    """
    exports = [find_runs(folder) for folder in sweep_folders(path)]
    for export in exports:
        if asked.out is None:
            folder = unlinked(export.results / EXPORT_FOLDER)
        else:
            folder = asked.out if len(exports) == 1 else asked.out / export.results.name
        yield from _export(export, asked, folder)


def _export(export: Export, asked: Asked, folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    folder.mkdir(parents=True, exist_ok=True)
    yield from ((None, problem) for problem in export.problems)
    for kind in asked.formats:
        if kind == DISSECTOR:
            yield write_dissector(export.results, asked.agents, folder)
        else:
            yield from _scalars(export, folder) if kind == SCALARS else _streamed(export.traces, folder, kind, asked)


def write_dissector(results: Path, named: Sequence[str], folder: Path) -> tuple[Path | None, str | None]:
    """The file, for agents that are named, or those of the results, of which only installed ones are run unasked."""
    agents = named or dict.fromkeys(use for use, _ in read_asked(results).get(AGENTS, {}).values())
    try:
        loaded = {agent: load_agent_of_results(agent, trusted=bool(named)) for agent in agents}
    except UntrustedAgentError as error:
        return None, f"{results}: {error}: no dissector is written; if you trust that code, name it with --agents"
    return _write(folder / DISSECTOR_FILE, dissector(loaded))


def _scalars(export: Export, folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    extra = find_extra(export.results)
    metrics, problems = metrics_of(export.results, export.traces, extra)
    for trace in export.traces:
        if trace.file in problems:
            yield None, problems[trace.file]
        else:
            measured = {str(name): value for name, value in metrics.loc[trace.run].items()}
            lines = scalar_file(trace, measured, extra.catalogue)
            yield _write(folder / _file_name(run_label(trace), f".{SCALARS}"), lines)


def _streamed(
    traces: Sequence[Trace], folder: Path, kind: str, asked: Asked
) -> Iterator[tuple[Path | None, str | None]]:
    for trace in traces:
        try:
            for ending, content in _STREAMED[kind](trace, asked):
                yield _write(folder / _file_name(run_label(trace), ending), content)
        except UserError as error:
            yield None, str(error)


def _write(path: Path, content: Content) -> tuple[Path | None, str | None]:
    """The file, or the line for a trace that turns out to be damaged."""
    try:
        with errors_named(path), UnfinishedFile(path) as unfinished:
            for part in content:
                unfinished.file.write(part if isinstance(part, bytes) else part.encode())
            unfinished.finish()
    except UserError as error:
        return None, str(error)
    return path, None


def _file_name(label: str, ending: str) -> str:
    """The name of a run's file: its label, or the beginning and a hash of one that no file system would take."""
    whole = f"{label}{ending}"
    if len(os.fsencode(whole)) <= _LONGEST_NAME:
        return whole
    digest = sha256(os.fsencode(label)).hexdigest()[:16]
    begin = os.fsdecode(os.fsencode(label)[:_KEPT_OF_LABEL]).encode(errors="ignore").decode()
    return f"{begin}-{digest}{ending}"
