"""The interface of a reception: airtimes before a run, and compiled functions that decide on signals.

A reception is a module that its settings class names. A radio in RX has the signals `s.signals[receiver, k]`, with `k`
below `s.nodes[receiver].heard`. Each has its `sender`, `power` (dBm) and `fate`: RECEIVABLE, CORRUPTED, or LOST, which
is interference only. At the end a RECEIVABLE signal is received. A sender's frame is `s.nodes[sender].on_air`. It began
at `s.nodes[sender].began`, and is on the air for `s.frames[frame].airtime` ns. The sender of a foreign burst is -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from roambus.python_protocol.simtime import SimTime

if TYPE_CHECKING:  # settings may lie in the module that computes, and do not wait for Numba
    from roambus.bridge.backends.radio.state import State
    from roambus.bridge.scenario.definition import Scenario


class ReceptionModel(Protocol):
    """A module that is a reception; its compiled functions get the state, a receiver in RX, and the time in ns."""

    def adapt(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the radio as these settings have it, for example its noise floor."""

    def kinds(self, scenario: Scenario) -> Sequence[int]:
        """Return a number for each node, `s.nodes[node].kind`, such as its spreading factor."""

    def airtime(self, scenario: Scenario, kind: int, size: int) -> SimTime:
        """Return ns that a frame of `size` bytes with all headers of a node of this kind is on the air."""

    def disturb(self, s: State, receiver: int, now: int) -> None:
        """A signal begins, at the place `heard`: change the fates of those before it."""

    def begin(self, s: State, receiver: int, now: int) -> None:
        """Decide on that signal, if it is no burst: it is RECEIVABLE so far."""

    def settle(self, s: State, receiver: int, now: int) -> None:
        """A signal ends, still among the others: decide on the time up to now."""
