"""Runs the agents of a record once more, without any simulator, and in a debugger if need be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from roambus.bridge.agents.code import Announce, announce_code, silently
from roambus.bridge.agents.registry import load_agent
from roambus.bridge.errors import AgentError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.keys import file_beside, quote
from roambus.bridge.record.debugger import AgentDebugger, open_where_it_raised
from roambus.bridge.record.record_file import Record, open_record
from roambus.bridge.record.record_pb2 import MovementFile
from roambus.bridge.record.replay import DifferenceError, ReplayBackend
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.writer import TraceLevel, TraceWriter
from roambus.python_protocol.agent import Agent


@dataclass(frozen=True, slots=True)
class Rerun:
    """The number of frames of a record that the agents agree with, and how the recorded run ended."""

    frames: int
    ending: str


def rerun(
    path: Path, agent: str | None = None, *, stop_before: int | None = None, announce: Announce = silently
) -> Rerun:
    """Runs the record's agent, or another, on what the simulator said; first `announce` is told what code that is.

    `stop_before` opens the debugger at the first line of an agent's that answers in that frame. Raises DifferenceError,
    AgentError when an agent raises, as in the record or not, and UserError for what is no record, or damaged.
    """
    with open_record(path) as record:
        reference = agent or record.header.agent
        announce_code(reference, announce, record.header.agent_hash if agent is None else None)
        agent_class = load_agent(reference)
        scenario = replace(scenario_of(record), agent=reference)
        replay = ReplayBackend(
            record, scenario, agent_class.messages, stop_before, AgentDebugger(agent_class).set_trace
        )
        host = Host(scenario, agent_class, replay, TraceWriter(TraceLevel(record.header.level)))
        try:
            host.run()
        except AgentError as error:
            place = "as recorded" if replay.raised_as_recorded else "though not in the record"
            text = f"{path}: frame {replay.frame}, {place}: {error}"
            raise AgentError(text, error.node, error.time, error.event) from error.__cause__
        return Rerun(replay.frame, replay.ending)


def debug(path: Path, agent: str | None = None, *, announce: Announce = silently) -> Rerun:
    """Does what `rerun` does, and opens the debugger where an agent raises, or where the answer begins that differs."""
    try:
        return rerun(path, agent, announce=announce)
    except AgentError as error:
        if error.__cause__ is not None:
            open_where_it_raised(error.__cause__, _agent_of(path, agent))
        raise
    except DifferenceError as difference:
        with suppress(Exception):  # however the debugger is left, the difference is the result
            rerun(path, agent, stop_before=difference.frame)
        raise


def _agent_of(path: Path, agent: str | None) -> type[Agent]:
    with open_record(path) as record:
        return load_agent(agent or record.header.agent)


def scenario_of(record: Record) -> Scenario:
    """The scenario of the recorded ini; the files that it names lie in a folder for the moment."""
    name = record.header.radio_file_name
    if Path(name).name != name:
        raise record.damaged(0, f"{name!r} is no name of a radio parameters file")
    with TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(record.header.radio_file)
        for movement in record.header.movements:
            _write_movement(record, Path(folder), movement)
        return parse_scenario(record.header.ini, Path(f"{record.path} (run.ini)"), Path(folder))


def _write_movement(record: Record, folder: Path, movement: MovementFile) -> None:
    try:
        file = folder / file_beside(quote(movement.name))
    except ValueError as error:
        raise record.damaged(0, str(error)) from None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(movement.content)
