"""Mutated frames at the host's side of the bridge: it handles what is still valid and rejects the rest with a reason.

python -m benchmarks.trials fuzz --trials 1000000 --seed 1

Real conversations with the stand-in are cut into short valid ones, which are mutated: in the bytes of a frame, in the
fields of a message, in the order of frames. The host must neither raise anything but its own errors, nor hang, nor take
much memory. Every 300th conversation goes through a real socket.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import cast

import zmq

from benchmarks.trials.harness import Asked, Chapter, Outcome
from benchmarks.trials.mutations import mutate
from benchmarks.trials.processes import all_linked, stand_in
from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Move, Totals
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.castalia.zeromq import Connection
from roambus.bridge.errors import BackendError, ProtocolError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import FromSimulator, ToSimulator
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.render import find_template
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.vocabulary import MILLISECOND, SimTime

NODES, SECONDS = 6, 20
SCRIPT_FILE = "script"
STEPS = 4
"""At most so many in a short conversation, those of one instant counted as one."""
MOST_STEPS = 1_000_000
"""A host that is told more Steps than this by a short conversation never ends."""
SILENCE = "everything is said"
DEADLINE_S = 5.0
RECORDING_S = 30.0
HANDLED, REJECTED, GONE = "handled to the end", "rejected: a rule is broken", "the simulator is gone, or gave up"
MEMORY, SOCKET = "from memory", "through a socket"
SOCKET_EVERY = 300
MEMORY_MIB = 200
"""How much more memory the host may have taken at any time than before the first mutated frame."""

# Conversations


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a simulator says, frame by frame, and the wake-ups that the host asks for meanwhile."""

    scenario: Scenario
    messages: MessageSet
    token: str
    frames: tuple[bytes, ...]
    wake_ups: tuple[SimTime | None, ...]
    """One for each frame but the first."""
    beginnings: tuple[int, ...] = ()
    """The frames with Steps that do not go on with what the one before announced."""

    def cut(self, random: Random) -> Conversation:
        """A short one: Hello, some Steps in a row, and a Finished that fits them."""
        place = random.randrange(len(self.beginnings) - STEPS)
        first, end = self.beginnings[place], self.beginnings[place + random.randint(1, STEPS)]
        steps = self.frames[first:end]
        frames = (self.frames[0], *steps, _finished(steps, self.scenario))
        return replace(self, frames=frames, wake_ups=self.wake_ups[first - 1 : end - 1])


def _finished(steps: Sequence[bytes], scenario: Scenario) -> bytes:
    arrivals = [arrival for frame in steps for arrival in FromSimulator.FromString(frame).step.arrivals]
    nodes = range(len(scenario.nodes))
    moves = [Move(scenario.time_limit // 2, node, 1.5, 2.5) for node in nodes]
    totals = Totals({"received": [1 for _ in nodes]}, [62.5 for _ in nodes], moves)
    return wire.write_finished(totals, 0, sum(len(arrival.receivers) for arrival in arrivals)).SerializeToString()


def record(agent: str, folder: Path, processing_delay: SimTime = 0, *, batching: bool = True) -> Conversation:
    """A whole run of this agent with the stand-in; raises UserError if that is not built."""
    scenario = replace(_scenario(agent, folder), processing_delay=processing_delay)
    refusals = [f"refuse {node} {node}000000000" for node in range(1, NODES)]
    delay = f"processing_delay {processing_delay}"
    (folder / SCRIPT_FILE).write_text("\n".join([*all_linked(NODES, SECONDS), delay, *refusals]), encoding="utf-8")
    simulator = _Recorder(StartedSimulator(folder, Program((str(stand_in()), SCRIPT_FILE)), RECORDING_S))
    agent_class = load_agent(agent)
    # With lookahead a Step says what the next ones may be, so that nothing could be cut out of their middle.
    backend = CastaliaBackend(scenario, agent_class.messages, simulator, batching=batching, lookahead=False)
    Host(scenario, agent_class, backend, TraceWriter()).run()
    frames, wake_ups = tuple(simulator.frames), tuple(simulator.wake_ups)
    return Conversation(scenario, agent_class.messages, simulator.token, frames, wake_ups, _beginnings(frames))


def _beginnings(frames: Sequence[bytes]) -> tuple[int, ...]:
    announced = [FromSimulator.FromString(frame).step.more for frame in frames[:-2]]
    return tuple(place for place, more in enumerate(announced, 1) if not more)


def _scenario(agent: str, folder: Path) -> Scenario:
    axes = (plain_axis("time_limit", [SECONDS]), plain_axis("publish_until", [SECONDS]))
    sweep = Sweep("fuzz", find_template("thesis"), (AgentChoice(agent, agent),), axes)
    (plan,) = plan_runs(sweep, folder)
    return parse_scenario(plan.ini, folder, plan.radio_file.parent)


class _Recorder:
    """A started simulator, and what it says."""

    def __init__(self, simulator: StartedSimulator) -> None:
        self.run, self.hello_within_s = simulator.run, simulator.hello_within_s
        self.last_lines, self.end = simulator.last_lines, simulator.end
        self.frames: list[bytes] = []
        self.wake_ups: list[SimTime | None] = []
        self.token = ""
        self._simulator = simulator

    def connect(self) -> Connection:
        """See `Simulator`."""
        self._connection = self._simulator.connect()
        self.token = self._connection.token
        return cast("Connection", self)  # it has all that a back-end uses of one

    def receive_hello(self, within_s: float) -> bytes:
        """See `Connection`, as for the others."""
        self.frames.append(self._connection.receive_hello(within_s))
        return self.frames[-1]

    def receive(self) -> bytes:
        """The next frame."""
        self.frames.append(self._connection.receive())
        return self.frames[-1]

    def send(self, message: ToSimulator) -> None:
        """An answer, with its wake-up."""
        answer = message.welcome if message.HasField("welcome") else message.reply
        self.wake_ups.append(answer.wake_up if answer.HasField("wake_up") else None)
        self._connection.send(message)


# A simulator that says them


class FramesInMemory:
    """A simulator, and the connection to it, that says these frames and then nothing."""

    run = "run of the fuzzer"
    hello_within_s = DEADLINE_S

    def __init__(self, frames: Sequence[bytes], token: str) -> None:
        self.token = token
        self._frames = iter(frames)

    def connect(self) -> Connection:
        """See `Simulator`."""
        return cast("Connection", self)  # it has all that a back-end uses of one

    def last_lines(self) -> str:
        """See `Simulator`."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """See `Simulator`."""

    def receive_hello(self, within_s: float) -> bytes:  # noqa: ARG002  # as Connection has it
        """The first frame, whatever it is: a connection would pass on none without the token."""
        return self.receive()

    def receive(self) -> bytes:
        """The next frame."""
        frame = next(self._frames, None)
        if frame is None:
            raise BackendError(SILENCE)
        return frame

    def send(self, message: ToSimulator) -> None:
        """Nobody listens, but it must be possible to send."""
        message.SerializeToString()


class FramesOnSocket:
    """A simulator at the other end of a real socket, that says all frames at once and then nothing."""

    run = "run of the fuzzer"
    hello_within_s = DEADLINE_S

    def __init__(self, frames: Sequence[bytes], token: str) -> None:
        self._frames = frames
        self._token = token
        self._resources = ExitStack()

    def connect(self) -> Connection:
        """See `Simulator`."""
        endpoint = self._resources.enter_context(Endpoint.private())
        endpoint.token = self._token
        connection = Connection(endpoint, DEADLINE_S, lambda: SILENCE)
        self._resources.callback(connection.close)
        context = self._resources.enter_context(zmq.Context())
        dealer = self._resources.enter_context(context.socket(zmq.DEALER))
        dealer.setsockopt(zmq.LINGER, 0)
        dealer.connect(endpoint.address)
        for frame in self._frames:
            dealer.send(frame)
        return connection

    def last_lines(self) -> str:
        """See `Simulator`."""
        return ""

    def end(self, *, in_order: bool) -> None:  # noqa: ARG002  # as Simulator has it
        """See `Simulator`."""
        self._resources.close()


Feeder = Callable[[Sequence[bytes], str], FramesInMemory | FramesOnSocket]


def feed(conversation: Conversation, frames: Sequence[bytes], feeder: Feeder) -> str:
    """Plays a host without agents to the frames; what it made of them. Raises whatever the host's code should not."""
    simulator = feeder(frames, conversation.token)
    backend = CastaliaBackend(conversation.scenario, conversation.messages, simulator, lookahead=False)
    try:
        _advance_to_the_end(backend, conversation.wake_ups)
    except BackendError as error:
        if feeder is FramesOnSocket:  # from memory nobody would hear it, and its traceback takes half of the time
            backend.fail(error)
        if not str(error).startswith(simulator.run):
            raise AssertionError(f"the error does not name the run: {error}") from error
        return REJECTED if isinstance(error, ProtocolError) else GONE
    finally:
        backend.close()
    return HANDLED


def _advance_to_the_end(backend: CastaliaBackend, wake_ups: Sequence[SimTime | None]) -> None:
    backend.open()
    now = -1
    for _ in range(MOST_STEPS):
        asked = wake_ups[backend.round_trips] if backend.round_trips < len(wake_ups) else None
        step = backend.advance((), None if asked is None or asked <= now else asked)
        if step is None:
            return
        now = step.now
    raise AssertionError(f"the host was told more than {MOST_STEPS} Steps")


# Trials


def recordings() -> list[Conversation]:
    """One of each kind: with and without processing delay and batching, of two agents; raises UserError."""
    kinds = (("mft", 0, True), ("mft", MILLISECOND, True), ("aodv", MILLISECOND, False), ("aodv", 0, False))
    with tempfile.TemporaryDirectory() as folder:
        return [record(agent, Path(folder), delay, batching=batching) for agent, delay, batching in kinds]


def _try(conversation: Conversation, frames: Sequence[bytes], harm: str, feeder: Feeder) -> Outcome:
    start, complaints, end = time.perf_counter(), [], ""
    try:
        end = feed(conversation, frames, feeder)
    except Exception as error:  # whatever it is, it should not have come
        complaints.append(f"{type(error).__name__}: {error}: {[frame.hex() for frame in frames]}"[:2000])
    subject = MEMORY if feeder is FramesInMemory else SOCKET
    return Outcome(subject, harm, end, complaints, took_s=time.perf_counter() - start)


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    conversations, random = recordings(), asked.random()
    others = list(chain.from_iterable(conversation.frames for conversation in conversations))
    before = _peak_mib()
    for number in range(asked.trials):
        conversation = random.choice(conversations).cut(random)
        harm, mutated = mutate(conversation.frames, others, random)
        feeder: Feeder = FramesInMemory if number % SOCKET_EVERY else FramesOnSocket
        yield _try(conversation, mutated, harm, feeder)
    more = _peak_mib() - before
    complaints = [f"the host took {more:.0f} MiB, more than {MEMORY_MIB} MiB"] if more > MEMORY_MIB else []
    yield Outcome(MEMORY, "all of it", complaints=complaints)
    asked.notes.append(f"at most {more:.0f} MiB more memory")


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CHAPTER = Chapter(_run_chapter, (MEMORY, SOCKET), ("bytes", "fields", "order"), trials=1_000_000, longest_s=120.0)
