"""How a run gets its back-end: by a factory, chosen once for a whole sweep and sent to its worker processes."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from roambus.bridge.backends.interface import Backend
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent


class BackendFactory(Protocol):
    """Makes back-ends of one kind; picklable."""

    @property
    def name(self) -> str:
        """The kind: runs of different kinds have different keys."""

    def prepare(self, scenario: Scenario) -> None:
        """Called once before many runs: compiles what must be compiled, or sees that everything is there.

        Raises UserError.
        """

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:
        """The back-end of one run, whose ini and radio parameters file lie in `folder`; raises UserError."""
