"""Writes an export: a file for each run and format, and one dissector, whole or not at all.

Functions here yield a file, or a line for a damaged run; they raise only errors that concern all runs. Content is
streamed, since a trace can exceed memory. Results are untrusted: links below them are not followed, long names are
shortened, and an agent that is not installed runs only if named. Spark computes the scalars of all runs at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from roambus.bridge.agents import UntrustedAgentError, load_agent_of_results
from roambus.bridge.runs.layout import AGENTS, read_asked, unlinked
from roambus.bridge.runs.run import errors_named
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile, remove_unfinished
from roambus.experiments.studies.study import find_extra, sweep_folders
from roambus.extensions.export.capture import capture_of
from roambus.extensions.export.dissector import dissector
from roambus.extensions.export.latex import Chosen, latex_files
from roambus.extensions.export.result_files import run_label, scalar_file, vector_file
from roambus.extensions.export.runs import Export, find_runs
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import Trace

SCALARS, VECTORS, CAPTURE = "sca", "vec", "pcapng"
DISSECTOR, DISSECTOR_FILE = "dissector", "roambus.lua"
LATEX = "latex"
EXPORT_FOLDER = "export"
"""The default folder, below the results."""

_LONGEST_NAME, _KEPT_OF_LABEL = 240, 200
"""In bytes: file systems take 255; a longer name keeps room for hash and ending."""

Content = Iterable[str] | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The formats, the folder, if not the usual one, and agents."""

    formats: Sequence[str]
    out: Path | None = None
    agents: Sequence[str] = ()
    """The agents whose messages a dissector reads; by default those of the results."""
    latex: Chosen = field(default_factory=Chosen)
    """The figures of the format latex."""
    measure: Sequence[str] = ()
    """The files and packages of the user's own metrics."""


def export_results(path: Path, asked: ExportOptions) -> Iterator[tuple[Path | None, str | None]]:
    """Write `OUT/RUN.FORMAT` of each run in `path`; yield each file, or a line for a damaged trace.

    Each sweep of a study has a folder. Scalars need the metrics; Spark computes missing ones. Raise UserError if there
    is nothing to export, OSError for an unwritable file.
    """
    exports = [find_runs(folder) for folder in sweep_folders(path)]
    for export in exports:
        if asked.out is None:
            folder = unlinked(export.results / EXPORT_FOLDER)
        else:
            folder = asked.out if len(exports) == 1 else unlinked(asked.out / export.results.name)
        yield from _export(export, asked, folder)


def _export(export: Export, asked: ExportOptions, folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    folder.mkdir(parents=True, exist_ok=True)
    yield from ((None, problem) for problem in export.problems)
    for kind in asked.formats:
        if kind == DISSECTOR:
            yield write_dissector(export.results, asked.agents, folder)
        elif kind == LATEX:
            yield from (_write(folder / name, lines) for name, lines in latex_files(export.results, asked.latex))
        else:
            yield from (_scalars(export, folder, asked) if kind == SCALARS else _streamed(export.traces, folder, kind))


def write_dissector(results: Path, named: Sequence[str], folder: Path) -> tuple[Path | None, str | None]:
    """Write the file for the named agents, or the results' agents if all are installed."""
    agents = named or dict.fromkeys(use for use, _ in read_asked(results).get(AGENTS, {}).values())
    try:
        loaded = {agent: load_agent_of_results(agent, trusted=bool(named)) for agent in agents}
    except UntrustedAgentError as error:
        return None, f"{results}: {error}: no dissector is written; if you trust that code, name it with --agents"
    folder.mkdir(parents=True, exist_ok=True)
    return _write(folder / DISSECTOR_FILE, dissector(loaded))


def _scalars(export: Export, folder: Path, asked: ExportOptions) -> Iterator[tuple[Path | None, str | None]]:
    """Return each run's metrics with its study's; a damaged trace has its line."""
    extra = find_extra(export.results, measure=asked.measure)
    metrics, problems = metrics_of(export.results, export.traces, extra)
    for trace in export.traces:
        if trace.file in problems:
            yield None, problems[trace.file]
        else:
            measured = {str(name): value for name, value in metrics.loc[trace.run].items()}
            lines = scalar_file(trace, measured, extra.metrics)
            yield _write(folder / _file_name(run_label(trace), f".{SCALARS}"), lines)


def _streamed(traces: Sequence[Trace], folder: Path, kind: str) -> Iterator[tuple[Path | None, str | None]]:
    """Write the files of a format that needs one trace at a time.

    A run can lack the format's input, such as a record.
    """
    for trace in traces:
        yield _write(folder / _file_name(run_label(trace), f".{kind}"), _STREAMS[kind](trace))


def _write(path: Path, content: Content) -> tuple[Path | None, str | None]:
    try:
        remove_unfinished(path)  # of an export that was killed while it wrote the same file
        with errors_named(path), UnfinishedFile(path) as unfinished:
            for part in content:
                unfinished.file.write(part if isinstance(part, bytes) else part.encode())
            unfinished.finish()
    except UserError as error:
        return None, str(error)
    return path, None


def _file_name(label: str, ending: str) -> str:
    """Return the run's label; if too long, its beginning and a hash."""
    # Bytes are counted and not characters, and a cut may fall into one: what is left of that character goes.
    whole = f"{label}{ending}"
    if len(os.fsencode(whole)) <= _LONGEST_NAME:
        return whole
    digest = sha256(os.fsencode(label)).hexdigest()[:16]
    begin = os.fsdecode(os.fsencode(label)[:_KEPT_OF_LABEL]).encode(errors="ignore").decode()
    return f"{begin}-{digest}{ending}"


_STREAMS: dict[str, Callable[[Trace], Content]] = {VECTORS: vector_file, CAPTURE: capture_of}
"""The formats that need one trace at a time."""
