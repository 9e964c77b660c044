"""Sees that agents do to the process of a run only what agents may: nothing but to answer.

An agent has no I/O, no clock and no chance but its own generator. One that changes the working folder, the environment
or a generator that all share would spoil what others do, and runs that cannot be repeated. What Python tells its audit
hooks, and a few functions of which it does not tell them, are refused to agents where they call them, which names node,
event and line. What that does not notice is seen at the end of the run, by comparing the process with what it was.
Printing, and opening files, is let pass: they help to find mistakes, and change nothing.

The hooks stay as long as the process lives, which is that of one run (`apart`).
"""

from __future__ import annotations

import _thread
import locale
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.errors import ConductError
from roambus.bridge.host import agents, event_loop
from roambus.bridge.interrupts import termination_noticed
from roambus.bridge.record.record_file import RECORD_FILE
from roambus.bridge.runs.layout import SWEEP_FILE, TRACE_FILE

_BRIDGE = str(Path(event_loop.__file__).parents[1])
_ASKING = {agents.__file__, event_loop.__file__}
"""The files of ours from which agents are called."""

_EVENTS = {
    "os.chdir": "change the working folder",
    "os.putenv": "change the environment",
    "os.unsetenv": "change the environment",
    "os.remove": "remove files",
    "os.rmdir": "remove folders",
    "os.rename": "rename files",
    "os.truncate": "cut files",
    "shutil.rmtree": "remove folders",
    "os.fork": "start processes",
    "os.forkpty": "start processes",
    "os.posix_spawn": "start processes",
    "os.spawn": "start processes",
    "os.exec": "end its process",
    "os.system": "start processes",
    "subprocess.Popen": "start processes",
    "os.kill": "send signals",
    "os.killpg": "send signals",
    "signal.pthread_kill": "send signals",
    "resource.setrlimit": "change the limits of its process",
}
"""What Python tells its audit hooks, and what that would be."""

_OURS = {TRACE_FILE, SWEEP_FILE, INI_FILE, RECORD_FILE}
_WRITING = os.O_WRONLY | os.O_RDWR
_SHARED_CHANCE = "draw from a generator that all share: self.random is its own"
_FUNCTIONS: dict[tuple[Any, str], str] = {
    (os, "_exit"): "end its process",
    (os, "abort"): "end its process",
    (signal, "raise_signal"): "send signals",
    (signal, "signal"): "handle signals",
    (signal, "alarm"): "send signals",
    (_thread, "start_new_thread"): "start threads",
    (_thread, "interrupt_main"): "send signals",
    (threading.Thread, "start"): "start threads",
    (sys, "setrecursionlimit"): "change the limits of its process",
    (locale, "setlocale"): "change the locale",
    **{
        (random, name): _SHARED_CHANCE
        for name in ("seed", "random", "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform")
    },
    **{(random, name): _SHARED_CHANCE for name in ("gauss", "expovariate", "getrandbits", "randbytes")},
}
"""Functions of which it does not, and what that would be."""


class RefusedError(Exception):
    """An agent does what agents may not."""


_refused: list[str] = []
"""What was refused in this process, also if the agent has made nothing of it."""


def watch() -> None:
    """Has this process, which is that of one run, refuse to agents what they may not."""
    sys.addaudithook(_audit)
    for (owner, name), what in _FUNCTIONS.items():
        setattr(owner, name, _refusing(getattr(owner, name), f"{getattr(owner, '__name__', owner)}.{name}", what))
    for stream in (sys.stdout, sys.stderr):
        unclosable(stream)


def unclosable(stream: Any) -> None:
    """Has what an agent prints to refuse to be closed by it."""
    stream.close = _refusing(stream.close, "sys.stdout.close", "close what it prints to")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and Path(str(arguments[0])).name in _OURS and (arguments[2] or 0) & _WRITING:
        _refuse_agents(event, "write what roambus writes", sys._getframe(1))  # as below
    if event in _EVENTS:
        _refuse_agents(event, _EVENTS[event], sys._getframe(1))  # the only way to the caller


def _refusing(function: Callable[..., Any], name: str, what: str) -> Callable[..., Any]:
    @wraps(function)
    def refuse(*arguments: Any, **named: Any) -> Any:
        _refuse_agents(name, what, sys._getframe(1))  # as above
        return function(*arguments, **named)

    return refuse


def _refuse_agents(name: str, what: str, frame: FrameType | None) -> None:
    place = _agent_at(frame)
    if place is not None:
        text = f"{name}: an agent may not {what}"
        _refused.append(f"{text} ({Path(place.f_code.co_filename).name}:{place.f_lineno})")
        raise RefusedError(text)


def _agent_at(frame: FrameType | None) -> FrameType | None:
    """The frame in which an agent does this; None if it is Python's import, or somebody else, such as a back-end."""
    acting = frame
    while frame is not None:
        file = frame.f_code.co_filename
        if file in _ASKING:
            return acting
        if file.startswith((_BRIDGE, "<frozen importlib")):
            return None
        frame = frame.f_back
    return None


# What is left of it at the end

_NOT_THERE = object()
"""The state of what is not loaded: to load it is no change."""


@contextmanager
def conduct_seen(name: str) -> Iterator[None]:
    """Raises ConductError, which names the agent, if the process is not what it was before the block.

    After a signal that a library has swallowed nothing is said, for what it cut short is nobody's conduct: the run ends
    as interrupted.
    """
    before = _state()
    yield
    if termination_noticed():
        return
    if _refused:
        raise ConductError(f"agent {name}: {_refused[0]}")
    after = _state()
    for what, was in before.items():
        if was is not _NOT_THERE and after[what] != was:
            raise ConductError(f"agent {name} {what.format(was=_short(was), now=_short(after[what]))}")


def _state() -> dict[str, Any]:
    """What agents leave as it is, by the words for an agent that does not."""
    return {
        "has changed the working folder from {was} to {now}": _working_folder(),
        "has changed the environment": dict(os.environ),
        "has changed the recursion limit from {was} to {now}": sys.getrecursionlimit(),
        "has drawn from Python's own generator, which all share: an agent draws from self.random": random.getstate(),
        "has drawn from NumPy's own generator, which all share: an agent draws from self.random": _numpy_state(),
        "has changed the locale from {was} to {now}": locale.setlocale(locale.LC_ALL),
        "has started a thread that goes on after the run": frozenset(threading.enumerate()),
        "has started a process that goes on after the run": _children(),
        "has closed what it prints to": (sys.stdout.closed, sys.stderr.closed, _is_open(1), _is_open(2)),
        "has changed how signals are handled": [signal.getsignal(number) for number in signal.Signals],
        "has changed which files others may read": _umask(),
    }


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "a folder that is gone"


def _numpy_state() -> Any:
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return _NOT_THERE
    name, keys, *rest = numpy_random.get_state()
    return name, keys.tobytes(), rest


def _children() -> frozenset[str]:
    found: set[str] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(file.read_text().split())
    return frozenset(found)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 80 else f"{text[:80]}..."
