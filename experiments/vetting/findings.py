"""Findings: mistakes of an agent, each with the line that causes it.

*Shared memory*: attributes of the class, globals and default arguments are one object for all nodes. They are compared
before and after the runs, because a change reaches all nodes.

*Time and chance from elsewhere*: if traces of two processes differ, the agent's files are searched for clocks,
generators, addresses and the order of sets. That is a hint and no proof.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from roambus.bridge.agents import agent_sources
from roambus.python_protocol.agent import Agent

_PLACE = re.compile(r"\bat (\S+\.py:\d+)|\((\S+\.py:\d+)\)")

CHECK = "shared memory"
DEEPEST = 6
"""The depth of comparisons: objects can be circular."""
_CORE = "roambus.python_protocol.agent"
"""The agents' base module, whose memory is not theirs."""
_SHARED = "all nodes share it, which machines cannot do: make it in __init__, as self."

_MODULES = {"time", "datetime", "random", "uuid", "secrets"}
_CALLS = {"hash", "id", "urandom", "getpid", "default_rng"}
"""Modules and functions that depend on the process or time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake of an agent; `place` is "mine.py:12", or empty."""

    check: str
    problem: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {f'{self.place}: ' if self.place else ''}{self.problem}"


def of_error(check: str, error: BaseException) -> Finding:
    """Return an error's finding, if its text names the line."""
    text = str(error) or type(error).__name__
    match = _PLACE.search(text)
    return Finding(check, text, (match[1] or match[2]) if match else "")


def place_of_agent(thing: Any) -> str:
    """File and line of a class or function."""
    try:
        return f"{Path(inspect.getfile(thing)).name}:{inspect.getsourcelines(thing)[1]}"
    except (OSError, TypeError):
        return str(getattr(thing, "__module__", ""))


def suspects(agent_class: type[Agent]) -> list[str]:
    """The suspicious lines, as "mine.py:12 (time.time)"."""
    found = [(file, line, what) for file in agent_sources(agent_class) for line, what in _in_file(file)]
    return [f"{file.name}:{line} ({what})" for file, line, what in sorted(found)]


def _in_file(file: Path) -> Iterator[tuple[int, str]]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            # Who makes a generator of its own has given it a seed.
            if name != "random.Random" and (name.partition(".")[0] in _MODULES or name.rpartition(".")[2] in _CALLS):
                yield node.lineno, name
        elif isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter):
            yield getattr(node, "lineno", 0), "the order of a set"


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in {"set", "frozenset"}
    return isinstance(node, ast.Set | ast.SetComp)


class Place(NamedTuple):
    """A thing that nodes share: `owner` is a class, module or function."""

    owner: Any
    name: str


class SharedMemory:
    """The memory that nodes share, as of its creation."""

    def __init__(self, agent_class: type[Agent]) -> None:
        self._places = list(_places(agent_class))
        self._before = [image(_value(place)) for place in self._places]

    def findings(self) -> Iterator[Finding]:
        """A finding for each thing that has changed since."""
        for place, before in zip(self._places, self._before, strict=True):
            if image(_value(place)) != before:
                yield Finding(CHECK, f"{_what(place)} has changed during a run: {_SHARED}{place.name}", _line(place))


def _places(agent_class: type[Agent]) -> Iterator[Place]:
    seen: set[int] = set()
    for owner in _owners(agent_class):
        for name, value in list(vars(owner).items()):
            if isinstance(value, FunctionType) and value.__module__ == _module_of(owner):
                parameters = inspect.signature(value).parameters.values()
                yield from (Place(value, one.name) for one in parameters if _could_change(one.default))
            elif not name.startswith("__") and _could_change(value) and id(value) not in seen:
                seen.add(id(value))
                yield Place(owner, name)


def _owners(agent_class: type[Agent]) -> list[Any]:
    classes = [
        *(cls for cls in agent_class.__mro__ if cls.__module__ not in (_CORE, "builtins")),
        *agent_class.messages,
    ]
    package = agent_class.__module__.rpartition(".")[0]
    names = {cls.__module__ for cls in classes}
    if package not in ("", "roambus.python_protocol"):
        names |= {name for name in sys.modules if name.startswith(f"{package}.")}
    modules = [sys.modules[name] for name in sorted(names) if name in sys.modules]
    inside = (one for module in modules for one in vars(module).values() if isinstance(one, type))
    return list(dict.fromkeys([*classes, *(one for one in inside if one.__module__ in names), *modules]))


def _module_of(owner: Any) -> str:
    return str(owner.__name__ if isinstance(owner, ModuleType) else owner.__module__)


def _could_change(value: object) -> bool:
    return not callable(value) and not isinstance(value, ModuleType | staticmethod | classmethod | property)


def _value(place: Place) -> Any:
    if isinstance(place.owner, FunctionType):
        return inspect.signature(place.owner).parameters[place.name].default
    return vars(place.owner).get(place.name)


def image(value: Any, depth: int = 0) -> Any:
    """An immutable image of a value's contents."""
    if depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        return tuple((repr(key), image(one, depth + 1)) for key, one in value.items())
    if isinstance(value, list | tuple | deque):
        return tuple(image(one, depth + 1) for one in value)
    return _image_of_object(value, depth)


def _image_of_object(value: Any, depth: int) -> Any:
    if isinstance(value, set | frozenset):
        return frozenset(map(repr, value))
    if isinstance(value, Random):
        return value.getstate()
    if hasattr(value, "__dict__") and not isinstance(value, type | FunctionType | ModuleType):
        return type(value).__name__, image(vars(value), depth + 1)
    # What is known of the object is what it shows, and its address says nothing of what it holds.
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _what(place: Place) -> str:
    if isinstance(place.owner, FunctionType):
        return f"the default of {place.name} in {place.owner.__qualname__}"
    if isinstance(place.owner, ModuleType):
        return f"the global {place.name}"
    return f"the attribute {place.owner.__name__}.{place.name} of the class"


def _line(place: Place) -> str:
    try:
        file = Path(inspect.getfile(place.owner))
        tree = ast.parse(file.read_bytes())
    except (OSError, TypeError, SyntaxError):
        return _module_of(place.owner)
    if isinstance(place.owner, FunctionType):
        return f"{file.name}:{place.owner.__code__.co_firstlineno}"
    assigned = [(node.lineno, node.targets) for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    assigned += [(node.lineno, [node.target]) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
    lines = [line for line, targets in assigned if any(ast.unparse(one) == place.name for one in targets)]
    return f"{file.name}:{min(lines, default=1)}"
