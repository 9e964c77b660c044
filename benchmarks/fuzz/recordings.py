"""Real conversations with the stand-in, kept in memory, and valid short ones cut out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import cast

from benchmarks.failures.stand_in import STAND_IN, all_linked
from roambus.bridge.agents.registry import load_agent
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.connection import Connection
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.backends.interface import Move, Totals
from roambus.bridge.errors import UserError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.writer import TraceWriter
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import FromSimulator, ToSimulator
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep, plain_axis
from roambus.experiments.templates.render import find_template
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.simtime import SimTime

NODES, SECONDS = 6, 20
SCRIPT_FILE = "script"
DEADLINE_S = 30.0
STEPS = 4
"""At most so many in a short conversation, those of one instant counted as one."""


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
    if not STAND_IN.is_file():
        raise UserError(f"{STAND_IN} is not there: build it with make -C omnet stand-in")
    scenario = replace(_scenario(agent, folder), processing_delay=processing_delay)
    refusals = [f"refuse {node} {node}000000000" for node in range(1, NODES)]
    delay = f"processing_delay {processing_delay}"
    (folder / SCRIPT_FILE).write_text("\n".join([*all_linked(NODES, SECONDS), delay, *refusals]), encoding="utf-8")
    simulator = _Recorder(StartedSimulator(folder, Program((str(STAND_IN), SCRIPT_FILE)), DEADLINE_S))
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
