"""The agents of a run: making them, calling them, and error messages for their authors.

An error is located at the traceback's last line of the agent's, not the machinery's or the standard library's; for a
user's agent never at ours. An error in carrying out actions is located where a generator handler has stopped, or at the
handler as a whole. Draws from shared generators are an error: they make results unrepeatable.
"""

from __future__ import annotations

import inspect
import random
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import CodeType, GeneratorType
from typing import Any, NamedTuple

from roambus.bridge.host.codec import CodecError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.code import PARTS, is_own_file
from roambus.bridge.system.errors import AgentError, SideEffectError, UserError
from roambus.bridge.system.interrupts import NamedInterruption, is_raised
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, TimerFired
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import SimTime, format_time

Handle = Callable[[Event, SimTime], Iterable[Action]]
Wrapper = Callable[[Agent, Handle], Handle]
"""Returns a replacement of an agent's handler; called once for each agent, in node order."""
_ANSWERS = (list, tuple, GeneratorType)
"""The usual answer types, known to be iterable."""


def make_agents(
    scenario: Scenario, agent_class: type[Agent], chance: Callable[[NodeId], Random] | None = None
) -> list[Agent]:
    """Make an agent for each node; raises UserError.

    Generators are seeded from (run seed, node), or come from `chance`.
    """
    name = scenario.agent or agent_class.__name__
    shared, others = parameters_of(scenario, agent_class)
    draw = chance or (lambda node: Random(f"agent/{scenario.seed}/{node}"))
    try:
        agents = [
            agent_class(node, settings.roles, others.get(node, shared), draw(node))
            for node, settings in enumerate(scenario.nodes)
        ]
        for agent in agents:
            agent.perform(())  # raises for one whose constructor leaves out that of its base
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not is_raised(error):
            raise
        raise UserError(
            f"agent {name}: it cannot be made from (node, roles, parameters, random): "
            f"{_name(error)}{raised_at(error, agent_class)}"
        ) from error
    return agents


def parameters_of(scenario: Scenario, agent_class: type[Agent]) -> tuple[Any, dict[NodeId, Any]]:
    """The shared parameters, and those of nodes with their own; raises UserError."""
    where = f"agent {scenario.agent or agent_class.__name__}"
    try:
        shared, others = parse_parameters(agent_class.parameters_type, scenario.agent_parameters), {}
        for node, texts in scenario.other_parameters.items():
            where = f"agent {scenario.agent or agent_class.__name__}, node {node}"
            others[node] = parse_parameters(agent_class.parameters_type, texts)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    return shared, others


def handler_of(agent: Agent) -> Handle:
    """The host's callback for events: `handle`, with a check of an overriding agent's answer."""
    if type(agent).handle is Agent.handle:
        return agent.handle  # it cannot answer with anything but actions

    def handle(event: Event, now: SimTime) -> Iterable[Action]:
        actions: Any = agent.handle(event, now)
        # The look-up of a type comes first: this is on the way of each event, and `isinstance` with an abstract class
        # takes longer.
        if type(actions) not in _ANSWERS and (not isinstance(actions, Iterable) or isinstance(actions, str | Mapping)):
            raise TypeError(f"handle has returned {actions!r}: return the actions, and () if there are none")
        return actions  # type: ignore[no-any-return]  # what it is was looked at

    return handle


def wrap(agent: Agent, wrappers: Iterable[Wrapper]) -> Handle:
    """Return the agent's handler inside these wrappers, the first innermost."""
    handle = handler_of(agent)
    for wrapper in wrappers:
        handle = wrapper(agent, handle)
    return handle


class Hearing(NamedTuple):
    """The handlers of messages that need no event, and each agent's list of the actions that these ask for."""

    handlers: Mapping[type[Any], Callable[..., Any]]
    collected: Sequence[list[Action]]


NOT_HEARING = Hearing({}, ())
"""Of agents that see each event."""


def hearing_of(agents: Sequence[Agent]) -> Hearing:
    """Return how agents of one class hear messages as `Agent.handle` has them hear; NOT_HEARING for others."""
    kinds = {type(agent) for agent in agents}
    if len(kinds) != 1 or (kind := kinds.pop()).handle is not Agent.handle:
        return NOT_HEARING
    if not all(hasattr(agent, "_actions") for agent in agents):  # the first event says what their constructor lacks
        return NOT_HEARING
    return Hearing(kind.handlers, [agent._actions for agent in agents])


# Who is to blame


def describe_failure(
    agent: Agent, now: SimTime, event: Event | None, error: BaseException, actions: object = ()
) -> BaseException:
    """Return the error to raise for an agent's exception, with place and event in one line.

    `actions` is the agent's answer. An interruption by a signal stays one and names the handler. All else, SystemExit
    included, becomes AgentError.
    """
    place = place_of(error, agent, event, actions)
    what = "what it had delayed" if event is None else event
    text = f"agent {type(agent).__name__}, node {agent.node}, simulation time {format_time(now)}, on {what}"
    if isinstance(error, KeyboardInterrupt) and not is_raised(error):
        return NamedInterruption(f"interrupted: {text}{place}")
    reason = f"{place}: {error}" if isinstance(error, CodecError) else f": {_name(error)}{place}"
    return AgentError(f"{text}{reason}", agent.node, now, str(event))


def _name(error: BaseException) -> str:
    """The error in one line, before its place; also for errors that would end the process."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # an agent's own class of errors can be as wrong as the agent
        said = "it cannot even be written"
    text = f"{type(error).__name__}: {said}"
    return text if isinstance(error, Exception) else f"the agent raised {text}, which would end more than the run"


_CORE = PARTS["roambus.python_protocol"]
_AGENTS = (_CORE, PARTS["roambus.extensions"])
_MACHINERY = (_CORE / "agent.py", _CORE / "actions.py", _CORE / "messages")
"""Code that drives our agents: its errors are the caller's."""
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_INSTALLED = ("site-packages", "dist-packages")


def place_of(error: BaseException, agent: Agent, event: Event | None, actions: object) -> str:
    """The place of an error in the agent, as " at mine.py:12 in receive"; empty if unknown."""
    if place := raised_at(error, type(agent)):
        return place
    if isinstance(actions, GeneratorType) and actions.gi_frame is not None:
        return _place_in(actions.gi_code, actions.gi_frame.f_lineno)
    if isinstance(error, KeyboardInterrupt):
        return ""
    codes = (getattr(inspect.unwrap(handler), "__code__", None) for handler in _handlers(agent, event))
    return next((_place_in(code, code.co_firstlineno) for code in codes if isinstance(code, CodeType)), "")


def _place_in(code: CodeType, line: int) -> str:
    return f" at {Path(code.co_filename).name}:{line} in {code.co_name}"


def raised_at(error: BaseException, agent_class: type[Agent]) -> str:
    """The agent's last line in an error's traceback; empty if there is none."""
    is_theirs = is_blamed(agent_class)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_theirs(Path(frame.filename))]
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""


def is_blamed(agent_class: type[Agent]) -> Callable[[Path], bool]:
    """Return whether a file's lines can be to blame for an agent's error.

    For our agents: python_protocol without their machinery, and extensions; for a user's agent only the user's files.
    """
    is_ours = is_own_file(Path(inspect.getfile(agent_class)))

    def is_theirs(file: Path) -> bool:
        if file.name.startswith("<"):  # such as "<frozen importlib._bootstrap>"
            return False
        if is_own_file(file):
            return is_ours and any(map(file.is_relative_to, _AGENTS)) and not any(map(file.is_relative_to, _MACHINERY))
        return not file.is_relative_to(_STANDARD_LIBRARY) or any(name in file.parts for name in _INSTALLED)

    return is_theirs


def _handlers(agent: Agent, event: Event | None) -> Iterator[Any]:
    """The possible handlers of an event: an own `handle`, or those under `@on`."""
    own = (vars(cls)["handle"] for cls in type(agent).__mro__ if cls is not Agent and "handle" in vars(cls))
    yield from (handler for handler in own if not is_own_file(Path(inspect.unwrap(handler).__code__.co_filename)))
    if isinstance(event, Received):
        yield agent.handlers.get(type(event.message)) or agent.handlers.get(Received)
    elif isinstance(event, TimerFired):
        timers = agent.timer_handlers
        yield timers.get(type(event.key)) or timers.get(event.key) or agent.handlers.get(TimerFired)
    else:
        yield agent.handlers.get(type(event))


# Side effects


@contextmanager
def shared_generators_unused(agent: str) -> Iterator[None]:
    """Raise SideEffectError, naming the agent, if the block used Python's or NumPy's generator."""
    python, numpy = random.getstate(), _numpy_state()
    yield
    if random.getstate() != python:
        _refuse(agent, "Python")
    if numpy is not None and _numpy_state() != numpy:
        _refuse(agent, "NumPy")


def _refuse(agent: str, whose: str) -> None:
    raise SideEffectError(
        f"agent {agent} has drawn from {whose}'s shared generator, which makes runs unrepeatable: draw from self.random"
    )


def _numpy_state() -> Any:
    """The generator's state; None if NumPy is not loaded, since loading is no draw."""
    if "numpy.random" not in sys.modules:
        return None
    name, keys, *rest = sys.modules["numpy.random"].get_state()
    return name, keys.tobytes(), rest  # arrays do not compare as one truth value
