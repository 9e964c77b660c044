"""How a command ends: errors with exit codes, exit statuses in words, and memory use.

Each error has one complete message for a person. The command line prints it without a traceback and exits with the code
of its class, so a script can tell a user's mistake (2) from a failed simulator (3) and a raising agent (4).
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roambus.python_protocol.vocabulary import NodeId, SimTime


class RoambusError(Exception):
    """Ends the command with its message and `exit_code`, without a traceback."""

    exit_code = 1


class UserError(RoambusError):
    """A user's mistake; the message names the file, line, key or node, and the remedy."""

    exit_code = 2


class BackendError(RoambusError):
    """The simulator failed; the message names run, node, simulation time, event and cause if known."""

    exit_code = 3


class ProtocolError(BackendError):
    """The simulator broke a rule of the bridge's protocol; the message names the rule."""


class AgentError(RoambusError):
    """An agent raised; the message names node, simulation time, event, and the agent's line."""

    exit_code = 4

    def __init__(self, text: str, node: NodeId, time: SimTime, event: str) -> None:
        super().__init__(text)
        self.node, self.time, self.event = node, time, event

    def __reduce__(self) -> tuple[type[AgentError], tuple[str, NodeId, SimTime, str]]:
        # Exceptions pickle their first argument only.
        return type(self), (str(self), self.node, self.time, self.event)


class SideEffectError(RoambusError):
    """An agent's side effect makes runs unrepeatable; the message names both."""

    exit_code = AgentError.exit_code


@contextmanager
def mistakes_at(place: object) -> Iterator[None]:
    """Convert a ValueError in the block to a UserError prefixed with a place (file, line, agent).

    Readers of single values raise ValueError; only the caller knows where the value stands.
    """
    try:
        yield
    except ValueError as error:
        raise UserError(f"{place}: {error}") from None


class InterruptionError(RoambusError):
    """Somebody pressed Ctrl-C, or told the process to end."""

    exit_code = 130


_SHELL = 128
"""The offset that a shell or Java adds to the signal number in an exit status."""
_COUNTERS = (Path("/proc/vmstat"), Path("/sys/fs/cgroup/memory.events"))
_FOR_LACK_OF_MEMORY = (
    ", and the kernel has ended a process for lack of memory meanwhile: give it more, or fewer workers"
)
_BY_SOMEBODY = ", and the kernel reports no lack of memory: a person, or a limit of this machine, sent it"


def describe_end(status: int, kills_before: int | None = None) -> str:
    """Return e.g. "was killed by SIGKILL"; `kills_before` are the `memory_kills` at process start."""
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
    """Return how many processes the kernel has killed for lack of memory, as far as known.

    Sums all readable counters (machine, container, own group); only its growth matters.
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
    """Return this process's peak memory so far, including earlier runs."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
