"""Makes the ideal links of each run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.ideal.backend import IdealBackend
from roambus.bridge.backends.ideal.topology import make_ideal
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent


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
