"""Back-ends of another package that misbehave, for runs in processes of their own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roambus.bridge.backend import Hello, NodeInfo, Step, Totals, Transmission
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.simtime import SECOND, SimTime


class Odd:
    """Does what it is told to where the host asks it to go on."""

    def __init__(
        self, advance: Callable[[], Step | None], hello: Hello | None = None, totals: Totals | None = None
    ) -> None:
        self._advance = advance
        self._hello = hello or Hello("odd", [NodeInfo(0)] * 2, 3 * SECOND)
        self._totals = Totals() if totals is None else totals

    def open(self) -> Hello:
        return self._hello

    def advance(self, _: Sequence[Transmission], __: SimTime | None) -> Step | None:
        return self._advance()

    def fail(self, error: BaseException) -> None:
        """Nothing to do."""

    def close(self) -> Totals:
        return self._totals


@dataclass(frozen=True)
class OddFactory:
    """Of another package: its back-end does something at its first step."""

    act: Callable[[], Any]
    deadline_s: float = 0.3
    name: str = "theirs"

    def prepare(self, scenario: Scenario) -> None:
        """There is nothing to get ready."""

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Odd:  # the interface's
        """See `BackendFactory`."""
        return Odd(self.act)


def swallows() -> Step:
    """Hears no exception."""
    while True:
        with suppress(BaseException):
            time.sleep(0.01)


class Exits(OddFactory):
    """Ends the process where it is to make a back-end."""

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Odd:  # the interface's
        """Never return."""
        sys.exit(0)
