"""Finds OMNeT++, Castalia and our modules for it, by environment variables."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.errors import UserError

OMNETPP_ROOT, CASTALIA_ROOT, OMNET_ROOT = "OMNETPP_ROOT", "CASTALIA_ROOT", "ROAMBUS_OMNET"
"""Environment variables for the folders of OMNeT++, of Castalia, and of our `omnet`, if it is not beside `bridge`."""

LIBRARY = "libroambus.so"


@dataclass(frozen=True, slots=True)
class Program:
    """A simulator that can be started in a run's folder."""

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    links: dict[str, Path] = field(default_factory=dict)
    """The names in `.roambus`, and the files that they stand for."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything that a run needs, found and there."""

    omnetpp: Path
    castalia: Path
    omnet: Path

    @property
    def simulator(self) -> Path:
        """Castalia's executable."""
        return self.castalia / "src" / "CastaliaBin"

    @property
    def library(self) -> Path:
        """Our modules, compiled."""
        return self.omnet / "build" / LIBRARY

    @property
    def ned(self) -> Path:
        """The root of our NED files."""
        return self.omnet / "castalia" / "ned"

    def program(self) -> Program:
        """The program that runs Castalia in a run's folder, without a window."""
        command = (str(self.simulator), "-u", "Cmdenv", "-f", INI_FILE)
        return Program(command, environment_with(self.omnetpp), self.links())

    def links(self) -> dict[str, Path]:
        """The links that the ini's `load-libs` and `ned-path` expect in `.roambus`."""
        return {"castalia": self.castalia / "src", "omnet": self.ned, LIBRARY: self.library}


def environment_with(omnetpp: Path) -> dict[str, str]:
    """Our own environment, in which programs find the libraries of that OMNeT++, too."""
    libraries = [str(omnetpp / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}


def omnet_folder() -> Path:
    """Our `omnet`: beside `bridge`, or where the environment says."""
    return Path(os.environ.get(OMNET_ROOT, Path(__file__).parents[3] / "omnet"))


def find_installation() -> Installation:
    """The installation that the environment names; raises UserError that says what is missing and what to do."""
    omnet = omnet_folder()
    found = Installation(_root(OMNETPP_ROOT, "OMNeT++ 5.7.1"), _root(CASTALIA_ROOT, "Castalia"), omnet)
    if not os.access(found.simulator, os.X_OK):
        raise UserError(f"{found.simulator} is not there: build Castalia, or correct {CASTALIA_ROOT}")
    if not found.library.is_file():
        raise UserError(f"{found.library} is not there: build it with make -C {omnet} castalia")
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
