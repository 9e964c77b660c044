"""The `castalia` back-end: the host's side of docs/reference/bridge.md, and its factories.

A connected simulator carries the messages and owns the clock. Each turn costs a round trip; two features, agreed on in
the hello messages, save some:

- *Batching.* A Step of the wire covers a window of instants, split into one Step each for the host.
- *Lookahead.* The simulator promises a time before which nothing arrives; earlier timers need no round trip.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from roambus.bridge.backend import Course, Hello, Step, Totals, Transmission, sent_before
from roambus.bridge.backends.castalia.installation import Program, find_installation
from roambus.bridge.backends.castalia.simulators import (
    ServedSimulator,
    Simulator,
    StartedSimulator,
    Ways,
    ways_of,
)
from roambus.bridge.backends.castalia.zeromq import Connection, Endpoint
from roambus.bridge.formats.ini.lookup import NoFurtherKeys, SimulatorKeys
from roambus.bridge.keys import path_of
from roambus.bridge.mobility.given_way import MOVEMENT_FILE, GivenWay
from roambus.bridge.mobility.paths import steered
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.models import PROPAGATIONS, RADIOS
from roambus.bridge.scenario.radio import InterferenceSettings, RadioSettings
from roambus.bridge.system.errors import BackendError, ProtocolError, UserError
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import Goodbye, Note, Reject, ToSimulator
from roambus.bridge.wire.wire_pb2 import Hello as Opening
from roambus.bridge.wire.wire_pb2 import Step as Instant
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time


class Lookahead:
    """Knows the last instant of full information (docs/reference/bridge.md, "Lookahead").

    Between two Steps `until` only comes nearer: a sent packet arrives after its time on the air at the earliest.
    """

    def __init__(self, hello: Opening) -> None:
        self.until: SimTime = -1
        """Everything up to this time is known."""
        self._least_delay = hello.least_delay
        self._delay_per_byte = hello.delay_per_byte
        self._most_bytes = hello.most_bytes
        self._refused_first = hello.processing_delay > 0
        """Whether a refusal precedes its instant's timers."""
        self._now: SimTime = -1
        self._room = 0
        self._packets: Counter[NodeId] = Counter()
        """Packets that each node has sent since the Step."""

    def start(self, step: Instant) -> None:
        """Takes what a Step says."""
        self._now = self.until = step.now
        if step.HasField("quiet"):
            self.until = max(self._now, step.quiet.until - 1)
            self._room = step.quiet.room
            self._packets.clear()

    def sent(self, transmissions: Iterable[Transmission]) -> None:
        """Takes what the host sends."""
        if self.until <= self._now:
            return
        for node, at, _, _, size in transmissions:
            self._packets[node] += 1
            last = at + self._least_delay + self._delay_per_byte * size - 1
            # One that may not fit can be refused at the instant at which it is sent, which is before anything arrives.
            if self._packets[node] > self._room or size > self._most_bytes:
                last = min(last, at - self._refused_first)
            self.until = max(self._now, min(self.until, last))


class CastaliaBackend:
    """Connects to a simulator that carries the messages and owns the clock."""

    def __init__(  # noqa: PLR0913  # what is agreed on in the hello messages
        self,
        scenario: Scenario,
        messages: MessageSet,
        simulator: Simulator,
        *,
        batching: bool = True,
        lookahead: bool = True,
        moves: bool = False,
    ) -> None:
        """`messages` of the scenario's agent decode arrivals."""
        self._scenario = scenario
        self._messages = messages
        self._simulator = simulator
        self._host = wire.HostSide(scenario.time_limit, batching=batching, lookahead=lookahead, moves=moves)
        self._moves = moves
        self._connection: Connection | None = None
        self._steps: wire.StepReader | None = None
        self._instants: deque[Step] = deque()
        """Pending instants of the last wire Step."""
        self._now: SimTime = 0
        self._lookahead = Lookahead(Opening())
        self._more = False
        self._outgoing: list[Transmission] = []
        self._notes: list[Note] = []
        self._courses: list[Course] = []
        self._totals: Totals | None = None
        self.round_trips = 0
        """Pairs of Step and Reply so far."""

    def open(self) -> Hello:
        """Wait for the simulator's Hello; raise UserError, BackendError."""
        try:
            self._connection = self._simulator.connect()
            frame = self._connection.receive_hello(self._simulator.hello_within_s)
            hello = self._read_hello(frame, self._connection)
        except BackendError as error:
            raise self._placed(error, "before the start") from error
        own = steered(self._scenario)
        self._steps = wire.StepReader(hello, self._messages, self._host.sent, moves=self._moves, steered=own)
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Run as in `Backend.advance`, with one round trip per window."""
        if transmissions:
            for transmission in transmissions:
                if transmission.at < self._now:
                    raise sent_before(transmission, self._now)
            self._outgoing += transmissions
            self._lookahead.sent(transmissions)
        step = self._next(wake_up)
        if step is not None:
            self._now = step.now
        return step

    def _next(self, wake_up: SimTime | None) -> Step | None:
        while self._totals is None:
            # Instants of the window first; a wake-up between two of them is a Step of its own, which the simulator need
            # not know of.
            if self._instants and (wake_up is None or self._instants[0].now <= wake_up or self._more):
                return self._instants.popleft()
            if wake_up is not None and wake_up <= self._lookahead.until and not self._more:
                return Step(wake_up)
            try:
                self._exchange(None if self._more else wake_up)
            except BackendError as error:
                raise self._placed(error, f"after simulation time {format_time(max(self._now, 0))}") from error
        return None

    def fail(self, error: BaseException) -> None:
        """Send the reason of the run's end to the simulator's log."""
        if self._connection is None or self._steps is None:
            return
        with suppress(BackendError):
            self._connection.send(ToSimulator(failed=wire.write_failed(error)))

    def close(self) -> Totals:
        """End the simulator; raise BackendError if disorderly after a whole run."""
        try:
            self._simulator.end(in_order=self._totals is not None)
        except BackendError as error:
            raise self._placed(error, "after the end of the run") from error
        return self._totals or Totals()

    def _read_hello(self, frame: bytes, connection: Connection) -> Hello:
        """Read Hello; a refused simulator logs the reason."""
        try:
            said = wire.parse(frame, "hello").hello
            hello = wire.read_hello(said, self._scenario, connection.token)
        except ProtocolError as error:
            connection.send(ToSimulator(reject=Reject(reason=str(error))))
            raise
        self._lookahead = Lookahead(said)
        return replace(
            hello,
            take_note=self._take_note if said.wants_notes else None,
            steer=self._courses.append if said.steers else None,
        )

    def _take_note(self, time: SimTime, node: NodeId, text: str) -> None:
        self._notes.append(Note(time=time, node=node, text=text))

    def _exchange(self, wake_up: SimTime | None) -> None:
        connection, steps = self._connection, self._steps
        if connection is None or steps is None:
            raise RuntimeError("advance was called before open")
        connection.send(self._host.answer(self._outgoing, wake_up, self._notes, self._courses))
        for told in (self._outgoing, self._notes, self._courses):
            told.clear()
        message = wire.parse(connection.receive(), "step", "finished", "failed")
        match message.WhichOneof("body"):
            case "step":
                self._instants.extend(steps.read(message.step, wake_up, self._now))
                self._lookahead.start(message.step)
                self._more = message.step.more
                self.round_trips += 1
            case "finished":
                self._totals = steps.finish(message.finished, self._host.sends)
                # Only now, when the totals were read: if they break a rule, the simulator gets that in place of
                # goodbye.
                connection.send(ToSimulator(goodbye=Goodbye()))
            case _:
                raise BackendError(f"the simulator gave up: {message.failed.reason}")

    def _placed(self, error: BackendError, when: str) -> BackendError:
        """Return the error with run, time, and the simulator's own words."""
        return type(error)(f"{self._simulator.run}, {when}: {error}{self._simulator.last_lines()}")


def _check_scenario(scenario: Scenario) -> None:
    """Raise UserError for features that Castalia silently ignores."""
    if scenario.measured is not None:
        raise UserError("Castalia has no measured links: leave SN.links.file out, or run this on the embedded radio")
    check_radio_alone(scenario, "Castalia")


def _check_positions(scenario: Scenario) -> None:
    """Raise UserError if expected deliveries depend on movement that Castalia draws."""
    workload = scenario.workload
    placed = any(publication.placed for publication in workload.publications)
    if (placed or any(subscription.filter.is_moving for subscription in workload.subscriptions)) and not all(
        isinstance(node.mobility, GivenWay) for node in scenario.nodes
    ):
        raise UserError(
            "who is to deliver depends on places, which Castalia draws: "
            f"give {MOVEMENT_FILE.name}, or use --backend radio"
        )


def check_radio_alone(scenario: Scenario, simulator: str) -> None:
    """Raise UserError for wrong strength readings, others' traffic, and a path loss or a reception of a package."""
    for models, model in ((PROPAGATIONS, scenario.propagation), (RADIOS, scenario.reception)):
        if type(model) is not models.default:
            problem = f"{simulator} does not have the {models.what} {models.name_of(model)}: use --backend radio"
            raise UserError(f"{models.key.name}: {problem}")
    for name in ("rssi_offset_db", "rssi_noise_db"):
        if getattr(scenario.radio, name):
            key = path_of(RadioSettings, name)
            raise UserError(
                f"{key}: {simulator} reads all signal strengths without error: leave it at 0, or use --backend radio"
            )
    if scenario.interference.rate_per_s:
        key = path_of(InterferenceSettings, "rate_per_s")
        raise UserError(f"{key}: {simulator} does not simulate interference: set it to 0, or use --backend radio")


DEADLINE_S = 30.0
"""The default wait for the other side, in seconds."""


@dataclass(frozen=True, slots=True)
class BridgedFactory:
    """Options of simulators in another process."""

    # None is what the command line has where nobody has given a deadline.
    deadline_s: float | None = None
    asks_for_moves: ClassVar[bool] = True

    def started(
        self, scenario: Scenario, agent: type[Agent], folder: Path, program: Program, ways: Ways
    ) -> CastaliaBackend:
        """Return a back-end that starts the program on `open`."""
        simulator = StartedSimulator(folder, program, self.deadline_s or DEADLINE_S, ways)
        return self.over(scenario, agent, simulator)

    def over(self, scenario: Scenario, agent: type[Agent], simulator: Simulator) -> CastaliaBackend:
        """Return the back-end over this simulator."""
        moves = agent.needs_position and self.asks_for_moves
        return CastaliaBackend(scenario, agent.messages, simulator, moves=moves)


@dataclass(frozen=True, slots=True)
class CastaliaFactory(BridgedFactory):
    """Starts Castalia for each run."""

    name: str = "castalia"

    def beyond(self) -> SimulatorKeys:
        """Return every key in Castalia's NED files; raise UserError."""
        return find_installation().types()

    def prepare(self, scenario: Scenario) -> None:
        """Raise UserError if Castalia or our modules are missing, or links are unplayable."""
        _check_scenario(scenario)
        find_installation()

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> CastaliaBackend:
        """Return a run's back-end; nothing starts before `open`."""
        _check_positions(scenario)
        return self.started(scenario, agent, folder, find_installation().program(), ways_of(scenario))


@dataclass(frozen=True, slots=True)
class ServeFactory(BridgedFactory):
    """Waits for a simulator that a user starts."""

    address: str | None = None
    """tcp://ADDRESS:PORT; None for a private ipc socket."""
    wait_s: float = field(kw_only=True)
    announce: Callable[[Path], None] = field(kw_only=True)
    """Receives the run's folder once the host listens."""
    name: str = "castalia"

    def beyond(self) -> SimulatorKeys:
        """Return the known keys of a Castalia possibly on another machine."""
        try:
            return find_installation().types()
        except UserError:
            return NoFurtherKeys()

    def prepare(self, scenario: Scenario) -> None:
        """Raise UserError for an unusable address, or links that Castalia cannot play."""
        _check_scenario(scenario)
        if self.address is not None:
            Endpoint.tcp(self.address)

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> CastaliaBackend:
        """Return a run's back-end, which listens on `open`."""
        _check_positions(scenario)
        deadline_s, ways = self.deadline_s or DEADLINE_S, ways_of(scenario)
        simulator = ServedSimulator(folder, self.address, deadline_s, self.wait_s, self.announce, ways)
        return self.over(scenario, agent, simulator)
