"""The agents of a run: how they are made and called, and the error message for their author when one raises.

To blame for an error is the last line in its traceback that is the agent's: neither the machinery's, nor Python's own
libraries'. Of a user's agent our lines are not to blame, whatever it builds on. An error that comes up only when
actions are carried out has no line of the agent's in its traceback. Then it is the line at which an agent that yields
its actions has stopped, or else the handler as a whole.
"""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import CodeType, GeneratorType
from typing import Any

from roambus.bridge.code import PARTS, is_own_file
from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.host.codec import CodecCheck, CodecError
from roambus.bridge.process import is_raised
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, TimerFired
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.vocabulary import NodeId, SimTime, format_time

Handle = Callable[[Event, SimTime], Iterable[Action]]
Wrapper = Callable[[Agent, Handle], Handle]
"""Returns what is called in place of an agent's handler; called once for each agent, in the order of the nodes."""
_ANSWERS = (list, tuple, GeneratorType)
"""What nearly all agents answer with: these are known to be iterable without asking."""


def make_agents(
    scenario: Scenario, agent_class: type[Agent], chance: Callable[[NodeId], Random] | None = None
) -> list[Agent]:
    """Make an agent for each node; raises UserError.

    Its generator is seeded from (run seed, node), or comes from `chance`.
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
    """Those that nodes share, and those of the nodes that have others; raises UserError."""
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
    """What the host calls with each event: `handle`, whose answer is looked at if the agent has its own."""
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
    """Return the agent's handler inside these wrappers, the first of which is the innermost."""
    handle = handler_of(agent)
    for wrapper in wrappers:
        handle = wrapper(agent, handle)
    return handle


def check_receipts(codec: CodecCheck) -> Wrapper:
    """Compare the message of each frame with its bytes again once it was handled, so that no receiver changes it."""

    def wrapper(_: Agent, handle: Handle) -> Handle:
        def handle_and_compare(event: Event, now: SimTime) -> Iterable[Action]:
            if not isinstance(event, Received):
                return handle(event, now)
            message = event.message
            data = message.encode()
            actions = handle(event, now)
            if not isinstance(actions, list | tuple):
                actions = list(actions)  # an agent that yields its actions handles nothing until they are read
            codec.look(message, data)
            return actions

        return handle_and_compare

    return wrapper


# Who is to blame


def describe_failure(
    agent: Agent, now: SimTime, event: Event | None, error: BaseException, actions: object = ()
) -> BaseException:
    """What to raise for what came out of an agent: its author is told in one line where, and on what.

    `actions` is what it had answered. An interruption by a signal stays one, and tells what it has interrupted.

    It is an AgentError whatever was raised, SystemExit included: what an agent does ends its run, and no more than
    that.
    """
    place = place_of(error, agent, event, actions)
    what = "what it had delayed" if event is None else event
    text = f"agent {type(agent).__name__}, node {agent.node}, simulation time {format_time(now)}, on {what}"
    if isinstance(error, KeyboardInterrupt) and not is_raised(error):
        return KeyboardInterrupt(f"interrupted: {text}{place}")
    told = f"{place}: {error}" if isinstance(error, CodecError) else f": {_name(error)}{place}"
    return AgentError(f"{text}{told}", agent.node, now, str(event))


def _name(error: BaseException) -> str:
    """The error in one line, so that the place after it is seen; what would end the process is told as that."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # an agent's own class of errors can be as wrong as the agent
        said = "it cannot even be written"
    text = f"{type(error).__name__}: {said}"
    return text if isinstance(error, Exception) else f"the agent raised {text}, which would end more than the run"


_AGENTS = PARTS["roambus.python_protocol"]
_MACHINERY = (_AGENTS / "agent.py", _AGENTS / "actions.py", _AGENTS / "messages")
"""What all our agents are driven by: errors in it are their callers'."""
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_INSTALLED = ("site-packages", "dist-packages")


def place_of(error: BaseException, agent: Agent, event: Event | None, actions: object) -> str:
    """The place in the agent that is to blame for an error, as " at mine.py:12 in receive"; empty if nobody knows."""
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
    """The last line of the agent's in the traceback of an error; empty if there is none."""
    is_theirs = is_blamed(agent_class)
    frames = [one for one in traceback.extract_tb(error.__traceback__) if is_theirs(Path(one.filename))]
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""


def is_blamed(agent_class: type[Agent]) -> Callable[[Path], bool]:
    """Tells whether a file is one of the agent's, whose lines can be to blame for an error.

    For our own agents a line in python_protocol counts, but none of the code that drives them; for a user's agent only
    the user's lines count, so that the author sees the last of them.
    """
    is_ours = any(agent_class.__module__.startswith(f"roambus.{part}") for part in ("python_protocol", "bridge"))

    def is_theirs(file: Path) -> bool:
        if file.name.startswith("<"):  # such as "<frozen importlib._bootstrap>"
            return False
        if is_own_file(file):
            return is_ours and file.is_relative_to(_AGENTS) and not any(map(file.is_relative_to, _MACHINERY))
        return not file.is_relative_to(_STANDARD_LIBRARY) or any(name in file.parts for name in _INSTALLED)

    return is_theirs


def _handlers(agent: Agent, event: Event | None) -> Iterator[Any]:
    """The methods that could have handled an event: `handle` itself if the agent has its own, or one under `@on`."""
    own = (vars(cls)["handle"] for cls in type(agent).__mro__ if cls is not Agent and "handle" in vars(cls))
    yield from (one for one in own if not is_own_file(Path(inspect.unwrap(one).__code__.co_filename)))
    if isinstance(event, Received):
        yield agent.handlers.get(type(event.message)) or agent.handlers.get(Received)
    elif isinstance(event, TimerFired):
        timers = agent.timer_handlers
        yield timers.get(type(event.key)) or timers.get(event.key) or agent.handlers.get(TimerFired)
    else:
        yield agent.handlers.get(type(event))
