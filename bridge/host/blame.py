"""Finds the line of an agent that is to blame for an error.

The traceback of an error leads from the host through the agent into whatever that has called. To blame is the last line
in it that is the agent's: neither the machinery's, nor Python's own libraries'. Of a user's agent no line of ours is to
blame, whatever it builds on. An error that comes up only when actions are carried out has no line of the agent's in its
traceback. Then it is the line at which an agent that yields its actions has stopped, or else the handler as a whole.
"""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, GeneratorType
from typing import Any

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Received, TimerFired

_PACKAGE = Path(__file__).parents[2]
_AGENTS = _PACKAGE / "python_protocol"
_MACHINERY = (*(_AGENTS / f"{name}.py" for name in ("process", "agent", "actions", "refusals")), _AGENTS / "messages")
"""What all agents of ours are driven by: errors in it are their callers'."""
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_INSTALLED = ("site-packages", "dist-packages")


def name_of(agent_class: type[Agent]) -> str:
    """The name of the author's class, of which a subclass of ours may watch what it does."""
    ours = ("roambus.bridge.", "roambus.experiments.")
    return next(cls.__name__ for cls in agent_class.__mro__ if not cls.__module__.startswith(ours))


def place_of(error: BaseException, agent: Agent, event: Event | None, actions: object) -> str:
    """The place in the agent that is to blame for an error, as " at mine.py:12 in receive"; empty if nobody knows.

    `actions` is what the agent has answered to the event, so far as it has.
    """
    return (
        raised_at(error, type(agent))
        or _stopped_at(actions)
        or ("" if isinstance(error, KeyboardInterrupt) else _handled_in(agent, event))
    )


def raised_at(error: BaseException, agent_class: type[Agent]) -> str:
    """The last line of the agent's in the traceback of an error; empty if there is none."""
    is_theirs = is_blamed(agent_class)
    frames = [one for one in traceback.extract_tb(error.__traceback__) if is_theirs(Path(one.filename))]
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""


def is_blamed(agent_class: type[Agent]) -> Callable[[Path], bool]:
    """Tells whether a file is one of the agent's, whose lines can be to blame for an error."""
    is_ours = any(agent_class.__module__.startswith(f"roambus.{part}") for part in ("python_protocol", "bridge"))

    def is_theirs(file: Path) -> bool:
        if file.name.startswith("<"):  # such as "<frozen importlib._bootstrap>"
            return False
        if file.is_relative_to(_PACKAGE):
            return is_ours and file.is_relative_to(_AGENTS) and not any(map(file.is_relative_to, _MACHINERY))
        return not file.is_relative_to(_STANDARD_LIBRARY) or any(name in file.parts for name in _INSTALLED)

    return is_theirs


def _stopped_at(actions: object) -> str:
    if not isinstance(actions, GeneratorType) or actions.gi_frame is None:
        return ""
    code = actions.gi_code
    return f" at {Path(code.co_filename).name}:{actions.gi_frame.f_lineno} in {code.co_name}"


def _handled_in(agent: Agent, event: Event | None) -> str:
    for handler in _handlers(agent, event):
        code = getattr(inspect.unwrap(handler), "__code__", None)
        if isinstance(code, CodeType):
            return f" at {Path(code.co_filename).name}:{code.co_firstlineno} in {code.co_name}"
    return ""


def _handlers(agent: Agent, event: Event | None) -> Iterator[Any]:
    """The methods that could have handled an event: `handle` itself if the agent has its own, or one under `@on`."""
    own = (vars(cls)["handle"] for cls in type(agent).__mro__ if cls is not Agent and "handle" in vars(cls))
    yield from (one for one in own if not Path(inspect.unwrap(one).__code__.co_filename).is_relative_to(_PACKAGE))
    if isinstance(event, Received):
        yield agent.handlers.get(type(event.message)) or agent.handlers.get(Received)
    elif isinstance(event, TimerFired):
        timers = agent.timer_handlers
        yield timers.get(type(event.key)) or timers.get(event.key) or agent.handlers.get(TimerFired)
    else:
        yield agent.handlers.get(type(event))
