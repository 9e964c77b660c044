"""Finds OMNeT++, Castalia and our modules for it, and says how Castalia is started with them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.backends.castalia.environment import CASTALIA_ROOT, OMNETPP_ROOT, environment_with
from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.backends.castalia.modules import LIBRARY, Modules, find_modules
from roambus.bridge.backends.castalia.releases import TRIED, other_release, release_in
from roambus.bridge.errors import UserError


@dataclass(frozen=True, slots=True)
class Program:
    """Says how a simulator is started in a run's folder."""

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    links: dict[str, Path] = field(default_factory=dict)
    """These are the names in `.roambus`, and the files that they stand for."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Names everything that a run needs; all of it is there."""

    omnetpp: Path
    castalia: Path
    modules: Modules

    @property
    def simulator(self) -> Path:
        """Returns Castalia's executable."""
        return simulator_in(self.castalia)

    def program(self) -> Program:
        """Says how Castalia is started in a run's folder, without a window."""
        command = (str(self.simulator), "-u", "Cmdenv", "-f", INI_FILE)
        return Program(command, environment_with(self.omnetpp), self.links())

    def links(self) -> dict[str, Path]:
        """Returns what the ini's `load-libs` and `ned-path` expect in `.roambus`."""
        return {"castalia": self.castalia / "src", "omnet": self.modules.ned, LIBRARY: self.modules.library}


def simulator_in(castalia: Path) -> Path:
    """Returns the executable of a Castalia in this folder."""
    return castalia / "src" / "CastaliaBin"


def find_installation() -> Installation:
    """Returns what the environment names; raises UserError that says what is missing and what to do."""
    omnetpp = _root(OMNETPP_ROOT, f"OMNeT++ {' or '.join(TRIED)}")
    found = Installation(omnetpp, _root(CASTALIA_ROOT, "Castalia"), find_modules())
    if not os.access(found.simulator, os.X_OK):
        raise UserError(f"{found.simulator} is not there: build Castalia, or correct {CASTALIA_ROOT}")
    if not found.modules.library.is_file():
        raise UserError(f"{found.modules.library} is not there: build it with roambus castalia build")
    if wrong := other_release(found.modules.library, release_in(omnetpp)):
        raise UserError(f"{wrong}: build it anew with roambus castalia build")
    return found


def _root(variable: str, what: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        raise UserError(
            f"{variable} does not say where {what} is; roambus doctor says what the back-end castalia needs"
        )
    if not Path(value).is_dir():
        raise UserError(f"{variable}: there is no folder {value}")
    return Path(value).resolve()
