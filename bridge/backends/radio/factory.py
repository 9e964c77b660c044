"""Makes the embedded radio for each run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.simtime import MICROSECOND


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
