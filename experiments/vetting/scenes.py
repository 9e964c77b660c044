"""The scenes in which an agent is vetted, and a run of it in one of them.

In a scene eight nodes publish and subscribe for twelve seconds while some crash, freeze, leave and return
(`vet.ini.j2`): on ideal links, on the radio, and on the radio with frames about the largest that it sends.
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
from roambus.bridge.errors import AgentError, SideEffectError
from roambus.bridge.host.agents import Handle
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.runs.side_effects import shared_generators_unused
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import Values, render
from roambus.experiments.vetting.findings import CHECK as SHARED
from roambus.experiments.vetting.findings import Finding, image, of_error, place_of_agent
from roambus.python_protocol.actions import Action, Note, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, TimerFired
from roambus.python_protocol.vocabulary import MICROSECOND, SimTime

RUNS, TIMERS = "runs", "timers"
"""Names of checks."""
HOLDS = "holds"
"""The trace row behind each sent message, with its bytes: two traces then differ if a message's contents do."""
SEED = 1
TEMPLATE = Path(__file__).with_name("vet.ini.j2")


@dataclass(frozen=True, slots=True)
class Scene:
    """A back-end, and the payload of the first publisher in bytes; the two others' are `step` larger each."""

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


@dataclass(frozen=True, slots=True)
class Job:
    """The agent that one process examines, and the folder of its traces."""

    agent: str
    parameters: str
    folder: Path
    is_first: bool = True
    """Whether this process also runs the checks that need no second process."""

    def scenes(self) -> tuple[Scene, ...]:
        """The scenes in this process' order."""
        return SCENES if self.is_first else SCENES[::-1]

    def scenario(self, scene: Scene) -> Scenario:
        """The scenario of a scene; raises UserError if the agent does not take its parameters."""
        variables: Values = {
            "seed": SEED,
            "agent": self.agent,
            "agent_parameters": self.parameters,
            "payload": scene.payload,
            "step": scene.step,
        }
        return parse_scenario(render(TEMPLATE, variables), TEMPLATE, TEMPLATES)

    def trace(self, scene: Scene) -> Path:
        """The trace file of a scene."""
        return self.folder / f"{scene.name.replace(' ', '-')}.parquet"

    def isolated(self) -> Job:
        """The same job for the runs in which each node has its own process."""
        return replace(self, folder=self.folder / "isolated")


def play(job: Job, scene: Scene, agent_class: type[Agent]) -> Iterator[Finding]:
    """Runs a scene, and writes its trace if the run ends well."""
    scenario = job.scenario(scene)
    trace, watch = TraceWriter(TraceLevel.FULL), _Watch()
    host = Host(scenario, agent_class, scene.backend(scenario), trace, check=True, wrappers=[watch.wrap])
    before = watch.parameters()
    try:
        with shared_generators_unused(job.agent):
            host.run()
    except (AgentError, SideEffectError) as error:
        yield of_error(f"{RUNS}, {scene.name}", error)
        return
    place = place_of_agent(agent_class)
    if watch.parameters() != before:
        yield Finding(SHARED, "the parameters have changed during a run, and all nodes share them", place)
    for action, after in sorted(watch.hasty.items()):
        yield Finding(TIMERS, f"{action} after {after} ns: write {after} * SECOND if seconds are meant", place)
    for key in sorted(map(repr, watch.unhandled)):
        yield Finding(TIMERS, f"the timer {key} runs out, and there is no handler for it", place)
    trace.write(job.trace(scene), {})


class _Watch:
    """Observes the timers and the parameters of the agents of a run."""

    def __init__(self) -> None:
        self.unhandled: set[Any] = set()
        """The keys of timers that ran out and that no handler takes."""
        self.hasty: dict[str, SimTime] = {}
        """Actions with a delay above 0 and below the resolution of any radio, each with the delay in ns."""
        self._agents: list[Agent] = []

    def parameters(self) -> Any:
        """An image of the parameters that all agents share."""
        return image(vars(self._agents[0].parameters)) if self._agents else None

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Wrap an agent's handler; the wrapper adds each sent message's bytes to the trace."""
        self._agents.append(agent)

        def handle_watched(event: Event, now: SimTime) -> Iterable[Action]:
            if isinstance(event, TimerFired) and not _has_handler(type(agent), event):
                self.unhandled.add(event.key)
            actions = list(handle(event, now))
            for one in actions:
                if isinstance(one, Send | SetTimer) and 0 < one.after < MICROSECOND:
                    what = "a message is sent" if isinstance(one, Send) else f"the timer {one.key!r} is set to run out"
                    self.hasty.setdefault(what, one.after)
            return with_contents(actions)

        return handle_watched


def with_contents(actions: Iterable[Action]) -> Iterator[Action]:
    """The actions, with a note of the bytes after each sent message."""
    for one in actions:
        yield one
        if isinstance(one, Send):
            held = ""
            with suppress(Exception):  # the host reports a message that cannot be encoded
                held = one.message.encode().hex()
            yield Note(HOLDS, detail=held)


def _has_handler(agent_class: type[Agent], event: TimerFired) -> bool:
    if agent_class.handle is not Agent.handle:
        return True
    timers = agent_class.timer_handlers
    return type(event.key) in timers or event.key in timers or TimerFired in agent_class.handlers
