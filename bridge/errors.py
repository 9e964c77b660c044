"""How a command ends: errors with exit codes, exit statuses in words, and memory use.

Each error has one complete message, printed without a traceback, and its class's exit code: scripts distinguish a
user's mistake (2), a failed simulator (3) and a raising agent (4).
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roambus.python_protocol.vocabulary import NodeId, SimTime


class RoambusError(Exception):
    """Ends the command with its message and `exit_code`."""

    exit_code = 1


class UserError(RoambusError):
    """A user's mistake: names file, line, key or node, and the remedy."""

    exit_code = 2


class BackendError(RoambusError):
    """The simulator failed: names run, node, simulation time, event and cause if known."""

    exit_code = 3


class ProtocolError(BackendError):
    """The simulator broke a rule of the bridge's protocol: names it."""


class AgentError(RoambusError):
    """An agent raised: names node, simulation time, event, and the agent's line."""

    exit_code = 4

    def __init__(self, text: str, node: NodeId, time: SimTime, event: str) -> None:
        super().__init__(text)
        self.node, self.time, self.event = node, time, event

    def __reduce__(self) -> tuple[type[AgentError], tuple[str, NodeId, SimTime, str]]:
        # Exceptions pickle their first argument only.
        return type(self), (str(self), self.node, self.time, self.event)


class SideEffectError(RoambusError):
    """A side effect of an agent makes runs unrepeatable: names both."""

    exit_code = AgentError.exit_code


@contextmanager
def mistakes_at(place: object) -> Iterator[None]:
    """Convert a ValueError in the block to a UserError prefixed with a place (file, line, agent).

    Only callers of value readers know the place.
    """
    try:
        yield
    except ValueError as error:
        raise UserError(f"{place}: {error}") from None


class InterruptionError(RoambusError):
    """Ctrl-C, or a termination signal."""

    exit_code = 130


_SHELL = 128
"""A shell's or Java's exit status is this plus the signal number."""
_COUNTERS = (Path("/proc/vmstat"), Path("/sys/fs/cgroup/memory.events"))
_FOR_LACK_OF_MEMORY = (
    ", and the kernel has ended a process for lack of memory meanwhile: give it more, or fewer workers"
)
_BY_SOMEBODY = ", and the kernel reports no lack of memory: a person, or a limit of this machine, sent it"


def describe_end(status: int, kills_before: int | None = None) -> str:
    """Return e.g. "was killed by SIGKILL"; `kills_before`: `memory_kills` at start."""
    if 0 <= status <= _SHELL:
        return f"ended with exit status {status}"
    number = -status if status < 0 else status - _SHELL
    if number not in set(signal.Signals):
        return f"was killed by signal {number}" if status < 0 else f"ended with exit status {status}"
    name = signal.Signals(number).name
    if number != signal.SIGKILL:
        return f"was killed by {name}" if status < 0 else f"was ended by {name} (exit status {status})"
    if kills_before is None:
        return f"was killed by {name}"
    return f"was killed by {name}{_FOR_LACK_OF_MEMORY if memory_kills() > kills_before else _BY_SOMEBODY}"


def memory_kills() -> int:
    """Return the number of known kernel kills for lack of memory.

    Sums all readable counters (machine, container, own group); only growth matters.
    """
    files = list(_COUNTERS)
    with suppress(OSError, IndexError):
        group = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()[-1].partition("::")[2]
        files.append(Path("/sys/fs/cgroup", group.lstrip("/"), "memory.events"))
    kills = 0
    for file in dict.fromkeys(files):
        with suppress(OSError, UnicodeDecodeError):
            lines = file.read_text(encoding="ascii").splitlines()
            kills += sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return kills


def peak_memory_mib() -> int:
    """Return this process's peak memory, earlier runs included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
