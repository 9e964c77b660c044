"""The process of a live node: it obeys a conductor, runs an agent and keeps the trace.

- `status`: report state, session, counts and clock.
- `prepare`, unless running: take files, make the agent, bind a socket.
- `start`, when prepared: go on the air at a moment by its own clock.
- `collect`: return a piece of the journal.
- `forget`, unless running: remove the journal.
- `end`: leave the air; end a process for one run.

A session is a random number of the process. Without its one conductor a node leaves the air, but keeps its journal and
a Parquet file.
"""

from __future__ import annotations

import resource
import secrets
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from roambus.bridge.agents import agent_sources, data_hash, load_agent
from roambus.bridge.backend import Course, LocalNode, Move
from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.formats.ini import read_scenario, reader
from roambus.bridge.host import event_loop
from roambus.bridge.host.agents import shared_generators_unused
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.paths import steered
from roambus.bridge.runs.layout import INI_FILE, TRACE_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.code import code_hash
from roambus.bridge.system.errors import BackendError, RoambusError, UserError
from roambus.bridge.system.private_folder import BRIDGE, private_folder
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.extensions.live.answers import ENDED, IDLE, PREPARED, RUNNING
from roambus.extensions.live.connection import PROTOCOL, Answer, Listener
from roambus.extensions.live.driver import Driver
from roambus.extensions.live.frames import Seal
from roambus.extensions.live.journal import Journal, add_rows, read_rows
from roambus.extensions.live.links import Links, links_of
from roambus.extensions.live.receiver import PositionSource
from roambus.extensions.live.udp_backend import Address, Attend, UdpBackend, late_by
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import MOVE

LOST_S = 30.0
"""Silence after which the conductor counts as gone; longer than a brief sleep."""
MOST_DESCRIPTORS = 8192
"""The limit of open files, beyond bursts of strangers' connections."""
PIECE_BYTES = 2**20
"""The size of a journal piece, between which a node is on the air."""


def code_of(agent: type[Agent]) -> str:
    """A hash of the node's code, which must be the conductor's."""
    ours = (Path(module.__file__) for module in (event_loop, reader, sys.modules[__name__]) if module.__file__)
    return code_hash([*ours, *agent_sources(agent)]).hex() + data_hash(agent.__name__, agent).hex()


UNCOLLECTED = "the conductor has ended the run before it collected all events"


class StoppedError(BackendError):
    """The conductor took the node off the air; the journal stays."""


class LostError(BackendError):
    """The conductor is gone."""


@dataclass(slots=True)
class Prepared:
    """A run that a node can start: all slow work is done."""

    scenario: Scenario
    agent: type[Agent]
    links: Links
    own_socket: socket.socket
    level: TraceLevel


class LiveNode(Attend):
    """One node: `serve` answers conductors, also between two events of its agent."""

    def __init__(  # noqa: PLR0913  # the parts of a node
        self,
        node: NodeId,
        endpoint: str,
        keys: CurveKeys,
        folder: Path,
        open_socket: Callable[[], socket.socket],
        *,
        for_one_run: bool = False,
        position: PositionSource | None = None,
        driver: Driver | None = None,
    ) -> None:
        """Keep journals in `folder`; the driver moves the node if its agent does.

        Raises UserError for an unavailable address.
        """
        self._position, self._driver = position, driver
        self._node, self._folder, self._open_socket, self._for_one_run = node, folder, open_socket, for_one_run
        self._session = secrets.token_hex(8)
        self._state, self._conductor, self._heard_at = IDLE, "", time.monotonic()
        self._ended_with: dict[str, Any] = {}
        """The report of an ended run: the counts or the error."""
        self._prepared: Prepared | None = None
        self._asked: dict[str, Any] | None = None
        """The arguments of the start, until the node is on the air."""
        self._is_over = self._is_stopped = False
        self._air: UdpBackend | None = None
        self._last_run = ""
        """The run whose journal awaits collection."""
        self._lost = ""
        """The announcement of a lost conductor."""
        self._listener = Listener(endpoint, keys, self._answer)

    def serve(self, announce: Callable[[str], None]) -> None:
        """Answer until ended or interrupted; only journals remain."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        try:
            while not self._is_over:
                self._listener.wait(0.25)
                self._listener.hear()
                self._check_conductor()
                if self._asked is not None:
                    fields, self._asked = self._asked, None
                    self._run(fields)
                if self._lost:
                    announce(self._lost)
                    self._lost = ""
        finally:
            self.close()

    def close(self) -> None:
        """Leave the air and free both addresses."""
        self._drop()
        self._listener.close()
        if self._position is not None:
            self._position.close()

    # What it is asked

    def _answer(self, fields: dict[str, Any], blobs: list[bytes]) -> Answer:
        """The answer with the question's number; another conductor is refused meanwhile."""
        kind, conductor = fields.get("ask"), str(fields.get("conductor"))
        head = {"number": fields.get("number"), "node": self._node, "session": self._session}
        if self._state != IDLE and conductor != self._conductor:
            return {**head, "refused": "another conductor has it", "code": UserError.exit_code}, b""
        self._conductor, self._heard_at = conductor, time.monotonic()
        asked = getattr(self, f"_ask_{kind}", None)
        if asked is None or not isinstance(kind, str):
            return {**head, "refused": f"it does not know {kind!r}", "code": BackendError.exit_code}, b""
        try:
            answer, blob = asked(fields, blobs)
        except RoambusError as error:
            return {**head, "refused": str(error), "code": error.exit_code}, b""
        except (OSError, KeyError, TypeError, ValueError) as error:
            return {**head, "refused": f"{type(error).__name__}: {error}", "code": BackendError.exit_code}, b""
        finally:
            self._heard_at = time.monotonic()  # the conductor waited while this took its time
        return {**head, **answer, "state": self._state, "clock": time.monotonic_ns()}, blob

    def _ask_status(self, _: dict[str, Any], __: list[bytes]) -> Answer:
        """The state repeats the last run's result, in case an answer was lost."""
        return {"protocol": PROTOCOL, **self._ended_with}, b""

    def _ask_prepare(self, fields: dict[str, Any], blobs: list[bytes]) -> Answer:
        """Do all slow work, so that the start is quick; raises RoambusError, OSError."""
        if self._state == RUNNING:
            raise BackendError("it is on the air")
        self._drop()
        with private_folder(BRIDGE) as folder:
            for name, content in zip(fields["files"], blobs, strict=True):
                if Path(name).is_absolute() or ".." in Path(name).parts:
                    raise UserError(f"{name}: a file of a run lies in its folder")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            scenario = replace(read_scenario(folder / INI_FILE), faults=())
        agent = load_agent(fields["agent"])
        if fields["code"] != code_of(agent):
            raise UserError("another version of roambus, or of the agent, is installed there than here")
        if not 0 <= self._node < len(scenario.nodes):
            raise UserError(f"the run has the nodes 0 to {len(scenario.nodes) - 1}")
        if self._node in steered(scenario) and self._driver is None:
            raise UserError(f"the agent of node {self._node} moves it, and it has no driver: give --driver")
        if self._position is not None:
            self._position.start(scenario.field_m)
        links = links_of(fields["links"], scenario, self._node)
        self._prepared = Prepared(scenario, agent, links, self._open_socket(), TraceLevel(fields["level"]))
        self._state = PREPARED
        return {}, b""

    def _ask_start(self, fields: dict[str, Any], _: list[bytes]) -> Answer:
        """Answer first; `serve` then goes on the air."""
        if self._state != PREPARED:
            raise BackendError(f"it is {self._state}")
        self._asked, self._state, self._is_stopped = fields, RUNNING, False
        return {}, b""

    def _ask_collect(self, fields: dict[str, Any], _: list[bytes]) -> Answer:
        """A node that was never on the air has an empty journal."""
        file, offset = self._journal_of(fields["run"]), int(fields["offset"])
        if not file.is_file():
            return {"size": 0}, b""
        with file.open("rb") as journal:
            size = journal.seek(0, 2)
            journal.seek(offset)
            return {"size": size}, journal.read(PIECE_BYTES)

    def _ask_forget(self, fields: dict[str, Any], _: list[bytes]) -> Answer:
        """Delete the journal: the conductor has all."""
        if self._state != RUNNING:
            self._journal_of(fields["run"]).unlink(missing_ok=True)
            self._drop()
        return {}, b""

    def _ask_end(self, _: dict[str, Any], __: list[bytes]) -> Answer:
        """The conductor has ended, failed or was interrupted: the node is free for another one."""
        self._is_over, self._is_stopped = self._for_one_run, self._state == RUNNING
        if self._state == ENDED and not self._for_one_run:
            self._keep_trace(self._last_run, LostError(UNCOLLECTED))
        elif self._state == PREPARED:
            self._drop()
        return {}, b""

    def _journal_of(self, run: str) -> Path:
        """The node's one file in the run; raises ValueError if `run` is not a run's number."""
        return self._folder / f"{int(run, 16):016x}-{self._node}.rows"

    def _drop(self) -> None:
        """Become idle, ready for another conductor."""
        if self._prepared is not None:
            self._prepared.own_socket.close()
        self._prepared, self._ended_with, self._state = None, {}, IDLE

    # What it does

    def _run(self, fields: dict[str, Any]) -> None:
        """Stay on the air until the end of the run.

        An error ends this node's part; the conductor ends the run with a simulation's exit code.
        """
        prepared = self._prepared
        if prepared is None:
            return
        self._last_run = fields["run"]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            journal = Journal(self._journal_of(fields["run"]), prepared.level)
            try:
                self._go_on_air(prepared, fields, journal)
            finally:
                journal.close()
            self._ended_with = self._counts()
        except (StoppedError, LostError) as error:
            if isinstance(error, LostError) or not self._for_one_run:
                self._keep_trace(fields["run"], error)
                return
            self._ended_with = self._counts()
        except (RoambusError, OSError) as error:
            self._ended_with = {"error": str(error), "code": getattr(error, "exit_code", BackendError.exit_code)}
        self._state = ENDED

    def _go_on_air(self, prepared: Prepared, fields: dict[str, Any], journal: Journal) -> None:
        """Drive the agent until the time limit; a restarted node begins now."""
        start_ns = int(fields["start_ns"])
        own = LocalNode(self._node, max(0, time.monotonic_ns() - start_ns) if fields["incarnation"] else 0)
        seal = Seal(bytes.fromhex(fields["run"]), bytes.fromhex(fields["key"]))
        addresses = [as_address(field) for field in fields["addresses"]]
        self._air = air = UdpBackend(
            prepared.scenario, prepared.agent, own, int(fields["incarnation"]), start_ns, seal,
            prepared.own_socket, addresses, prepared.links, self, journal.flush,
            partial(self._moves, journal, own.since), self._driver or _stay,
        )  # fmt: skip
        with shared_generators_unused(prepared.scenario.agent):
            Host(prepared.scenario, prepared.agent, air, journal).run()

    def _moves(self, journal: Journal, since: SimTime, now: SimTime) -> list[Move]:
        """The receiver's moves; each fix is a row, by which the trace has the true places."""
        made = self._position.moves(now) if self._position else []
        if made:
            first = made[0]
            journal.add(TraceRow(max(first.time, since), self._node, MOVE, detail=f"{first.x:.3f} {first.y:.3f}"))
        return made

    def hear(self) -> None:
        """Answer the conductor while on the air; raises StoppedError, LostError."""
        self._listener.hear()
        if self._is_stopped:
            raise StoppedError(UNCOLLECTED)
        if time.monotonic() > self._heard_at + LOST_S:
            raise LostError(f"no request of the conductor for {LOST_S:g} s")

    def descriptors(self) -> Sequence[int]:
        """The connection's descriptors."""
        return self._listener.descriptors()

    def _counts(self) -> dict[str, Any]:
        """Its counts on the air, and the process' CPU and (mostly shared) memory, start included."""
        air, used = self._air, resource.getrusage(resource.RUSAGE_SELF)
        if air is None:
            return {}
        late = {f"late_p{round(100 * share)}_us": late_by(air.lateness, share) // 1000 for share in (0.5, 0.99, 1.0)}
        return {
            "counts": {
                **air.counts,
                **(self._position.counts if self._position else {}),
                **late,
                "wake_ups": sum(air.lateness.values()),
                "cpu_ms": round(1000 * (used.ru_utime + used.ru_stime)),
                "memory_mib": used.ru_maxrss // 1024,
            }
        }

    def _check_conductor(self) -> None:
        """Drop an abandoned run, but keep a finished journal; a process for one run ends."""
        if time.monotonic() > self._heard_at + LOST_S:
            self._is_over = self._for_one_run
            if self._state == ENDED:
                self._keep_trace(self._last_run, LostError(f"no request of the conductor for {LOST_S:g} s"))
            elif self._state != IDLE:
                self._drop()

    def _keep_trace(self, run: str, error: BackendError) -> None:
        """Make a trace of the journal, which stays: all journals make the run."""
        journal = self._journal_of(run)
        trace, file = TraceWriter(), self._folder / f"{journal.stem}.{TRACE_FILE}"
        with suppress(BackendError, OSError):
            add_rows(read_rows(journal.read_bytes(), self._node), trace)
            trace.write(file, {"roambus.node": str(self._node)})
        kept = f", and its trace is {file}" if file.is_file() else ""
        self._lost = f"node {self._node}: {error}: it has left the air{kept}"
        self._is_over = self._for_one_run
        self._drop()


def _stay(_: Course) -> None:
    """Do nothing: no agent moves a node without a driver."""


def as_address(fields: Sequence[Any]) -> Address:
    """The address from a JSON list."""
    host, port, *others = fields
    return (str(host), int(port)) if not others else (str(host), int(port), int(others[0]), int(others[1]))
