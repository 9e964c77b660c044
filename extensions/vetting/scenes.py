"""The scenes in which an agent is vetted, and a run of it in one of them.

Eight nodes publish and subscribe for twelve seconds while some crash, freeze, leave and return (`vet.ini.j2`): on ideal
links, on the radio, and with frames of about the largest size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.agents import Handle, shared_generators_unused
from roambus.bridge.host.event_loop import Host
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import AgentError, SideEffectError
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import Template, Values
from roambus.extensions.vetting.contract import Contract
from roambus.extensions.vetting.findings import Finding, of_error, place_of_agent
from roambus.extensions.vetting.movement import let_move
from roambus.extensions.vetting.watching import LONGEST_CALL_S, RUNS, Calls
from roambus.python_protocol.actions import Action, Note, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, TimerFired
from roambus.python_protocol.simtime import MICROSECOND, SimTime, format_time

TIMERS = "timers"
"""The check of timers."""
HOLDS = "holds"
"""The trace row with a sent message's bytes, to compare contents."""
SEED = 1
MOST_CALLS = 200_000
"""Calls of handlers in a run, of which the shipped agents need some thousand."""
TEMPLATE = Template(Path(__file__).with_name("vet.ini.j2"))


@dataclass(frozen=True, slots=True)
class Scene:
    """A back-end, and the first publisher's payload in bytes; others add `step` each."""

    name: str
    backend: Callable[[Scenario], Backend]
    payload: int
    step: int


SCENES = (
    Scene("on ideal links", make_ideal, 20, 0),
    Scene("on the radio", RadioBackend, 20, 0),
    Scene("with frames at the size limit", RadioBackend, 930, 40),
)
"""Payloads of 930 to 1010 bytes make frames of about 1024, the radio's most."""


@dataclass(frozen=True, slots=True)
class Job:
    """One process's agent, and its folder of traces."""

    agent: str
    parameters: str
    folder: Path
    is_first: bool = True
    """Whether this process runs the one-process checks."""
    longest_call_s: float = LONGEST_CALL_S
    """A handler that takes longer loops, or waits."""

    layout: int = 0
    """Another number makes other addresses of objects."""
    only: str = ""
    """The one scene to run; empty for all."""

    def scenes(self) -> tuple[Scene, ...]:
        """The scenes in this process' order."""
        if self.only:
            return tuple(scene for scene in SCENES if scene.name == self.only)
        return SCENES if self.is_first else SCENES[::-1]

    def scenario(self, scene: Scene) -> Scenario:
        """Return a scene's scenario; raise UserError for refused parameters."""
        variables: Values = {
            "seed": SEED,
            "agent": self.agent,
            "agent_parameters": self.parameters,
            "payload": scene.payload,
            "step": scene.step,
        }
        return parse_scenario(TEMPLATE.render(variables), TEMPLATE.file, TEMPLATES)

    def trace(self, scene: Scene) -> Path:
        """The trace file of a scene."""
        return self.folder / f"{scene.name.replace(' ', '-')}.parquet"

    def isolated(self) -> Job:
        """Return this job for isolated runs."""
        return replace(self, folder=self.folder / "isolated")


def play(job: Job, scene: Scene, agent_class: type[Agent], calls: Calls) -> Iterator[Finding]:
    """Run a scene, and write its trace if the run ends well; raise OSError."""
    scenario = let_move(job.scenario(scene), agent_class)
    trace, watch, contract = TraceWriter(TraceLevel.FULL), _Watch(scene.name, calls), Contract(agent_class)
    backend = scene.backend(scenario)
    with calls.during(f"{scene.name}, agents are made"):
        host = Host(scenario, agent_class, backend, trace, check=True, wrappers=[watch.wrap, contract.wrap])
    try:
        with shared_generators_unused(job.agent), contract.watching():
            host.run()
    except (AgentError, SideEffectError) as error:
        yield from contract.findings
        yield of_error(f"{RUNS}, {scene.name}", error)
        return
    yield from contract.findings
    place = place_of_agent(agent_class)
    for action, after in sorted(watch.hasty.items()):
        yield Finding(TIMERS, f"{action} after {after} ns: write {after} * SECOND if seconds are meant", place)
    for key in sorted(map(repr, watch.unhandled)):
        yield Finding(TIMERS, f"the timer {key} runs out, and there is no handler for it", place)
    trace.write(job.trace(scene), {})


class _Watch:
    """Observes the timers of a run's agents."""

    def __init__(self, scene: str, calls: Calls) -> None:
        self._scene, self._calls = scene, calls
        calls.begin_run()
        self.unhandled: set[Any] = set()
        """Expired timers' keys without a handler."""
        self.hasty: dict[str, SimTime] = {}
        """Actions with a positive delay (ns) below any radio's resolution."""

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Wrap a handler to add each sent message's bytes to the trace."""

        def handle_watched(event: Event, now: SimTime) -> Iterable[Action]:
            if isinstance(event, TimerFired) and not _has_handler(type(agent), event):
                self.unhandled.add(event.key)
            self._calls.count(MOST_CALLS)
            with self._calls.during(describe_call(self._scene, agent, event, now)):
                actions = list(handle(event, now))
            for action in actions:
                if isinstance(action, Send | SetTimer) and 0 < action.after < MICROSECOND:
                    what = (
                        "a message is sent"
                        if isinstance(action, Send)
                        else f"the timer {action.key!r} is set to run out"
                    )
                    self.hasty.setdefault(what, action.after)
            return with_contents(actions)

        return handle_watched


def describe_call(scene: str, agent: Agent, event: Event, now: SimTime) -> str:
    """Return where and when an event is handled, in words that need no code of the agent's."""
    what = type(event).__name__
    if isinstance(event, Received):
        what = f"{what} {type(event.message).__name__}"
    elif isinstance(event, TimerFired):
        what = f"{what} {event.key!r}" if type(event.key) is str else f"{what} {type(event.key).__name__}"
    return f"{scene}, node {agent.node}, at {format_time(now)}, on {what}"


def with_contents(actions: Iterable[Action]) -> Iterator[Action]:
    """Add a note of bytes after each sent message."""
    for action in actions:
        yield action
        if isinstance(action, Send):
            held = ""
            with suppress(Exception):  # the host reports a message that cannot be encoded
                held = action.message.encode().hex()
            yield Note(HOLDS, detail=held)


def _has_handler(agent_class: type[Agent], event: TimerFired) -> bool:
    if agent_class.handle is not Agent.handle:
        return True
    timers = agent_class.timer_handlers
    return type(event.key) in timers or event.key in timers or TimerFired in agent_class.handlers
