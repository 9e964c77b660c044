"""Errors that end a command, with their exit codes.

Each has one message for a person, which is complete in itself. The command line prints it, without a traceback.
"""

from __future__ import annotations

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class RoambusError(Exception):
    """Ends the command with its message and `exit_code`, without a traceback."""

    exit_code = 1


class UserError(RoambusError):
    """The user's mistake: the message names the file, line, key or node, and what to do."""

    exit_code = 2


class BackendError(RoambusError):
    """The simulator failed: the message names run, node, simulation time, event and cause as far as known."""

    exit_code = 3


class ProtocolError(BackendError):
    """The simulator said something that the bridge's protocol does not allow: the message names the rule."""


class AgentError(RoambusError):
    """An agent raised: the message names node, simulation time, event, and the agent's own line."""

    exit_code = 4

    def __init__(self, text: str, node: NodeId, time: SimTime, event: str) -> None:
        super().__init__(text)
        self.node, self.time, self.event = node, time, event

    def __reduce__(self) -> tuple[type[AgentError], tuple[str, NodeId, SimTime, str]]:
        # Exceptions pickle their first argument only.
        return type(self), (str(self), self.node, self.time, self.event)


class ConductError(RoambusError):
    """An agent did to its process what agents may not: the message names the agent and what it did."""

    exit_code = AgentError.exit_code


class InterruptionError(RoambusError):
    """Somebody pressed Ctrl-C, or told the process to end."""

    exit_code = 130
