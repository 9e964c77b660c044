"""Castalia with a host whose every answer is the test's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import NO_WAYS, Ways, linked_directory, run_directory
from roambus.bridge.backends.castalia.zeromq import Connection, Endpoint
from roambus.bridge.runs.layout import INI_FILE, SIMULATOR_LOG
from roambus.bridge.runs.run import write_inputs
from roambus.bridge.wire import conversion as wire
from roambus.bridge.wire.wire_pb2 import (
    Course,
    Failed,
    Finished,
    FromSimulator,
    Goodbye,
    Hello,
    Send,
    Step,
    ToSimulator,
    Welcome,
)
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime

DEADLINE_S = 5.0
CASTALIAS_TRACE = "Castalia-Trace.txt"
Variables = Mapping[str, Scalar]
KINDS = ("hello", "step", "finished", "failed")


def write_run(
    folder: Path,
    variables: Variables,
    changes: Mapping[str, str] | None = None,
    more: Iterable[str] = (),
    *,
    template: str = "field",
) -> Path:
    """Renders the template, and then replaces texts in it and adds lines; returns the folder."""
    sweep = Sweep("test", find_template(template), (AgentChoice("beacon", "beacon"),), fixed=variables)
    (plan,) = plan_runs(sweep, folder)
    write_inputs(plan, folder)
    ini = folder / INI_FILE
    text = ini.read_text()
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    ini.write_text(text + "".join(f"{line}\n" for line in more))
    return folder


def run_alone(folder: Path, castalia: Program, *, status: int = 0) -> str:
    """Runs Castalia without any host to its end; returns what it printed."""
    with linked_directory(folder, castalia.links):
        done = subprocess.run(
            castalia.command,
            cwd=folder,
            env=castalia.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert done.returncode == status, done.stdout[-2000:]
    return done.stdout


def send(time: SimTime, node: int, payload: bytes, destination: int = BROADCAST) -> Send:
    """What an agent wants sent."""
    return Send(time=time, node=node, destination=destination, payload=payload)


class ScriptedHost:
    """Castalia in a run's folder, and the host's end of the wire."""

    def __init__(self, folder: Path, castalia: Program, ways: Ways = NO_WAYS) -> None:
        self._folder = folder
        self._ways = ways
        self._castalia = castalia
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._resources.close()
            raise
        return self

    def _start(self) -> None:
        endpoint = self._resources.enter_context(Endpoint.private())
        directory = run_directory(self._folder, self._castalia.links, endpoint, DEADLINE_S, self._ways)
        self._resources.enter_context(directory)
        self.connection = Connection(endpoint, DEADLINE_S, self._ended)
        self._resources.callback(self.connection.close)
        self.process = subprocess.Popen(
            self._castalia.command,
            cwd=self._folder,
            env=self._castalia.environment,
            stdout=self._resources.enter_context((self._folder / SIMULATOR_LOG).open("w")),
            stderr=subprocess.STDOUT,
        )
        self._resources.callback(self._kill)
        self.hello: Hello = self._parse(self.connection.receive_hello(DEADLINE_S)).hello

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def welcome(self, wake_up: SimTime | None, *, batching: bool = True) -> FromSimulator:
        """Answers Hello; returns what the simulator says next."""
        return self.ask(ToSimulator(welcome=Welcome(wake_up=wake_up, batching=batching)))

    def reply(
        self, sends: Iterable[Send] = (), wake_up: SimTime | None = None, courses: Iterable[Course] = ()
    ) -> FromSimulator:
        """Answers a Step; returns what the simulator says next."""
        message = ToSimulator()
        message.reply.SetInParent()
        message.reply.sends.extend(sends)
        message.reply.courses.extend(courses)
        if wake_up is not None:
            message.reply.wake_up = wake_up
        return self.ask(message)

    def send_at(self, sends: Iterable[Send]) -> list[Step]:
        """Welcomes, gives each send when its time has come, and returns all Steps up to Finished."""
        waiting = sorted(sends, key=lambda frame: frame.time)
        said = self.welcome(waiting[0].time if waiting else None)
        steps = []
        while said.WhichOneof("body") == "step":
            steps.append(said.step)
            due = [frame for frame in waiting if frame.time <= said.step.now]
            waiting = waiting[len(due) :]
            said = self.reply(due, waiting[0].time if waiting else None)
        self.finished = self.end(said)
        return steps

    def end(self, said: FromSimulator) -> Finished:
        """Takes Finished and says Goodbye; Castalia must then end in order."""
        assert said.WhichOneof("body") == "finished", said
        self.connection.send(ToSimulator(goodbye=Goodbye()))
        assert self.process.wait(DEADLINE_S) == 0, self.log
        return said.finished

    @property
    def log(self) -> str:
        """What Castalia has printed."""
        return (self._folder / SIMULATOR_LOG).read_text()

    def fails(self) -> bool:
        """Waits for Castalia's end; whether its status is not 0."""
        return self.process.wait(3 * DEADLINE_S) != 0

    def give_up(self, reason: str) -> None:
        """Says Failed."""
        self.connection.send(ToSimulator(failed=Failed(reason=reason)))

    def ask(self, message: ToSimulator) -> FromSimulator:
        """Says anything; returns what the simulator says next."""
        self.connection.send(message)
        return self._parse(self.connection.receive())

    def _ended(self) -> str | None:
        return None if self.process.poll() is None else self.log

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @staticmethod
    def _parse(frame: bytes) -> FromSimulator:
        return wire.parse(frame, *KINDS)


def seconds(time: SimTime) -> float:
    """The time in seconds."""
    return time / SECOND
