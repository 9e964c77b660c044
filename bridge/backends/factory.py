"""A run gets its back-end from a factory, which is chosen once for a whole sweep and sent to its worker processes.

What takes long is prepared once, before the workers start: the radio is compiled, Castalia is looked for. A factory is
a few settings only, so that it can be pickled; what it makes cannot. Those of Castalia stand with it, in
`castalia.backend`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from roambus.bridge.backends.ideal.backend import IdealBackend, make_ideal
from roambus.bridge.backends.interface import Backend
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.vocabulary import MICROSECOND


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


@dataclass(frozen=True, slots=True)
class IdealFactory:
    """Makes ideal back-ends; `roambus.bridge.backends.factory` says what a factory does."""

    name: str = "ideal"

    def prepare(self, scenario: Scenario) -> None:
        """Raises UserError for measured links, which are none that lose nothing."""
        if scenario.measured is not None:
            raise UserError("ideal links lose nothing: leave SN.links.file out, or run this on the embedded radio")

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> IdealBackend:  # noqa: ARG002  # interface
        """The links of one run."""
        return make_ideal(scenario)


@dataclass(frozen=True, slots=True)
class RadioFactory:
    """Makes embedded radios; `roambus.bridge.backends.factory` says what a factory does."""

    name: str = "radio"

    def prepare(self, scenario: Scenario) -> None:
        """Runs an instant, so that the radio is compiled once, before the workers ask for it."""
        warm = RadioBackend(dataclasses.replace(scenario, time_limit=MICROSECOND))
        warm.open()
        warm.advance((), None)
        warm.close()

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> RadioBackend:  # noqa: ARG002  # interface
        """The radio of one run; raises UserError for a scenario that it does not model."""
        return RadioBackend(scenario)
