"""Vets an agent: runs it in scenes that every agent must survive, in several processes, and compares the traces.

In a scene eight nodes publish and subscribe for twelve seconds while some crash, freeze, leave and return, on ideal
links, on the radio, and with frames about the largest that the radio sends (`vet.ini.j2`). The rules:

- A process examines the agent by itself: the runs of all scenes must end well, and no node may change what all share.
  The first process also looks at what needs no second one (`messages`).
- The processes differ in all that a trace may not depend on: the hash seed by which Python orders sets of texts, the
  order of the runs, the clock, and the addresses of objects. Where two traces of one run differ, time or chance come
  from elsewhere than from the agent's own `now` and `random`, and the lines that could be to blame are named.
- The first process begins with runs in which each node has a process of its own, and shares nothing with the others,
  whatever Python lets objects share. A trace that differs from the one that all nodes make together shows that they
  know of each other what no message has told them. This says less than what `findings` sees, so it is told last.
- An agent can do anything to its process, even end it. So none runs in the process of the user's command, and what it
  prints is lost: the only thing that is read is a line of JSON for each step of an examination.
"""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import IO, Any, cast

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import AgentError, SideEffectError, UserError
from roambus.bridge.host.agents import Handle, check_receipts, raised_at
from roambus.bridge.host.codec import CodecCheck
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.runs.child import EndedError, run_in_child, start_child
from roambus.bridge.runs.side_effects import shared_generators_unused
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter, first_difference
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import Values, render
from roambus.experiments.vetting.findings import CHECK as SHARED
from roambus.experiments.vetting.findings import Finding, SharedMemory, image, of_error, place_of_agent, suspects
from roambus.experiments.vetting.messages import check_round_trips, check_strangers
from roambus.python_protocol.actions import Action, CancelTimer, Note, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, TimerFired
from roambus.python_protocol.vocabulary import MICROSECOND, NodeId, SimTime

RUNS, TIMERS, REPEATABLE = "runs", "timers", "repeatable"
HASH_SEEDS = (0, 1, 2)
"""The hash seed of each process."""
HOLDS = "holds"
"""The row behind a message that is sent, with its bytes."""
SEED = 1
"""The seed of the scenes' scenarios."""
TEMPLATE = Path(__file__).with_name("vet.ini.j2")

Advance = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """A run: its back-end, and the payload of the first publisher in bytes; the two others' are `step` larger each."""

    name: str
    backend: Callable[[Scenario], Backend]
    payload: int
    step: int


SCENES = (
    Scene("on ideal links", make_ideal, 20, 0),
    Scene("on the radio", RadioBackend, 20, 0),
    Scene("with frames at the size limit", RadioBackend, 930, 40),
)
"""A notification with a payload of 930 to 1010 bytes makes frames of about 1024, the most that the radio sends."""
_STEPS_OF_FIRST = 3
"""The steps of the first process after its scenes."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does: `turn` is the scene to begin with, `is_first` that it also looks at all else."""

    agent: str
    parameters: str
    folder: Path
    turn: int = 0
    is_first: bool = True

    def trace(self, scene: Scene) -> Path:
        """The file of a scene's trace."""
        return self.folder / f"{scene.name.replace(' ', '-')}.parquet"

    def alone(self) -> Job:
        """The same, whose traces are of nodes that have a process each."""
        return replace(self, folder=self.folder / "alone")


# The user's process


def vet(agent: str, parameters: Mapping[str, str] | None = None, advance: Advance = lambda: None) -> list[Finding]:
    """What is wrong with an agent; empty if nothing was found. `advance` is called after each of `steps_of_all()`.

    `agent` is a name, module:Class or a file. Raises UserError if it cannot be used at all, such as for its parameters.
    """
    texts = " ".join(f"{name}={value}" for name, value in sorted((parameters or {}).items()))
    with TemporaryDirectory(prefix="roambus-vet-") as folder, ExitStack() as processes:
        jobs = [
            Job(agent, texts, Path(folder, str(number)), turn=number % len(SCENES), is_first=number == 0)
            for number in range(len(HASH_SEEDS))
        ]
        examiners = [_start(job, seed, processes) for job, seed in zip(jobs, HASH_SEEDS, strict=True)]
        found = [finding for one in examiners for finding in _listen(one, advance)]
        lines, differences = run_in_child(lambda: suspects(load_agent(agent))), list(_differences(jobs))
        # What is seen to change, and chance, are told with their lines, and would make these traces differ, too.
        if not any(one.check == SHARED for one in found) and not (lines and differences):
            differences = list(differences_alone(jobs[0])) or differences
        return list(dict.fromkeys([*found, *differences]))


def steps_of_all() -> int:
    """How often `vet` calls `advance`."""
    return len(HASH_SEEDS) * len(SCENES) + _STEPS_OF_FIRST


def _start(job: Job, hash_seed: int, processes: ExitStack) -> subprocess.Popen[str]:
    """A process that examines, until `processes` ends."""
    job.folder.mkdir()
    process = processes.enter_context(
        subprocess.Popen(
            [sys.executable, "-P", "-m", "roambus.experiments.vetting.examination"],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    processes.callback(process.kill)  # it is called first, so that leaving the process does not wait for its end
    with suppress(BrokenPipeError), cast("IO[str]", process.stdin) as task:
        json.dump({**asdict(job), "folder": str(job.folder)}, task)
    return process


def _listen(process: subprocess.Popen[str], advance: Advance) -> Iterator[Finding]:
    """What a process finds; raises UserError if it cannot use the agent."""
    for line in cast("IO[str]", process.stdout):
        step = json.loads(line)
        if "error" in step:
            raise UserError(step["error"])
        if "end" in step:
            return
        yield from (Finding(**one) for one in step["findings"])
        advance()
    last_words = cast("IO[str]", process.stderr).read().strip().splitlines()[-1:]
    yield Finding(RUNS, ": ".join([str(EndedError(process.wait())), *last_words]))


def _differences(jobs: list[Job]) -> Iterator[Finding]:
    """A finding for the first scene whose traces differ."""
    first, *others = jobs
    for scene in SCENES:
        for other in others:
            one, two = first.trace(scene), other.trace(scene)
            if not (one.exists() and two.exists()) or one.read_bytes() == two.read_bytes():
                continue
            place, where = run_in_child(lambda: _suspects(first.agent))
            text = f"{scene.name} another process makes another trace of the same run: {first_difference(one, two)}"
            yield Finding(REPEATABLE, f"{text}; {where}", place)
            return


def differences_alone(job: Job) -> Iterator[Finding]:
    """A finding for the first scene that comes out otherwise if each node has a process of its own."""
    for scene in SCENES:
        together, alone, end = job.trace(scene), job.alone().trace(scene), job.alone().trace(scene).with_suffix(".end")
        if not together.exists() or not (end.exists() or alone.exists()):
            continue
        if end.exists():
            how = f"the run fails: {end.read_text(encoding='utf-8')}"
        elif together.read_bytes() != alone.read_bytes():
            how = f"the trace differs: {first_difference(together, alone)}"
        else:
            continue
        words = "so they share something, such as a closure, a cache or a global, which machines cannot do"
        place, _ = run_in_child(lambda: (place_of_agent(load_agent(job.agent)), ""))
        yield Finding(SHARED, f"{scene.name}, if each node has a process of its own, {how}; {words}", place)
        return


def _suspects(agent: str) -> tuple[str, str]:
    """The place to name, and the words for the lines to look at."""
    agent_class = load_agent(agent)
    lines = suspects(agent_class)
    if lines:
        return lines[0].partition(" ")[0], f"look at {', '.join(lines)}"
    words = "the agent draws random numbers without self.random, or reads a clock instead of now"
    return place_of_agent(agent_class), words


# The process that examines


def main() -> None:
    """Examines what its input asks for, as JSON, and ends with the exit code 0 whatever was found."""
    # Whatever the agent prints must not come between the lines of JSON.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # it stays open to the end
    task = json.loads(sys.stdin.read())
    try:
        for found in examine(Job(**{**task, "folder": Path(task["folder"])})):
            print(json.dumps({"findings": [asdict(one) for one in found]}), file=answers, flush=True)  # to vetting
        print(json.dumps({"end": True}), file=answers, flush=True)  # as above
    except UserError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)  # as above


def examine(job: Job) -> Iterator[list[Finding]]:
    """What is found, step by step; raises UserError if the agent cannot be used at all."""
    agent_class = load_agent(job.agent)
    memory = SharedMemory(agent_class)
    if job.is_first:
        for scene in SCENES:  # before any node has left something in this process
            play_alone(job.alone(), scene, agent_class)
    for scene in (*SCENES[job.turn :], *SCENES[: job.turn]):
        yield list(_play(job, scene, agent_class))
    if job.is_first:
        yield list(memory.findings())
        yield list(check_round_trips(agent_class))
        yield list(check_strangers(agent_class, _scenario(job, SCENES[0])))


def _scenario(job: Job, scene: Scene) -> Scenario:
    variables: Values = {
        "seed": SEED,
        "agent": job.agent,
        "agent_parameters": job.parameters,
        "payload": scene.payload,
        "step": scene.step,
    }
    return parse_scenario(render(TEMPLATE, variables), TEMPLATE, TEMPLATES)


def _play(job: Job, scene: Scene, agent_class: type[Agent]) -> Iterator[Finding]:
    scenario = _scenario(job, scene)
    trace, seen = TraceWriter(TraceLevel.FULL), _Seen()
    host = Host(scenario, agent_class, scene.backend(scenario), trace, check=True, wrappers=[seen.wrap])
    before = seen.parameters()
    try:
        with shared_generators_unused(job.agent):
            host.run()
    except (AgentError, SideEffectError) as error:
        yield of_error(f"{RUNS}, {scene.name}", error)
        return
    if seen.parameters() != before:
        yield Finding(
            SHARED, "the parameters have changed during a run, and all nodes share them", place_of_agent(agent_class)
        )
    for what, after in sorted(seen.hasty.items()):
        asked = f"{what} after {after} ns: write {after} * SECOND if seconds are meant"
        yield Finding(TIMERS, asked, place_of_agent(agent_class))
    for key in sorted(map(repr, seen.unhandled)):
        yield Finding(TIMERS, f"the timer {key} runs out, and there is no handler for it", place_of_agent(agent_class))
    trace.write(job.trace(scene), {})


class _Seen:
    """What the agents of a run were seen to be."""

    def __init__(self) -> None:
        self.unhandled: set[Any] = set()
        """The keys of timers that have run out, and that no handler takes."""
        self.hasty: dict[str, SimTime] = {}
        """Actions after less time than any radio can resolve, but not at once, with the time in ns."""
        self._agents: list[Agent] = []

    def parameters(self) -> Any:
        """The parameters that all of them share, as they are now."""
        return image(vars(self._agents[0].parameters)) if self._agents else None

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Have the agent seen."""
        self._agents.append(agent)

        def handle_and_show(event: Event, now: SimTime) -> Iterable[Action]:
            if isinstance(event, TimerFired) and not _has_handler(type(agent), event):
                self.unhandled.add(event.key)
            actions: Iterable[Action] = list(handle(event, now))
            for one in actions:
                if isinstance(one, Send | SetTimer) and 0 < one.after < MICROSECOND:
                    what = "a message is sent" if isinstance(one, Send) else f"the timer {one.key!r} is set to run out"
                    self.hasty.setdefault(what, one.after)
            return _with_contents(actions)

        return handle_and_show


def _with_contents(actions: Iterable[Action]) -> Iterator[Action]:
    """The actions, with a row behind each message that has its bytes: else a trace does not say what messages hold."""
    for one in actions:
        yield one
        if isinstance(one, Send):
            held = ""
            with suppress(Exception):  # the host says what is wrong with it
                held = one.message.encode().hex()
            yield Note(HOLDS, detail=held)


def _has_handler(agent_class: type[Agent], event: TimerFired) -> bool:
    if agent_class.handle is not Agent.handle:
        return True
    timers = agent_class.timer_handlers
    return type(event.key) in timers or event.key in timers or TimerFired in agent_class.handlers


# Nodes that share nothing


def play_alone(job: Job, scene: Scene, agent_class: type[Agent]) -> None:
    """Writes the trace of a run in which each node has a process of its own, or a text that says what ended it."""
    scenario = _scenario(job, scene)
    trace, crew = TraceWriter(TraceLevel.FULL), _Crew(agent_class)
    host = Host(scenario, agent_class, scene.backend(scenario), trace, wrappers=[crew.wrap])
    job.folder.mkdir(exist_ok=True)
    with crew.at_work():
        try:
            host.run()
        except (AgentError, EOFError) as error:
            job.trace(scene).with_suffix(".end").write_text(crew.error or str(error), encoding="utf-8")
        else:
            trace.write(job.trace(scene), {})


class _Crew:
    """The agents of a run, each of which handles its events in a process that was forked before anything happened."""

    def __init__(self, agent_class: type[Agent]) -> None:
        self.error = ""
        """What an agent has raised."""
        self._class = agent_class
        self._handlers: list[Handle] = []
        self._channels: dict[NodeId, Connection] = {}
        # Classes and functions are the same objects in forked processes, also those that no module has by a name.
        self._known = {id(one): one for one in gc.get_objects() if isinstance(one, type | FunctionType)}

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Have the agent's events handled elsewhere, by this handler."""
        self._handlers.append(check_receipts(CodecCheck(self._class, everything=True))(agent, handle))

        def handle_elsewhere(event: Event, now: SimTime) -> Iterable[Action]:
            channel = self._channels[agent.node]
            channel.send_bytes(self._packed((event, now)))
            actions, self.error = self._unpacked(channel.recv_bytes())
            if self.error:
                raise RuntimeError(self.error)
            return _with_contents(cast("Iterable[Action]", actions))

        return handle_elsewhere

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Each agent has its process in the block."""
        with ExitStack() as stack:
            for node, handle in enumerate(self._handlers):
                self._channels[node], theirs = (stack.enter_context(end) for end in Pipe())
                number = start_child(partial(self._serve, handle, theirs))
                theirs.close()
                stack.callback(os.waitpid, number, 0)
                stack.callback(os.kill, number, signal.SIGKILL)
            yield

    def _serve(self, handle: Handle, channel: Connection) -> None:
        """Handles what comes. Keys of timers stay here, where they are what they were, and others get their numbers."""
        keys: dict[Hashable, int] = {}
        while True:
            event, now = self._unpacked(channel.recv_bytes())
            if isinstance(event, TimerFired):
                event = TimerFired(list(keys)[cast("int", event.key)])
            try:
                actions = list(handle(event, now))
                for one in actions:
                    if isinstance(one, SetTimer | CancelTimer):
                        one.key = keys.setdefault(one.key, len(keys))
                answer = self._packed((actions, ""))
            except Exception as error:  # the parent's host tells of whatever it is
                answer = self._packed(([], f"{type(error).__name__}: {error}{raised_at(error, self._class)}"))
            channel.send_bytes(answer)

    def _packed(self, value: object) -> bytes:
        data = io.BytesIO()
        pickler = pickle.Pickler(data)
        pickler.persistent_id = lambda one: id(one) if id(one) in self._known else None  # type: ignore[method-assign]  # as its documentation says
        pickler.dump(value)
        return data.getvalue()

    def _unpacked(self, data: bytes) -> Any:
        unpickler = pickle.Unpickler(io.BytesIO(data))  # noqa: S301  # from a process that we have forked
        unpickler.persistent_load = self._known.__getitem__  # type: ignore[method-assign]  # as above
        return unpickler.load()


if __name__ == "__main__":
    main()
