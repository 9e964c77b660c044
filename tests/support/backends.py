"""Back-ends for tests that run whole scenarios: picklable, so that worker processes can make them."""

from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.agent import Agent


@dataclass(frozen=True)
class _EverybodyHearsEverybody:
    """Ideal links between all nodes of the scenario."""

    name: str = "ideal"

    def prepare(self, scenario: Scenario) -> None:
        """There is nothing to get ready."""

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> IdealBackend:
        """See `BackendFactory`."""
        nodes = len(scenario.nodes)
        return IdealBackend(nodes, [(a, b) for a in range(nodes) for b in range(a)], scenario.time_limit)


everybody_hears_everybody = _EverybodyHearsEverybody()
