"""Finds OMNeT++, Castalia and our modules for it, builds these, and starts Castalia with them.

The environment names the folders of OMNeT++ and Castalia. Make compiles our modules' sources, the package's `omnet`,
into one library: in a checkout into `build`, otherwise into the user's cache, per version of roambus, OMNeT++ and
Castalia.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from roambus.bridge.backends.castalia.ned import NedTypes, read_types
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.files import user_cache
from roambus.bridge.system.process import cores

OMNETPP_ROOT, CASTALIA_ROOT = "OMNETPP_ROOT", "CASTALIA_ROOT"
"""Variables with the folders of OMNeT++ and Castalia."""

OMNET_ROOT = "ROAMBUS_OMNET"
"""Names other sources of our modules than the package's."""

LIBRARY = "libroambus.so"

PACKAGED = Path(__file__).parents[3] / "omnet"
"""This package brings these sources."""

INSTALLED = {"site-packages", "dist-packages"}
"""Folders of pip or the system's package manager."""

TRIED = ("5.7.1", "6.1")
"""Releases against which our modules were built and run."""

OLDEST_MAJOR = 5

CASTALIAS_MAJOR = 5
"""Castalia's own sources are for this one."""

OMNETPP = "OMNeT++"


@dataclass(frozen=True, slots=True)
class Installation:
    """Names everything that a run needs; all of it is there."""

    omnetpp: Path
    castalia: Path
    modules: Modules

    @property
    def simulator(self) -> Path:
        """Return Castalia's executable, which need not exist."""
        return simulator_in(self.castalia)

    def types(self) -> NedTypes:
        """Return the declarations of Castalia's and our NED files; raise UserError, OSError."""
        return read_types(self.castalia / "src", self.modules.ned)

    def program(self) -> Program:
        """Return the command for Castalia in a run's folder, without a window."""
        command = (str(self.simulator), "-u", "Cmdenv", "-f", INI_FILE)
        return Program(command, environment_with(self.omnetpp), self.links())

    def links(self) -> dict[str, Path]:
        """Return the ini's `load-libs` and `ned-path` targets in `.roambus`."""
        return {"castalia": self.castalia / "src", "omnet": self.modules.ned, LIBRARY: self.modules.library}


@dataclass(frozen=True, slots=True)
class Program:
    """A simulator's command in a run's folder."""

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    links: dict[str, Path] = field(default_factory=dict)
    """Names in `.roambus` with their files."""
    files: dict[str, str] = field(default_factory=dict)
    """Files with texts for `.roambus`."""


def find_installation() -> Installation:
    """Return the environment's installation; raise UserError with advice."""
    omnetpp = _root(OMNETPP_ROOT, f"OMNeT++ {' or '.join(TRIED)}")
    if not (release := release_in(omnetpp)):
        raise UserError(f"{OMNETPP_ROOT}: {omnetpp} is not OMNeT++")
    found = Installation(omnetpp, _root(CASTALIA_ROOT, "Castalia"), find_modules())
    if not os.access(found.simulator, os.X_OK):
        raise UserError(f"{found.simulator} is not there: build Castalia, or correct {CASTALIA_ROOT}")
    if not found.modules.library.is_file():
        raise UserError(f"{found.modules.library} is not there: build it with roambus doctor --build castalia")
    if wrong := other_release(found.modules.library, OMNETPP, OMNETPP_ROOT, release):
        raise UserError(f"{wrong}: build it again with roambus doctor --build castalia")
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


def simulator_in(castalia: Path) -> Path:
    """Return a Castalia's executable in this folder."""
    return castalia / "src" / "CastaliaBin"


def environment_with(omnetpp: Path) -> dict[str, str]:
    """Return our environment with that OMNeT++'s libraries."""
    libraries = [str(omnetpp / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}


@dataclass(frozen=True, slots=True)
class Modules:
    """Names the folders of sources and of compiled files."""

    sources: Path
    build: Path

    @property
    def library(self) -> Path:
        """Return the library for Castalia."""
        return self.build / LIBRARY

    @property
    def ned(self) -> Path:
        """Return the root of our NED files."""
        return self.sources / "castalia" / "ned"


def find_modules() -> Modules:
    """Return the environment's modules or the package's, built or not."""
    named = os.environ.get(OMNET_ROOT)
    sources = Path(named) if named else PACKAGED
    if named or (os.access(sources, os.W_OK) and INSTALLED.isdisjoint(sources.parts)):
        return Modules(sources, sources / "build")
    # Both roots are in the key, also if they are not set: a build for another OMNeT++ beside it must not be
    # overwritten.
    roots = [str(Path(os.environ.get(name, "")).resolve()) for name in (OMNETPP_ROOT, CASTALIA_ROOT)]
    key = sha256("\0".join(roots).encode()).hexdigest()[:12]
    return Modules(sources, user_cache() / "castalia" / f"{version('roambus')}-{key}")


def build_modules(modules: Modules, target: str = "castalia", **variables: Path) -> None:
    """Compile a Makefile target, with folders as variables; make writes to standard error.

    Raises UserError, or RoambusError if make fails.
    """
    if not (modules.sources / "Makefile").is_file():
        raise UserError(f"{modules.sources} does not hold the sources of the modules: correct {OMNET_ROOT}")
    # make splits names at blanks, and no quoting helps.
    if any(character.isspace() for character in str(modules.build)):
        raise UserError(f"make cannot build in {modules.build}: let XDG_CACHE_HOME name a folder without blanks")
    modules.build.mkdir(parents=True, exist_ok=True)
    jobs = f"-j{cores()}"
    given = [f"{name}={folder}" for name, folder in {"BUILD": modules.build, **variables}.items()]
    command = ["make", "-C", str(modules.sources), jobs, *given, target]
    if subprocess.run(command, stdout=2, check=False).returncode != 0:  # noqa: S603  # our own Makefile, no shell
        raise RoambusError(f"make {target} failed: its error is above")


def release_in(omnetpp: Path) -> str:
    """Return the OMNeT++ release in the folder's `Version`, or ""."""
    file = omnetpp / "Version"
    return file.read_text(encoding="utf-8").strip().removeprefix("omnetpp-") if file.is_file() else ""


def other_release(file: Path, simulator: str, root: str, there: str) -> str:
    """Return the simulator release of our file's build if not the present one, else "".

    The file contains name, release and a comma; `root` is the variable of the simulator's folder.
    """
    built = re.search(rf"{re.escape(simulator)} (\d[\w.]*), ".encode(), file.read_bytes())
    if built is None or there in {"", release := built[1].decode()}:
        return ""
    return f"{file} was built with {simulator} {release}, and {root} has {there}"


def major(release: str) -> int:
    """Return a release's first number, or 0."""
    number = release.partition(".")[0]
    return int(number) if number.isdigit() else 0


def tried(release: str) -> str:
    """Say whether it was tried."""
    return "which was tried" if release in TRIED else f"which was not tried ({' and '.join(TRIED)} were)"
