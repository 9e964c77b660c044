"""Examines an agent in one process: makes the runs of all scenes, and looks at what else can be wrong.

The runs that every agent must bear: the same nodes on ideal links, on the radio, and with large frames.

Hands an agent messages that it does not know: of another protocol, or of a later version of its own.

Takes every message of an agent to bytes and back, with generated values, and then decodes damaged bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.interface import Backend
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import AgentError, ConductError
from roambus.bridge.host.agents import handler_of, make_agents, place_of
from roambus.bridge.host.codec import CodecCheck, CodecError, place_of_class, type_of
from roambus.bridge.host.event_loop import Host
from roambus.bridge.ini import parse_scenario
from roambus.bridge.runs.guard import conduct_seen
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceLevel, TraceWriter
from roambus.experiments.shipped import TEMPLATES
from roambus.experiments.templates.render import Values, render
from roambus.experiments.vetting.findings import CHECK as SHARED
from roambus.experiments.vetting.findings import Finding, SharedMemory, of_error, parameters_image, place_of_agent
from roambus.experiments.vetting.generating import Generator, UnknownTypeError
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, Sited, Started, TimerFired
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.octets import DecodeError
from roambus.python_protocol.vocabulary import MILLISECOND, SimTime

TEMPLATE = Path(__file__).with_name("vet.ini.j2")
SEED = 1


@dataclass(frozen=True, slots=True)
class Scene:
    """A run: its back-end, and the payload of the first publisher in bytes; the two others' are `step` larger each."""

    name: str
    backend: str
    payload: int
    step: int

    def scenario(self, agent: str, parameters: str, *, sites: bool) -> Scenario:
        """The scenario of this scene; raises UserError."""
        run: Values = {"seed": SEED, "agent": agent, "agent_parameters": parameters}
        text = render(TEMPLATE, {**run, "sites": sites, "payload": self.payload, "step": self.step})
        return parse_scenario(text, TEMPLATE, TEMPLATES)


SCENES = (
    Scene("on ideal links", "ideal", 20, 0),
    Scene("on the radio", "radio", 20, 0),
    Scene("with frames at the size limit", "radio", 930, 40),
)
"""A notification with a payload of 930 to 1010 bytes makes frames of about 1024, the most that the radio sends."""


STRANGERS_CHECK = "unknown messages"


class Stranger(Message, tag=255, name="STRANGER"):
    """A message that no agent knows."""

    number: U8


def check_strangers(agent_class: type[Agent], scenario: Scenario) -> Iterator[Finding]:
    """A finding if an agent raises for a message, or a timer, that is none of its own."""
    sited = () if scenario.sites is None else (Sited(scenario.sites),)
    for agent in make_agents(scenario, agent_class):
        handle = handler_of(agent)
        stranger = Received((agent.node + 1) % len(scenario.nodes), Stranger(agent.node), -80.0, 10.0)
        unknown = (stranger, stranger, TimerFired("a timer of nobody's"))
        for now, event in enumerate((Started(), *sited, *unknown)):
            try:
                list(handle(event, now * MILLISECOND))
            except Exception as error:
                if event in unknown:
                    text = f"on {event}, {type(error).__name__}: {error}{place_of(error, agent, event, None)}"
                    yield of_error(STRANGERS_CHECK, Exception(f"{text}: what an agent does not know, it ignores"))
                return


ROUND_TRIPS_CHECK = "messages"
VALUES = 200
"""So many messages of each class are tried."""
DAMAGED = 20
"""Of so many of them, all beginnings and some other bytes are decoded."""
_REFUSALS = (ValueError, TypeError, OverflowError, LookupError, struct.error)
"""What a class raises for values that it does not take, when it is made or written."""


def check_round_trips(agent_class: type[Agent]) -> Iterator[Finding]:
    """A finding for each class of messages that is not what its bytes say."""
    for cls in agent_class.messages:
        random = Random(f"vet {type_of(cls)}")
        found = _round_trip(agent_class, cls, Generator(agent_class.messages, random), random)
        if found:
            yield Finding(ROUND_TRIPS_CHECK, found, place_of_class(cls))


def _round_trip(agent_class: type[Agent], cls: type[Message], generator: Generator, random: Random) -> str:
    codec, whole = CodecCheck(agent_class), []
    for _ in range(VALUES):
        try:
            message = generator.message(cls)
            data = message.encode()
        except UnknownTypeError:  # what it sends in the scenes is compared there
            return ""
        except _REFUSALS:
            continue
        try:
            codec.compare(message, data)
        except CodecError as error:
            return str(error)
        whole.append(data)
    return next(filter(None, (_damage(agent_class, cls, data, random) for data in whole[:DAMAGED])), "")


def _damage(agent_class: type[Agent], cls: type[Message], data: bytes, random: Random) -> str:
    beginnings = [data[:length] for length in range(min(len(data), 64))]
    noise = [data[:1] + random.randbytes(random.randrange(40)) for _ in range(5)]
    for damaged in (*beginnings, *noise, data + b"\0"):
        try:
            agent_class.messages.decode(damaged)
        except DecodeError:
            continue
        except Exception as error:  # whatever it is: a stranger's bytes end the run by it
            text = f"message {type_of(cls)}: bytes that are none raise {type(error).__name__}: {error}"
            return f"{text}, and not DecodeError"
    return ""


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
            SHARED, "the parameters have changed during a run, and all nodes share them", place_of_agent(agent_class)
        )
    for key in sorted(map(repr, seen.unhandled)):
        yield Finding(TIMERS, f"the timer {key} runs out, and there is no handler for it", place_of_agent(agent_class))
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
