"""The host's side of the phases of docs/bridge.md, behind the interface of every back-end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from roambus.bridge.backends.castalia.channel import Channel
from roambus.bridge.backends.castalia.lookahead import Lookahead
from roambus.bridge.backends.castalia.simulators import Simulator
from roambus.bridge.backends.interface import Hello, Step, Totals, Transmission, sent_before
from roambus.bridge.errors import BackendError, ProtocolError
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import Goodbye, Note, Reject, ToSimulator
from roambus.bridge.wire.wire_pb2 import Hello as Opening
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time


class CastaliaBackend:
    """Lets a simulator at the other end of a connection carry the messages and own the clock."""

    def __init__(
        self,
        scenario: Scenario,
        messages: MessageSet,
        simulator: Simulator,
        *,
        batching: bool = True,
        lookahead: bool = True,
    ) -> None:
        """`messages` are those of the scenario's agent, which decode what arrives."""
        self._scenario = scenario
        self._messages = messages
        self._simulator = simulator
        self._host = wire.HostSide(scenario.time_limit, batching=batching, lookahead=lookahead)
        self._connection: Channel | None = None
        self._steps: wire.StepReader | None = None
        self._instants: deque[Step] = deque()
        """The instants of the last wire Step that the host has not been told of."""
        self._now: SimTime = 0
        self._lookahead = Lookahead(Opening())
        self._more = False
        self._outgoing: list[Transmission] = []
        self._notes: list[Note] = []
        self._totals: Totals | None = None
        self.round_trips = 0
        """The number of pairs of Step and Reply so far."""

    def open(self) -> Hello:
        """Waits for the simulator's Hello. Raises UserError, BackendError."""
        try:
            self._connection = self._simulator.connect()
            frame = self._connection.receive_hello(self._simulator.hello_within_s)
            hello = self._read_hello(frame, self._connection)
        except BackendError as error:
            raise self._placed(error, "before the start") from error
        self._steps = wire.StepReader(hello, self._messages)
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Runs as `Backend.advance` says; a window of several instants is one round trip, and a Step for each."""
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
        """Tells the simulator, for its own log, why the run ends here."""
        if self._connection is None or self._steps is None:
            return
        with suppress(BackendError):
            self._connection.send(ToSimulator(failed=wire.write_failed(error)))

    def close(self) -> Totals:
        """Ends the simulator; raises BackendError if it does not end in order after a whole run."""
        try:
            self._simulator.end(in_order=self._totals is not None)
        except BackendError as error:
            raise self._placed(error, "after the end of the run") from error
        return self._totals or Totals()

    def _read_hello(self, frame: bytes, connection: Channel) -> Hello:
        try:
            said = wire.parse(frame, "hello").hello
            hello = wire.read_hello(said, self._scenario, connection.token)
        except ProtocolError as error:
            connection.send(ToSimulator(reject=Reject(reason=str(error))))
            raise
        self._lookahead = Lookahead(said)
        return replace(hello, take_note=self._keep_note) if said.wants_notes else hello

    def _exchange(self, wake_up: SimTime | None) -> None:
        """Answers the last Step, or Hello, and takes what the simulator says next."""
        connection, steps = self._connection, self._steps
        if connection is None or steps is None:
            raise RuntimeError("advance was called before open")
        connection.send(self._answer(wake_up))
        message = wire.parse(connection.receive(), "step", "finished", "failed")
        match message.WhichOneof("body"):
            case "step":
                self._instants.extend(steps.read(message.step, wake_up, self._now))
                self._lookahead.start(message.step)
                self._more = message.step.more
                self.round_trips += 1
            case "finished":
                self._totals = steps.finish(message.finished, self._host.sends)
                connection.send(ToSimulator(goodbye=Goodbye()))
            case _:
                raise BackendError(f"the simulator gave up: {message.failed.reason}")

    def _answer(self, wake_up: SimTime | None) -> ToSimulator:
        answer = self._host.answer(self._outgoing, wake_up, self._notes)
        self._outgoing.clear()
        self._notes.clear()
        return answer

    def _keep_note(self, time: SimTime, node: NodeId, text: str) -> None:
        self._notes.append(Note(time=time, node=node, text=text))

    def _placed(self, error: BackendError, when: str) -> BackendError:
        return type(error)(f"{self._simulator.run}, {when}: {error}{self._simulator.last_lines()}")
