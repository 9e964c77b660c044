"""A run in which each node has a process of its own, so that nodes share nothing.

A trace that differs from one process's shows a class attribute, a global, a default, a closure or a cache. Forking
precedes the first event, so pickles can name all classes and functions by address. Keys of timers stay in the node's
process; the parent knows them by number.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
from collections.abc import Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType
from typing import Any, cast

from roambus.bridge.host.agents import Handle, raised_at
from roambus.bridge.host.event_loop import Host
from roambus.bridge.system.child_process import start_child
from roambus.bridge.system.errors import AgentError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.extensions.vetting.movement import let_move
from roambus.extensions.vetting.scenes import Job, Scene, describe_call, with_contents
from roambus.extensions.vetting.watching import Calls, EndlessError
from roambus.python_protocol.actions import Action, CancelTimer, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, TimerFired
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

MOST_ISOLATED_CALLS = 20_000
"""Each is a message to another process and back."""


def play_isolated(job: Job, scene: Scene, agent_class: type[Agent], calls: Calls) -> None:
    """Run a scene with a process for each node; write its trace or error, unless it is too long. Raise OSError."""
    scenario = let_move(job.scenario(scene), agent_class)
    trace, agents = TraceWriter(TraceLevel.FULL), _IsolatedAgents(agent_class, scene, calls)
    backend = scene.backend(scenario)
    with calls.during(f"{scene.name}, agents are made"):
        host = Host(scenario, agent_class, backend, trace, wrappers=[agents.wrap])
    job.folder.mkdir(exist_ok=True)
    with agents.processes():
        try:
            host.run()
        except (AgentError, EOFError) as error:
            if isinstance(error.__cause__, EndlessError):
                return
            error_file(job, scene).write_text(agents.error or str(error), encoding="utf-8")
        else:
            trace.write(job.trace(scene), {})


def error_file(job: Job, scene: Scene) -> Path:
    """The file with the error that ended a scene."""
    return job.trace(scene).with_suffix(".error")


class _Pickler(pickle.Pickler):
    """Python 3.13.0 lets `persistent_id` be set on instances of a subclass only."""


class _Unpickler(pickle.Unpickler):
    """The same for `persistent_load`."""


class _IsolatedAgents:
    """A run's agents, each in a forked process."""

    def __init__(self, agent_class: type[Agent], scene: Scene, calls: Calls) -> None:
        self.error = ""
        """The error that an agent raised."""
        self._class, self._scene, self._calls = agent_class, scene, calls
        calls.begin_run()
        self._handlers: list[tuple[Agent, Handle]] = []
        self._channels: dict[NodeId, Connection] = {}
        # `isinstance` asks a proxy for its object's class, which raises if the object is gone.
        self._known = {id(known): known for known in gc.get_objects() if issubclass(type(known), (type, FunctionType))}

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Replace a handler by a request to the agent's process."""
        self._handlers.append((agent, handle))
        # The host asks at the end of a run, and only the agent's process knows.
        agent.unsent = lambda: self._ask(agent.node, None)  # type: ignore[method-assign]

        def handle_elsewhere(event: Event, now: SimTime) -> Iterable[Action]:
            self._calls.count(MOST_ISOLATED_CALLS)
            return with_contents(cast("Iterable[Action]", self._ask(agent.node, (event, now))))

        return handle_elsewhere

    def _ask(self, node: NodeId, question: tuple[Event, SimTime] | None) -> Any:
        """Return the actions of an event, or without one the unsent notifications; raise RuntimeError."""
        channel = self._channels[node]
        channel.send_bytes(self._packed(question))
        answer, self.error = self._unpacked(channel.recv_bytes())
        if self.error:
            raise RuntimeError(self.error)
        return answer

    @contextmanager
    def processes(self) -> Iterator[None]:
        """Fork a process for each agent, and kill them after the block."""
        with ExitStack() as stack:
            for node, handler in enumerate(self._handlers):
                self._channels[node], theirs = (stack.enter_context(end) for end in Pipe())
                number = start_child(partial(self._serve, *handler, theirs))
                theirs.close()
                stack.callback(os.waitpid, number, 0)
                stack.callback(os.kill, number, signal.SIGKILL)
            yield

    def _serve(self, agent: Agent, handle: Handle, channel: Connection) -> None:
        where = f"{self._scene.name}, in a process of its own"
        keys: dict[Hashable, int] = {}
        while True:
            if (question := self._unpacked(channel.recv_bytes())) is None:
                channel.send_bytes(self._packed((list(type(agent).unsent(agent)), "")))
                continue
            event, now = question
            if isinstance(event, TimerFired):
                event = TimerFired(list(keys)[cast("int", event.key)])
            try:
                with self._calls.during(describe_call(where, agent, event, now)):
                    actions = list(handle(event, now))
                for action in actions:
                    if isinstance(action, SetTimer | CancelTimer):
                        action.key = keys.setdefault(action.key, len(keys))
                answer = self._packed((actions, ""))
            except Exception as error:  # any of them: the parent's host reports it
                answer = self._packed(([], f"{type(error).__name__}: {error}{raised_at(error, self._class)}"))
            channel.send_bytes(answer)

    def _packed(self, value: object) -> bytes:
        data = io.BytesIO()
        pickler: Any = _Pickler(data)
        pickler.persistent_id = lambda item: id(item) if id(item) in self._known else None
        pickler.dump(value)
        return data.getvalue()

    def _unpacked(self, data: bytes) -> Any:
        unpickler: Any = _Unpickler(io.BytesIO(data))  # from a process that we have forked
        unpickler.persistent_load = self._known.__getitem__
        return unpickler.load()
