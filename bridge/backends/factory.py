"""A run gets its back-end from a factory, which is chosen once for a whole sweep and sent to its worker processes."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from roambus.bridge.backends.interface import Backend
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent


class BackendFactory(Protocol):
    """Makes back-ends of one kind; it can be pickled."""

    @property
    def name(self) -> str:
        """The kind of back-end; runs over different kinds have different keys."""

    def prepare(self, scenario: Scenario) -> None:
        """Compiles what must be compiled, or sees that everything is there; it is called once before many runs.

        Raises UserError.
        """

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> Backend:
        """The back-end of one run, whose ini and radio parameters file lie in `folder`; raises UserError."""
