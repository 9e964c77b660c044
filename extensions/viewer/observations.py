"""Recovers data that a trace lacks, message contents and routing tables, by rerunning the agents.

A record holds each agent's inputs and their times (`ReplayBackend`); without one the whole run is made again, if the
user wants that. The new trace must equal the run's, row by row; otherwise agents or simulator have changed, and nothing
is shown. The agents' code runs only if installed or trusted. Listings are read before some hundred events, and kept
where they differ.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.agents import Announce, announce_code, load_agent_of_results, silently
from roambus.bridge.backend import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.formats.ini import AnyKeys, read_scenario
from roambus.bridge.host.agents import Handle, Wrapper
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.layout import INI_FILE, RECORD_FILE, TRACE_FILE, TRACES, unlinked_run
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import DamagedTraceError, TraceLevel, TraceWriter, read_trace
from roambus.bridge.trace.schema import EVENT, HOPS, TraceRow
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent, Listing
from roambus.python_protocol.events import Event, Received
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import RADIO, RECEIVE, SEND

QUEUES = "stored"
"""The omitted listing: trace rows say what is stored, and it would double a film."""
LOOKS = 700
"""Reads of all nodes' listings in a run."""
EXAMPLES = 3
"""Runs named to a user whose folder has several."""


@dataclass(frozen=True, slots=True)
class Source:
    """An existing run with its `title`; a lone trace has neither scenario nor record."""

    trace: Path
    title: str
    scenario: Scenario | None
    record: Path | None


def find_source(path: Path) -> Source:
    """Return the only run in or below a folder, or a trace file's; raise UserError, OSError."""
    trace = _find_trace(path)
    ini, record = trace.with_name(INI_FILE), trace.with_name(RECORD_FILE)
    if ini.is_file():
        unlinked_run(trace.parent)
    scenario = read_scenario(ini, AnyKeys()) if ini.is_file() else None
    return Source(trace, _title(trace), scenario, record if record.is_file() else None)


def _find_trace(path: Path) -> Path:
    """Return the only trace; raise UserError with the remedy otherwise."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"{path}: there is no such run; make one with roambus run --out {path}")
    if (path / TRACE_FILE).is_file():
        return path / TRACE_FILE
    found = sorted(path.glob(f"**/{TRACE_FILE}"))
    if not found:
        raise UserError(f"{path}: there is no {TRACE_FILE} in or below it; its run failed, or is still going on")
    if len(found) > 1:
        examples = ", ".join(str(trace.parent) for trace in found[:EXAMPLES])
        raise UserError(f"{path} holds {len(found)} runs: name one, such as {examples}")
    return found[0]


def _title(trace: Path) -> str:
    """Return the run's place in its results: "agent=mft config=C32 seed=0"."""
    parts = trace.absolute().parent.parts
    below = parts[len(parts) - parts[::-1].index(TRACES) :] if TRACES in parts else parts[-1:]
    return os.fsencode(" ".join(below)).decode(errors="replace")  # a page is a text, whatever a folder is called


def read_rows(path: Path) -> pa.Table:
    """Return all rows; raise UserError for a damaged or foreign file."""
    try:
        return read_trace(path)
    except DamagedTraceError as error:
        raise UserError(f"{error}; make the run again") from None


class Snapshot(NamedTuple):
    """From `time` on, `node` lists `listing` under `name`."""

    time: SimTime
    node: NodeId
    name: str
    listing: Listing


@dataclass(slots=True)
class Observations:
    """`sent` and `heard` have each send's and receive's content number, in order, from 0.

    `snapshots` has only differences from the previous snapshot.
    """

    contents: dict[Message, int] = field(default_factory=dict)
    sent: list[int] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)

    def number(self, message: Message) -> int:
        """Return a message's number, a new one for new content."""
        return self.contents.setdefault(message, len(self.contents))


def observe(
    source: Source,
    table: pa.Table,
    *,
    trusted: bool = False,
    announce: Announce = silently,
    names: Names | None = None,
) -> tuple[pa.Table, Observations]:
    """Return the run's rows at level full, and the observations; a send's or receive's `hops` numbers it.

    `table` is the run's trace. Raise UserError if the agents behave otherwise now, UntrustedAgentError if the agent is
    neither installed nor `trusted` (`announce` receives its code), RoambusError, OSError.
    """

    def load(reference: str, recorded: str | None = None) -> type[Agent]:
        if trusted:
            announce_code(reference, announce, recorded)
        return load_agent_of_results(reference, trusted=trusted)

    with _carrier(source, table, load) as (scenario, agent_class, carrier):

        def run(over: Backend, trace: TraceWriter, wrapper: Wrapper) -> None:
            Host(scenario, agent_class, over, trace, wrappers=[wrapper]).run()

        seen, observations = observe_over(carrier, run, scenario.time_limit, names or Names())
    if not _without_receives(table).equals(_without_receives(seen)):
        text = "the agents behave differently now: they have changed, or another simulator ran them"
        raise UserError(f"{source.trace}: {text}; make the run again with roambus run --record")
    return seen, observations


def observe_over(
    carrier: Backend, run: Callable[[Backend, TraceWriter, Wrapper], object], end: SimTime, names: Names
) -> tuple[pa.Table, Observations]:
    """Run agents over a back-end until `end`; return as `observe`. Raise RoambusError."""
    observations, writer = Observations(), _Numbering()
    agents = _Watch(observations, end, names)
    run(_Listening(carrier, observations), writer, agents.wrap)
    agents.look(end)
    return writer.table(), observations


@contextmanager
def _carrier(
    source: Source, table: pa.Table, load: Callable[..., type[Agent]]
) -> Iterator[tuple[Scenario, type[Agent], Backend]]:
    """Yield scenario, agent, and the record or a new back-end."""
    scenario = source.scenario
    if scenario is None:
        raise UserError(f"{source.trace}: there is no run.ini beside it, so the run cannot be made again")
    if source.record is None:
        factory = _radio if is_over_radio(table) else make_ideal
        yield scenario, load(scenario.agent), factory(scenario)
        return
    try:  # only a recorded run needs the extension
        from roambus.extensions.recording.record_file import open_record  # noqa: PLC0415
        from roambus.extensions.recording.replay import ReplayBackend  # noqa: PLC0415
    except ModuleNotFoundError:
        raise UserError(f"{source.record}: this installation has no extension recording, which reads it") from None
    with open_record(source.record) as record:
        agent_class = load(record.header.agent, record.header.agent_hash)
        as_recorded = replace(scenario, agent=record.header.agent)
        yield as_recorded, agent_class, ReplayBackend(record, as_recorded, agent_class.messages)


def _radio(scenario: Scenario) -> Backend:
    # Numba takes settings, and the place of compiled code, from a file in the working folder: only who asks imports it.
    from roambus.bridge.backends.radio.backend import RadioBackend  # noqa: PLC0415

    return RadioBackend(scenario)


def is_over_radio(table: pa.Table) -> bool:
    """Return whether the run had radios: only radios leave counts."""
    return bool(pc.any(pc.equal(table[EVENT], RADIO)).as_py())


def _without_receives(table: pa.Table) -> pa.Table:
    """Return rows without receives and send numbers."""
    # Only traces of level full have receives, and the run may have been of any level.
    kept = table.filter(pc.not_equal(table[EVENT], RECEIVE))
    hops = pc.if_else(pc.equal(kept[EVENT], SEND), pa.scalar(None, pa.int32()), kept[HOPS])
    return kept.set_column(kept.schema.get_field_index(HOPS), HOPS, hops)


class _Numbering(TraceWriter):
    """A level-full trace that numbers sends and receives in `hops`, each from 0."""

    def __init__(self) -> None:
        super().__init__(TraceLevel.FULL)
        self._numbers = {SEND: 0, RECEIVE: 0}

    def add(self, row: TraceRow) -> None:
        """Add the row with its send or receive number in `hops`."""
        if row.event in self._numbers:
            row = row._replace(hops=self._numbers[row.event])
            self._numbers[row.event] += 1
        super().add(row)


class _Listening:
    """A back-end that notes transmissions in send-row order."""

    def __init__(self, backend: Backend, observations: Observations) -> None:
        self._backend = backend
        self._observations = observations

    def open(self) -> Hello:
        """Open the back-end, with nothing recorded yet."""
        return self._backend.open()

    def fail(self, error: BaseException) -> None:
        """Pass an error to the back-end."""
        self._backend.fail(error)

    def close(self) -> Totals:
        """Close the back-end and return its totals unchanged."""
        return self._backend.close()

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Number the transmissions, and advance the back-end."""
        self._observations.sent += [self._observations.number(transmission.message) for transmission in transmissions]
        return self._backend.advance(transmissions, wake_up)


class _Watch:
    """Looks at the agents as time passes."""

    def __init__(self, observations: Observations, time_limit: SimTime, names: Names) -> None:
        self.observations = observations
        self.agents: list[Agent] = []
        self._names = names
        self._step = max(1, time_limit // LOOKS)
        self._next: SimTime = self._step
        self._known: dict[tuple[NodeId, str], Listing] = {}

    def reach(self, now: SimTime) -> None:
        """Note that everything before `now` has happened."""
        if now >= self._next:
            # Before the event of `now` is handled: this is how things were after everything earlier.
            self.look(now)
            self._next = (now // self._step + 1) * self._step

    def look(self, now: SimTime) -> None:
        """Read all nodes' listings."""
        for node, agent in enumerate(self.agents):
            for name, listing in agent.listings(self._names).items():
                if name != QUEUES and self._known.get((node, name)) != listing:
                    self._known[node, name] = listing
                    self.observations.snapshots.append(Snapshot(now, node, name, listing))

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Have the agent's calls seen."""
        self.agents.append(agent)

        def handle_and_show(event: Event, now: SimTime) -> Iterable[Action]:
            self.reach(now)
            if type(event) is Received:
                self.observations.heard.append(self.observations.number(event.message))
            return handle(event, now)

        return handle_and_show


def carried(content: Any) -> list[NotificationId]:
    """Return the notifications, or their identifiers, anywhere in a message, each once."""
    return list(dict.fromkeys(_carried(content)))


def _carried(value: Any) -> Iterator[NotificationId]:
    """Return as `carried`, with repetitions; a notification's own identifier counts once."""
    if isinstance(value, Notification):
        yield value.id
    elif isinstance(value, NotificationId):
        yield value
    elif isinstance(value, tuple | list | frozenset):
        for element in value:
            yield from _carried(element)
    elif is_dataclass(value):
        for attribute in fields(value):
            yield from _carried(getattr(value, attribute.name))
