"""A reception of tests: a signal survives those that begin within a millisecond of it, and no burst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.state import CORRUPTED, LOST, State
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.reception import Reception
from roambus.python_protocol.simtime import MILLISECOND, SimTime

LOST_KIND, CORRUPTED_KIND = 3, 4
"""Signals of nodes of these kinds are lost as they begin, or corrupted as they end."""


@dataclass(frozen=True, slots=True)
class Timed(Reception):
    """Node n is of kind n; a kind has 2 ms more on the air than the one before."""

    MODULE: ClassVar[str] = __name__

    span: SimTime = MILLISECOND


def kinds(scenario: Scenario) -> Sequence[int]:
    """Return the nodes' numbers."""
    return range(len(scenario.nodes))


def airtime(scenario: Scenario, kind: int, size: int) -> SimTime:
    """Return 10 ms and 2 ms for each kind, at any size."""
    return (10 + 2 * kind) * MILLISECOND


@compiled
def disturb(s: State, receiver: int, now: int) -> None:
    """Corrupt signals that began too long ago; a burst corrupts all."""
    new = s.signals[receiver, s.nodes[receiver].heard]
    for k in range(s.nodes[receiver].heard):
        other = s.signals[receiver, k]
        if new.sender < 0 or now > s.nodes[other.sender].began + s.run[0].reception.span:
            other.fate = CORRUPTED


@compiled
def begin(s: State, receiver: int, _: int) -> None:
    """Lose signals of one kind."""
    signal = s.signals[receiver, s.nodes[receiver].heard]
    if s.nodes[signal.sender].kind == LOST_KIND:
        signal.fate = LOST


@compiled
def settle(s: State, receiver: int, _: int) -> None:
    """Corrupt signals of one kind."""
    for k in range(s.nodes[receiver].heard):
        signal = s.signals[receiver, k]
        if signal.sender >= 0 and s.nodes[signal.sender].kind == CORRUPTED_KIND:
            signal.fate = CORRUPTED
