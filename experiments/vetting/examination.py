"""Examines an agent in one process: makes the runs of all scenes, and looks at what else can be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roambus.bridge.agents.registry import load_agent
from roambus.bridge.backends.ideal.topology import make_ideal
from roambus.bridge.backends.interface import Backend
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import AgentError, ConductError
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.guard import conduct_seen
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.writer import TraceLevel, TraceWriter
from roambus.experiments.vetting.finding import Finding, of_error, place_of
from roambus.experiments.vetting.round_trips import check_round_trips
from roambus.experiments.vetting.scenes import SCENES, Scene
from roambus.experiments.vetting.shared_memory import CHECK as SHARED
from roambus.experiments.vetting.shared_memory import SharedMemory, parameters_image
from roambus.experiments.vetting.strangers import check_strangers
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, TimerFired
from roambus.python_protocol.simtime import SimTime

RUNS, TIMERS = "runs", "timers"
_BACKENDS: dict[str, Callable[[Scenario], Backend]] = {"ideal": make_ideal, "radio": RadioBackend}


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does: `turn` is the scene to begin with, `is_first` that it also looks at all else."""

    agent: str
    parameters: str
    folder: Path
    turn: int = 0
    is_first: bool = True

    def scenes(self) -> list[Scene]:
        """All scenes, in the order of this process."""
        return [*SCENES[self.turn :], *SCENES[: self.turn]]

    def trace(self, scene: Scene) -> Path:
        """The file of a scene's trace."""
        return self.folder / f"{scene.name.replace(' ', '-')}.parquet"


def examine(job: Job) -> Iterator[list[Finding]]:
    """What is found, step by step; raises UserError if the agent cannot be used at all."""
    agent_class = load_agent(job.agent)
    memory = SharedMemory(agent_class)
    for scene in job.scenes():
        yield list(_play(job, scene, agent_class))
    if job.is_first:
        yield list(memory.findings())
        yield list(check_round_trips(agent_class))
        yield list(check_strangers(agent_class, _scenario(job, SCENES[0], agent_class)))


def steps(job: Job) -> int:
    """How many steps `examine` takes."""
    return len(SCENES) + (3 if job.is_first else 0)


def _scenario(job: Job, scene: Scene, agent_class: type[Agent]) -> Scenario:
    return scene.scenario(job.agent, job.parameters, sites=agent_class.needs_sites)


def _play(job: Job, scene: Scene, agent_class: type[Agent]) -> Iterator[Finding]:
    scenario = _scenario(job, scene, agent_class)
    trace, seen = TraceWriter(TraceLevel.FULL), _Seen()
    host = Host(scenario, seen.watched(agent_class), _BACKENDS[scene.backend](scenario), trace, check=True)
    before = seen.parameters()
    try:
        with conduct_seen(job.agent):
            host.run()
    except (AgentError, ConductError) as error:
        yield of_error(f"{RUNS}, {scene.name}", error)
        return
    if seen.parameters() != before:
        yield Finding(
            SHARED, "the parameters have changed during a run, and all nodes share them", place_of(agent_class)
        )
    for key in sorted(map(repr, seen.unhandled)):
        yield Finding(TIMERS, f"the timer {key} runs out, and there is no handler for it", place_of(agent_class))
    trace.write(job.trace(scene), {})


class _Seen:
    """What the agents of a run were seen to be."""

    def __init__(self) -> None:
        self.unhandled: set[Any] = set()
        """The keys of timers that have run out, and that no handler takes."""
        self._agents: list[Agent] = []

    def parameters(self) -> Any:
        """The parameters that all of them share, as they are now."""
        return parameters_image(self._agents[0].parameters) if self._agents else None

    def watched(self, agent_class: type[Agent]) -> type[Agent]:
        """A subclass of the agent that is seen."""
        seen = self

        class Watched(agent_class):  # type: ignore[misc, valid-type]  # which agent it is only the user says
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                seen._agents.append(self)  # the class within sees for the one without

            def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
                if isinstance(event, TimerFired) and not _has_handler(agent_class, event):
                    seen.unhandled.add(event.key)
                actions: Iterable[Action] = super().handle(event, now)
                return actions

        return Watched


def _has_handler(agent_class: type[Agent], event: TimerFired) -> bool:
    if agent_class.handle is not Agent.handle:
        return True
    timers = agent_class.timer_handlers
    return type(event.key) in timers or event.key in timers or TimerFired in agent_class.handlers
