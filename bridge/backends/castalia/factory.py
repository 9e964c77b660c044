"""Makes a Castalia for each run, which we start, or somebody starts by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.endpoint import Endpoint, Transport
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.rundir import ways_of
from roambus.bridge.backends.castalia.simulators import ServedSimulator, StartedSimulator
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.agent import Agent


def _check_links(scenario: Scenario) -> None:
    """Raises UserError for measured links; whatever else Castalia cannot do it says itself."""
    if scenario.measured is not None:
        raise UserError("Castalia has no measured links: leave SN.links.file out, or run this on the embedded radio")


DEADLINE_S = 30.0
"""Either side waits so long for the other, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class CastaliaFactory:
    """Starts Castalia for each run; `roambus.bridge.backends.factory` says what a factory does."""

    deadline_s: float | None = None
    batching: bool = True
    lookahead: bool = True
    transport: Transport = "zeromq"
    name: str = "castalia"

    def prepare(self, scenario: Scenario) -> None:
        """Raises UserError if Castalia, or our modules for it, are not there, or if it cannot play the links."""
        _check_links(scenario)
        find_installation()

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> CastaliaBackend:
        """The back-end of one run; nothing is started before it is opened."""
        program, deadline_s = find_installation().program(), self.deadline_s or DEADLINE_S
        simulator = StartedSimulator(folder, program, deadline_s, ways_of(scenario), self.transport)
        saving = {"batching": self.batching, "lookahead": self.lookahead}
        return CastaliaBackend(scenario, agent.messages, simulator, **saving)


@dataclass(frozen=True, slots=True)
class ServeFactory:
    """Waits for a simulator that somebody starts; `roambus.bridge.backends.factory` says what a factory does."""

    deadline_s: float | None
    batching: bool
    lookahead: bool
    transport: Transport
    address: str | None
    """The address is tcp://ADDRESS:PORT; None means a private ipc socket."""
    wait_s: float
    announce: Callable[[Path], None]
    """This is told the run's folder as soon as the host listens."""
    name: str = "castalia"

    def prepare(self, scenario: Scenario) -> None:
        """Raises UserError for an address that cannot be used, or for links that Castalia cannot play."""
        _check_links(scenario)
        if self.address is not None:
            Endpoint.tcp(self.address)

    def make(self, scenario: Scenario, agent: type[Agent], folder: Path) -> CastaliaBackend:
        """The back-end of one run; it listens once it is opened."""
        deadline_s = self.deadline_s or DEADLINE_S
        ways, announce = ways_of(scenario), self.announce
        simulator = ServedSimulator(folder, self.address, deadline_s, self.wait_s, announce, ways, self.transport)
        saving = {"batching": self.batching, "lookahead": self.lookahead}
        return CastaliaBackend(scenario, agent.messages, simulator, **saving)
