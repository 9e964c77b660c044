"""Writes the files of an export: one for each run and format, and one dissector, whole or not at all.

1. What is wrong with one run is told in a line, and the others are written: an export of a thousand runs is not lost to
   one damaged trace. So functions here yield a file or a line, and raise only what concerns all of them.
2. Files are named after the places of their runs, so that an export of a whole sweep lies in one folder. A study has
   a folder for each sweep, because places of two sweeps can be equal.
3. Content comes piece by piece and is written as it comes. A trace can be larger than memory.
4. A file has its name only when it is finished. What an export that was killed left of the same file goes first.
5. Results can be somebody else's. Folders below them are followed through no link, a name that no file system takes is
   shortened, and the code of an agent that is not installed is run only if it is named.

Scalars are metrics, which Spark computes of all runs at once; all other formats are of one trace each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from roambus.bridge.agents import UntrustedAgentError, load_agent_of_results
from roambus.bridge.errors import UserError
from roambus.bridge.files import UnfinishedFile, remove_unfinished
from roambus.bridge.runs.layout import AGENTS, read_asked, unlinked
from roambus.bridge.runs.run import errors_named
from roambus.experiments.export.capture import capture_of, captures_of_nodes
from roambus.experiments.export.dissector import dissector
from roambus.experiments.export.result_files import run_label, scalar_file, vector_file
from roambus.experiments.export.runs import Export, find_runs
from roambus.experiments.studies.study import find_extra, sweep_folders
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import Trace

SCALARS, VECTORS, CAPTURE, CAPTURES = "sca", "vec", "pcapng", "pcapng-nodes"
DISSECTOR, DISSECTOR_FILE = "dissector", "roambus.lua"
EXPORT_FOLDER = "export"
"""The default folder, below the results."""

_LONGEST_NAME, _KEPT_OF_LABEL = 240, 200
"""In bytes: file systems take 255, of which the hidden name of an unfinished file needs some.

What is kept of a longer name leaves room for the hash and the ending.
"""

Content = Iterable[str] | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be written: the formats, the folder, if not the usual one, and agents."""

    formats: Sequence[str]
    out: Path | None = None
    agents: Sequence[str] = ()
    """The agents whose messages a dissector reads; those of the results unless some are named."""
    measure: Sequence[str] = ()
    """The files and packages of the user's own metrics."""


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
            folder = asked.out if len(exports) == 1 else unlinked(asked.out / export.results.name)
        yield from _export(export, asked, folder)


def _export(export: Export, asked: Asked, folder: Path) -> Iterator[tuple[Path | None, str | None]]:
    folder.mkdir(parents=True, exist_ok=True)
    yield from ((None, problem) for problem in export.problems)
    for kind in asked.formats:
        if kind == DISSECTOR:
            yield write_dissector(export.results, asked.agents, folder)
        else:
            yield from (_scalars(export, folder, asked) if kind == SCALARS else _streamed(export.traces, folder, kind))


def write_dissector(results: Path, named: Sequence[str], folder: Path) -> tuple[Path | None, str | None]:
    """The file, for agents that are named, or those of the results, of which only installed ones are run unasked."""
    agents = named or dict.fromkeys(use for use, _ in read_asked(results).get(AGENTS, {}).values())
    try:
        loaded = {agent: load_agent_of_results(agent, trusted=bool(named)) for agent in agents}
    except UntrustedAgentError as error:
        return None, f"{results}: {error}: no dissector is written; if you trust that code, name it with --agents"
    folder.mkdir(parents=True, exist_ok=True)
    return _write(folder / DISSECTOR_FILE, dissector(loaded))


def _scalars(export: Export, folder: Path, asked: Asked) -> Iterator[tuple[Path | None, str | None]]:
    """The metrics of each run, with those that its study measures beside them; a damaged trace has its line."""
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
    """The files of a format that needs one trace at a time.

    A run can lack what the format needs, such as its record, before the first file of it is begun.
    """
    for trace in traces:
        try:
            for ending, content in _files_of(trace, kind):
                yield _write(folder / _file_name(run_label(trace), ending), content)
        except UserError as error:
            yield None, str(error)


def _write(path: Path, content: Content) -> tuple[Path | None, str | None]:
    """The file, or the line for a trace that turns out to be damaged.

    That shows only while the content is read, and then there is no file.
    """
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
    """The name of a run's file: its label, or the beginning and a hash of one that no file system would take."""
    # Bytes are counted and not characters, and a cut may fall into one: what is left of that character goes.
    whole = f"{label}{ending}"
    if len(os.fsencode(whole)) <= _LONGEST_NAME:
        return whole
    digest = sha256(os.fsencode(label)).hexdigest()[:16]
    begin = os.fsdecode(os.fsencode(label)[:_KEPT_OF_LABEL]).encode(errors="ignore").decode()
    return f"{begin}-{digest}{ending}"


def _files_of(trace: Trace, kind: str) -> Iterable[tuple[str, Content]]:
    """The files of a run in a format, each with the end of its name."""
    if kind == CAPTURES:
        return captures_of_nodes(trace)
    ending, write = _ONE_FILE[kind]
    return [(ending, write(trace))]


_ONE_FILE: dict[str, tuple[str, Callable[[Trace], Content]]] = {
    VECTORS: (f".{VECTORS}", vector_file),
    CAPTURE: (f".{CAPTURE}", capture_of),
}
"""The formats with one file for each run, and the end of its name."""
