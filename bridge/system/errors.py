"""How a command ends: errors with exit codes, exit statuses in words, and memory use.

Each error has one complete message, printed without a traceback, and its class's exit code: scripts distinguish a
user's mistake (2), a failed simulator (3) and a raising agent (4).
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


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


def describe_end(status: int) -> str:
    """Return e.g. "was killed by SIGSEGV"; of SIGKILL also the usual reason."""
    if 0 <= status <= _SHELL:
        return f"ended with exit status {status}"
    number = -status if status < 0 else status - _SHELL
    if number not in set(signal.Signals):
        return f"was killed by signal {number}" if status < 0 else f"ended with exit status {status}"
    name = signal.Signals(number).name
    if number == signal.SIGKILL:
        return f"was killed by {name}, as the kernel does for lack of memory: give it more, or fewer workers"
    return f"was killed by {name}" if status < 0 else f"was ended by {name} (exit status {status})"


def peak_memory_mib() -> int:
    """Return this process's peak memory, earlier runs included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
