"""Writes the files of an export: one for each run and format, and one dissector, whole or not at all.

1. What is wrong with one run is told in a line, and the others are written: an export of a thousand runs is not lost to
   one damaged trace. So functions here yield a file or a line, and raise only what concerns all of them.
2. Files are named after the places of their runs, so that an export of a whole sweep lies in one folder. A study has
   a folder for each sweep, because places of two sweeps can be equal.
3. Content comes piece by piece and is written as it comes. A trace can be larger than memory.
4. A file has its name only when it is finished. What an export that was killed left of the same file goes first.
5. Results can be somebody else's. Folders below them are followed through no link, a name that no file system takes is
   shortened, and the code of an agent that is not installed is run only if it is named.

Scalars are metrics, which Spark computes of all runs at once; all other formats are of one trace each. Formats that
need few words are here:

- *JSON lines*: an object for each row of the trace, with the columns that have a value there.
- *GraphML*, which networkx, Gephi, igraph and yEd read: the network at one time. Nodes have their roles, their place,
  and whether they are up. An edge leads from a node to another one if that is its parent in the tree of brokers, or if
  the node has sent it unicast messages in the last seconds, which is the way that routes led. Routing tables are no
  part of a trace, so that this works for any protocol.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from roambus.bridge.agents import UntrustedAgentError, load_agent_of_results
from roambus.bridge.errors import UserError
from roambus.bridge.files import UnfinishedFile, remove_unfinished
from roambus.bridge.ini import Anything, read_scenario
from roambus.bridge.runs.layout import AGENTS, INI_FILE, read_asked, unlinked
from roambus.bridge.runs.run import errors_named
from roambus.bridge.trace import schema
from roambus.bridge.trace.schema import BYTES, DETAIL, EVENT, NODE, PEER, TIME_S
from roambus.experiments.export.capture import capture_of, captures_of_nodes
from roambus.experiments.export.dissector import dissector
from roambus.experiments.export.result_files import run_label, scalar_file, vector_file
from roambus.experiments.export.runs import Export, Row, find_runs, numbers, rows
from roambus.experiments.export.timeline import timeline
from roambus.experiments.studies.study import find_extra, sweep_folders
from roambus.python_protocol.vocabulary import SECOND, NodeId
from roambus.spark.aggregation.aggregate import metrics_of
from roambus.spark.aggregation.traces import Trace

SCALARS, VECTORS, JSON_LINES = "sca", "vec", "jsonl"
CAPTURE, CAPTURES, TIMELINE, GRAPH = "pcapng", "pcapng-nodes", "perfetto", "graphml"
DISSECTOR, DISSECTOR_FILE = "dissector", "roambus.lua"
EXPORT_FOLDER = "export"
"""The default folder, below the results."""

_LONGEST_NAME, _KEPT_OF_LABEL = 240, 200
"""In bytes: file systems take 255, of which the hidden name of an unfinished file needs some.

What is kept of a longer name leaves room for the hash and the ending.
"""

RECENT_S = 3.0
"""Time for which a unicast message counts: the lifetime of a used AODV route (RFC 3561, section 10)."""

# Whose it is, its name, and its type, as GraphML declares each attribute before the first node.
_KEYS = (
    ("node", "roles", "string"),
    ("node", "x", "double"),
    ("node", "y", "double"),
    ("node", "up", "boolean"),
    ("edge", "parent", "boolean"),
    ("edge", "messages", "int"),
    ("edge", "bytes", "int"),
)
_EVENTS = (
    schema.ROLE,
    schema.MOVE,
    schema.CRASH,
    schema.FREEZE,
    schema.RECOVER,
    schema.MIGRATE,
    schema.SEND,
)
"""The rows that a graph needs. All others, which are most of a trace, are skipped when it is read."""

Content = Iterable[str] | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be written: the formats, the folder, if not the usual one, the time of graphs (s), and agents."""

    formats: Sequence[str]
    out: Path | None = None
    at_s: float | None = None
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
            yield from (
                _scalars(export, folder, asked) if kind == SCALARS else _streamed(export.traces, folder, kind, asked)
            )


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


def _streamed(
    traces: Sequence[Trace], folder: Path, kind: str, asked: Asked
) -> Iterator[tuple[Path | None, str | None]]:
    """The files of a format that needs one trace at a time.

    A run can lack what the format needs, such as its record, before the first file of it is begun.
    """
    for trace in traces:
        try:
            for ending, content in _files_of(trace, kind, asked.at_s):
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


def graph_file(trace: Trace, at_s: float | None) -> Iterator[str]:
    """The lines of a GraphML file: the network at a time (s), or at the end of the run; raises UserError, OSError."""
    network = _Network(trace)
    for row in rows(trace, *_EVENTS):
        network.follow(row, at_s)
    time_s = network.latest_s if at_s is None else at_s
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for owner, name, kind in _KEYS:
        yield f'  <key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <key id="time_s" for="graph" attr.name="time_s" attr.type="double"/>\n'
    yield f'  <graph edgedefault="directed">\n    <data key="time_s">{time_s!r}</data>\n'
    for node in sorted(network.nodes):
        yield f'    <node id="{node}">{_data(network.node(node, time_s))}</node>\n'
    for (node, other), values in sorted(network.edges(time_s).items()):
        yield f'    <edge source="{node}" target="{other}">{_data(values)}</edge>\n'
    yield "  </graph>\n</graphml>\n"


def _data(values: dict[str, Any]) -> str:
    """The attributes of a node or edge. Roles come from a trace, so that they are escaped like any text."""
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}
    return "".join(f"<data key={quoteattr(name)}>{escape(text)}</data>" for name, text in texts.items())


class _Network:
    """What is known of the nodes up to a time, from rows in their order.

    Parents come from two sides. A protocol that builds its own tree notes each change in the trace. One whose tree is
    given finds the changes in the scenario, which has its own times. `follow` gives what is due before it reads a row,
    so that a note of the agent is the later one.
    """

    def __init__(self, trace: Trace) -> None:
        self.nodes: set[NodeId] = set()
        self.latest_s = 0.0
        self._trace = trace
        self._roles: dict[NodeId, str] = {}
        self._before: dict[NodeId, tuple[float, float, float]] = {}
        self._after: dict[NodeId, tuple[float, float, float]] = {}
        self._down: set[NodeId] = set()
        self._parents: dict[NodeId, NodeId | None] = {}
        ini = trace.file.with_name(INI_FILE)
        self._given = deque(
            sorted(read_scenario(ini, Anything()).tree, key=lambda one: one.at) if ini.is_file() else ()
        )
        """The changes of the tree that a scenario gives to its brokers, and that are still to come."""
        self._sent: deque[Row] = deque()

    def follow(self, row: Row, at_s: float | None) -> None:
        """Follows a row; of what comes after the time, only where a node goes to counts."""
        self.nodes.add(row[NODE])
        if at_s is not None and row[TIME_S] > at_s:
            # Way-points lie apart: where a node is between two of them follows from both.
            if row[EVENT] == schema.MOVE:
                self._after.setdefault(row[NODE], self._place(row))
            return
        self.latest_s = row[TIME_S]
        self._give(row[TIME_S])
        self._take(row)

    def node(self, node: NodeId, time_s: float) -> dict[str, Any]:
        """What is known of a node; one that never says where it is has no place."""
        place = self._place_at(node, time_s)
        where = {} if place is None else dict(zip(("x", "y"), place, strict=True))
        return {"roles": self._roles.get(node, ""), **where, "up": node not in self._down}

    def edges(self, time_s: float) -> dict[tuple[NodeId, NodeId], dict[str, Any]]:
        """The edges by their ends, for a time (s) from that of the last row on.

        A parent can be a node that has no row of its own, and then it becomes a node of the graph here.
        """
        self._give(time_s)
        found: dict[tuple[NodeId, NodeId], dict[str, Any]] = defaultdict(
            lambda: {"parent": False, "messages": 0, "bytes": 0}
        )
        for node, parent in self._parents.items():
            if parent is not None and node not in self._down:
                found[node, parent]["parent"] = True
        for row in self._sent:
            if row[TIME_S] > time_s - RECENT_S:
                edge = found[row[NODE], row[PEER]]
                edge["messages"] += 1
                edge["bytes"] += row[BYTES] or 0
        self.nodes |= {node for edge in found for node in edge}
        return found

    def _take(self, row: Row) -> None:
        match row[EVENT]:
            case schema.ROLE:
                self._roles[row[NODE]] = row[DETAIL] or ""
            case schema.MOVE:
                self._before[row[NODE]] = self._place(row)
            case schema.CRASH | schema.FREEZE:
                self._down.add(row[NODE])
            case schema.RECOVER:
                self._down.discard(row[NODE])
            case schema.MIGRATE:
                self._parents[row[NODE]] = row[PEER]
            case schema.SEND if row[PEER] is not None:
                self._sent.append(row)
                # What is older counts no more: so memory holds some seconds of messages and not all of the run.
                while self._sent[0][TIME_S] <= row[TIME_S] - RECENT_S:
                    self._sent.popleft()

    def _give(self, time_s: float) -> None:
        while self._given and self._given[0].at / SECOND <= time_s:
            change = self._given.popleft()
            self._parents[change.node] = change.parent

    def _place(self, row: Row) -> tuple[float, float, float]:
        x, y = numbers(self._trace, row, 2)
        return row[TIME_S], x, y

    def _place_at(self, node: NodeId, time_s: float) -> tuple[float, float] | None:
        """Where the node is on its straight way from one way-point to the next.

        Before its first way-point it stands there, and after its last one it stays.
        """
        before = self._before.get(node) or self._after.get(node)
        if before is None:
            return None
        after = self._after.get(node, before)
        share = (time_s - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0.0
        return before[1] + share * (after[1] - before[1]), before[2] + share * (after[2] - before[2])


def json_lines(trace: Trace) -> Iterator[str]:
    """The lines of a trace, in its order; raises UserError, OSError."""
    for row in rows(trace):
        yield json.dumps({column: value for column, value in row.items() if value is not None}) + "\n"


def _files_of(trace: Trace, kind: str, at_s: float | None) -> Iterable[tuple[str, Content]]:
    """The files of a run in a format, each with the end of its name."""
    if kind == CAPTURES:
        return captures_of_nodes(trace)
    if kind == GRAPH:
        return [(f".{GRAPH}" if at_s is None else f",at={at_s:g}.{GRAPH}", graph_file(trace, at_s))]
    ending, write = _ONE_FILE[kind]
    return [(ending, write(trace))]


_ONE_FILE: dict[str, tuple[str, Callable[[Trace], Content]]] = {
    VECTORS: (f".{VECTORS}", vector_file),
    JSON_LINES: (f".{JSON_LINES}", json_lines),
    CAPTURE: (f".{CAPTURE}", capture_of),
    TIMELINE: (f".{TIMELINE}-trace", timeline),
}
"""The formats with one file for each run, and the end of its name."""
