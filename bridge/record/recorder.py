"""Records a run: whatever carries its messages, the exchange is kept as if it had crossed the socket."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from roambus.bridge.agents.code import find_code
from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.backends.interface import Backend, Hello, Step, Totals, Transmission
from roambus.bridge.errors import AgentError, BackendError
from roambus.bridge.ini import file_names, radio_file_name
from roambus.bridge.movement import with_params
from roambus.bridge.record.record_file import RECORD_FILE, RecordWriter
from roambus.bridge.record.record_pb2 import Header, MovementFile
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.writer import TraceLevel
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, ToSimulator
from roambus.python_protocol.simtime import SimTime


def recorded(backend: Backend, folder: Path, scenario: Scenario, agent: str, level: TraceLevel) -> RecordingBackend:
    """The back-end that also keeps a record, beside the run's ini in `folder` and what that names; raises OSError.

    `agent` is the reference by which the run's agent was found.
    """
    ini = (folder / INI_FILE).read_text(encoding="utf-8")
    name = radio_file_name(ini, folder / INI_FILE)
    files = with_params(folder, file_names(ini, folder / INI_FILE))
    header = Header(
        roambus_version=version("roambus"),
        ini=ini,
        radio_file_name=name,
        radio_file=(folder / name).read_bytes(),
        agent=agent,
        agent_hash=find_code(agent).hash,
        level=level.value,
        movements=[MovementFile(name=name, content=file.read_bytes()) for name, file in files],
    )
    return RecordingBackend(backend, folder / RECORD_FILE, header, scenario)


class RecordingBackend:
    """Passes everything on, and writes it down; a run that an agent or the simulator ended leaves a record, too."""

    def __init__(self, backend: Backend, path: Path, header: Header, scenario: Scenario) -> None:
        self._backend = backend
        self._path = path
        self._header = header
        self._seed = scenario.seed
        self._writer: RecordWriter | None = None
        self._host = wire.HostSide(scenario.time_limit)
        self._deliveries = 0
        self._more = False
        self._at_limit = False
        self._is_whole = False

    def open(self) -> Hello:
        """Opens the back-end; like the other methods, it raises OSError if the record cannot be written."""
        self._writer = RecordWriter(self._path)
        self._writer.begin(self._header)
        hello = self._backend.open()
        self._writer.write(wire.write_hello(hello, self._seed, token=""))
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Has the back-end advance, and writes down what both sides say."""
        self._write(self._host.answer(transmissions, None if self._more else wake_up))
        step = self._backend.advance(transmissions, wake_up)
        if step is None:
            self._at_limit = True
        else:
            self._write(wire.write_step(step))
            self._deliveries += len(step.deliveries)
            self._more = step.more
        return step

    def fail(self, error: BaseException) -> None:
        """Ends the record with what an agent or the simulator did wrong; any other error leaves no record."""
        self._backend.fail(error)
        if isinstance(error, AgentError):
            self._end(ToSimulator(failed=wire.write_failed(error)))
        elif isinstance(error, BackendError):
            self._end(FromSimulator(failed=wire.write_failed(error)))

    def close(self) -> Totals:
        """Closes the back-end, and gives the record its name."""
        try:
            totals = self._close_backend()
            if self._at_limit:
                self._write(wire.write_finished(totals, self._host.sends, self._deliveries))
                self._end(ToSimulator(goodbye=Goodbye()))
            return totals
        finally:
            self._keep()

    def _close_backend(self) -> Totals:
        try:
            return self._backend.close()
        except BackendError as error:
            if not self._is_whole:
                self._end(FromSimulator(failed=wire.write_failed(error)))
            raise

    def _write(self, message: FromSimulator | ToSimulator) -> None:
        if self._writer is None:
            raise RuntimeError("the back-end was not opened")
        self._writer.write(message)

    def _end(self, message: FromSimulator | ToSimulator) -> None:
        self._write(message)
        self._is_whole = True

    def _keep(self) -> None:
        if self._writer is None:
            return
        try:
            if self._is_whole:
                self._writer.finish()
        finally:
            self._writer.discard()
