"""Guards a run's process: each run has its own, and an agent's forbidden actions are refused or detected.

None of this is needed for a run to come out. It is for mistakes that people make in agents, and `run` reads without it.
It is no protection against somebody who means harm: an agent is code of the user's own choice, and Python cannot hold
code back that wants out (docs/trust.md). What it gives is a message that names the line, where there would otherwise be
a sweep that ends and says nothing, or runs that differ from each other for no reason that anybody can see.

- A run is made in a process of its own (`apart`): whatever an agent does to its process ends with the run. The process
  is forked from one that has everything loaded, which takes hundredths of a second. What the run comes to is told
  through a pipe, as a value or as the error that ended it. A process that ends without telling was ended by the agent,
  or by the system for lack of memory: that is an error, and never taken for an end of the run. Forked processes end
  with the one that they were forked from, however that ends.
- An agent has no I/O, no clock and no chance but its own generator. One that changes the working folder, the
  environment or a generator that all share would spoil what others do, and runs that cannot be repeated. What Python
  tells its audit hooks, and a few functions of which it does not tell them, are refused to agents where they call them
  (`watch`), which names node, event and line. The hooks stay as long as the process lives, which is that of one run.
- What that does not notice is seen at the end of the run, by comparing the process with what it was (`conduct_seen`).

Printing, and opening files, is allowed: they help to find mistakes, and change nothing.

Why a fork: a new interpreter for each run would import everything again, threads cannot be ended from outside, and in a
subinterpreter there is no NumPy. A sandbox of the system's (seccomp, namespaces) needs rights that a container often
has not, and would end an agent without saying what it did.
"""

from __future__ import annotations

import _thread
import ctypes
import io
import locale
import mmap
import os
import pickle
import random
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pyarrow as pa

import roambus.bridge
from roambus.bridge import host
from roambus.bridge.errors import AgentError, ConductError, RoambusError
from roambus.bridge.process import INTERRUPTING, interrupts_postponed, termination_interrupts, termination_noticed
from roambus.bridge.runs.layout import INI_FILE, RECORD_FILE, SWEEP_FILE, TRACE_FILE

T = TypeVar("T")
_LAST_WORDS = 500
"""Bytes that are reported of what an agent was about to do."""
_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36
"""What `prctl` calls PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER."""


def guarded(make: Callable[[], T]) -> T:
    """What `make` returns in a process of its own, in which agents are refused what they may not; raises as `apart`."""

    def watched() -> T:
        watch()
        return make()

    pa.array([0])  # loads pandas, where it is there: done before the fork, no run does so while a simulator waits
    return apart(watched)


# A process of its own


class EndedError(RoambusError):
    """The process of a run has ended without telling what came of the run."""

    exit_code = AgentError.exit_code

    def __init__(self, status: int, who: str = "the agent", place: str = "") -> None:
        """`status` is the process' exit code, or a signal's number, negative; `place` is where the agent did it."""
        super().__init__(status, who, place)  # exceptions pickle what they are given here
        self.status = status

    def __str__(self) -> str:
        _, who, place = self.args
        number = -self.status
        name = number if number not in set(signal.Signals) else signal.Signals(number).name
        how = f"by the signal {name}" if number > 0 else f"with exit code {self.status}"
        return f"{who} ended the process of its run, {how}{place}"

    @property
    def was_killed(self) -> bool:
        """Whether somebody else may have done it: the system, for lack of memory."""
        return self.status == -signal.SIGKILL


def apart(make: Callable[[], T]) -> T:
    """What `make` returns in a process of its own; raises what it raises, and EndedError.

    An interruption is passed on, and waited for: what the process has begun is gone then.

    What comes through the pipe is unpickled, which is safe only because this process has forked the one that wrote it.
    """
    reading, writing = os.pipe()
    process, told = 0, b""
    try:
        with interrupts_postponed():  # else one could come when there is a process, and nobody knows its number
            process = fork()
            if process == 0:
                os.close(reading)
                _serve(make, writing)
            os.close(writing)
        told = _read(reading)
    except KeyboardInterrupt as interruption:
        if process:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            told = _read(reading)
        outcome = _outcome(told)
        raise outcome if isinstance(outcome, KeyboardInterrupt) else interruption from None
    finally:
        os.close(reading)
        status = os.waitpid(process, 0)[1] if process else 0
    if not told:
        raise EndedError(os.waitstatus_to_exitcode(status))
    outcome = _outcome(told)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome  # type: ignore[no-any-return]  # it is what `make` has returned


def start_beside(serve: Callable[[], object]) -> int:
    """Starts a process that does this, and ends with this one if not before; returns its number, to be waited for."""
    process = fork()
    if process == 0:
        _serve(serve, os.open(os.devnull, os.O_WRONLY))
    return process


def place_of_end(make: Callable[[Callable[[str], None]], None]) -> str:
    """Where a process ends that ended without telling: `make` does it once more, and tells what it is about to do.

    It begins with a colon; it is empty if the process does not end again. The words are in memory that both processes
    share, for what goes through a pipe could still be in a buffer when the process ends.
    """
    with mmap.mmap(-1, _LAST_WORDS) as words:

        def tell(what: str) -> None:
            words[:] = what.encode(errors="backslashreplace")[:_LAST_WORDS].ljust(_LAST_WORDS)

        try:
            apart(lambda: make(tell))
        except EndedError:
            told = words[:].strip(b"\0 ").decode(errors="ignore")
            return f": {told}" if told else ""
        except Exception:  # noqa: S110  # it does something else this time, and so nobody knows
            pass
        return ""


def fork() -> int:
    """Forks; signals that end a process wait in the new one until it says that they need not any more."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # what waits in it would be written twice
    # A signal between the fork and the handlers of `termination_interrupts` would end the new process without a
    # message.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    process = -1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the libraries' have nothing to do here
            process = os.fork()
    finally:
        if process != 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process


def _read(reading: int) -> bytes:
    with io.FileIO(reading, closefd=False) as file:
        return file.readall() or b""


def _outcome(told: bytes) -> Any:
    return pickle.loads(told) if told else None  # noqa: S301  # from the process that we have forked


def _serve(make: Callable[[], Any], writing: int) -> None:
    """What the process does; it never returns. The agent has been refused `os._exit` when it ends, so it is kept."""
    # Never by SystemExit: the parent's `finally` blocks and exit handlers are in this process, too, and are not its
    # own.
    end = os._exit  # nothing of the parent's is to be cleaned up twice
    try:
        _belong_to_parent()
        told = _told(make)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        with io.FileIO(writing, "w") as file:
            file.write(told)
    finally:
        end(EndedError.exit_code)


def _told(make: Callable[[], Any]) -> bytes:
    try:
        with termination_interrupts():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
            return pickle.dumps(make())
    except BaseException as error:
        if not isinstance(error, RoambusError | OSError | KeyboardInterrupt):
            error.add_note(f"in the process of the run:\n{''.join(traceback.format_exception(error))}")
        return pickle.dumps(error)


def _belong_to_parent() -> None:
    """What ends a terminal's processes is for the parent, which passes it on once; orphans become children of this."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # other systems than Linux have no prctl
        for option, value in ((_DIE_WITH_PARENT, signal.SIGKILL), (_ADOPT_ORPHANS, 1)):
            ctypes.CDLL(None).prctl(option, value)


# What agents may not

_BRIDGE, _HOST = str(Path(str(roambus.bridge.__file__)).parent), str(Path(host.__file__).parent)
"""Agents are called from the host; what the rest of the bridge does is not theirs."""

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
    """Has this process, which is that of one run, refuse to agents what they may not.

    Hooks cannot be taken out again, which is why this is for a process that was forked for one run. They cost nothing
    to speak of where no event of the table occurs, which is nearly everywhere.
    """
    sys.addaudithook(_audit)
    for (owner, name), what in _FUNCTIONS.items():
        setattr(owner, name, _refusing(getattr(owner, name), f"{getattr(owner, '__name__', owner)}.{name}", what))
    for stream in (sys.stdout, sys.stderr):
        unclosable(stream)


def unclosable(stream: Any) -> None:
    """Has what an agent prints to refuse to be closed by it."""
    stream.close = _refusing(stream.close, "sys.stdout.close", "close what it prints to")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    what = _EVENTS.get(event)
    # Opening is allowed except for the files that hold results: an agent that writes them could forge its own run.
    if event == "open" and Path(str(arguments[0])).name in _OURS and (arguments[2] or 0) & _WRITING:
        what = "write what roambus writes"
    if what:
        _refuse_agents(event, what, sys._getframe(1))  # the only way to the caller


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
    # From the caller outwards: the host is found first if an agent acts, another part of the bridge if that does.
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_HOST):
            return acting
        if file.startswith((_BRIDGE, "<frozen importlib")):
            return None
        frame = frame.f_back
    return None


# What is left of it at the end

_NOT_THERE = object()
"""The state of what is not loaded: to load it is not a change."""
_PRINTED_TO = (Path("/dev/fd/1"), Path("/dev/fd/2"))
"""There as long as the descriptors are open."""


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
    """What agents leave as it is, by the words for an agent that does not.

    `random.getstate` is compared although `watch` refuses draws: a function that a module took from `random` when it
    was imported is not the one that was replaced.
    """
    return {
        "has changed the working folder from {was} to {now}": _working_folder(),
        "has changed the environment": dict(os.environ),
        "has changed the recursion limit from {was} to {now}": sys.getrecursionlimit(),
        "has drawn from Python's own generator, which all share: an agent draws from self.random": random.getstate(),
        "has drawn from NumPy's own generator, which all share: an agent draws from self.random": _numpy_state(),
        "has changed the locale from {was} to {now}": locale.setlocale(locale.LC_ALL),
        "has started a thread that goes on after the run": frozenset(threading.enumerate()),
        "has started a process that goes on after the run": _children(),
        "has closed what it prints to": (sys.stdout.closed, sys.stderr.closed, *map(Path.exists, _PRINTED_TO)),
        "has changed how signals are handled": [signal.getsignal(number) for number in signal.Signals],
        "has changed which files others may read": _umask(),
    }


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "a folder that is gone"


def _numpy_state() -> Any:
    if "numpy.random" not in sys.modules:
        return _NOT_THERE
    name, keys, *rest = sys.modules["numpy.random"].get_state()
    return name, keys.tobytes(), rest  # arrays do not compare as one truth value


def _children() -> frozenset[str]:
    found: set[str] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(file.read_text().split())
    return frozenset(found)


def _umask() -> int:
    mask = os.umask(0)  # there is no other way to ask for it
    os.umask(mask)
    return mask


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 80 else f"{text[:80]}..."
