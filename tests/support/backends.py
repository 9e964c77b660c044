"""Back-ends for tests that run whole scenarios: picklable, so that worker processes can make them."""

from bridge.backends.ideal import IdealBackend
from bridge.scenario import Scenario


def everybody_hears_everybody(scenario: Scenario) -> IdealBackend:
    """Ideal links between all nodes of the scenario."""
    nodes = len(scenario.nodes)
    return IdealBackend(nodes, [(a, b) for a in range(nodes) for b in range(a)], scenario.time_limit)
