"""Finds OMNeT++, Castalia and our modules for it, builds these, and says how Castalia is started with them.

The environment names the folders of OMNeT++ and of Castalia, as these do themselves. The sources of our modules come
with the package, in its folder `omnet`; make compiles them into one library. Where that folder is the user's own, as in
a checkout, the library goes to `build` in it. A folder of installed packages is not ours to write to: then it goes to
the user's cache, which has a folder for each version of roambus with each OMNeT++ and Castalia.
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
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.files import user_cache
from roambus.bridge.process import cores
from roambus.bridge.runs.layout import INI_FILE

OMNETPP_ROOT, CASTALIA_ROOT = "OMNETPP_ROOT", "CASTALIA_ROOT"
"""These variables name the folders of OMNeT++ and of Castalia."""

OMNET_ROOT = "ROAMBUS_OMNET"
"""This variable names a folder with the sources of our modules, if they are not to be those of the package."""

LIBRARY = "libroambus.so"

PACKAGED = Path(__file__).parents[3] / "omnet"
"""This package brings these sources."""

INSTALLED = {"site-packages", "dist-packages"}
"""Folders of these names belong to pip, or to the machine's own package manager."""

TRIED = ("5.7.1", "6.1")
"""Our modules were built against these, and run with a Castalia on them."""

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
        """The path of Castalia's executable, which need not exist."""
        return simulator_in(self.castalia)

    def types(self) -> NedTypes:
        """Returns what Castalia's NED files and ours declare; raises UserError, OSError."""
        return read_types(self.castalia / "src", self.modules.ned)

    def program(self) -> Program:
        """Says how Castalia is started in a run's folder, without a window."""
        command = (str(self.simulator), "-u", "Cmdenv", "-f", INI_FILE)
        return Program(command, environment_with(self.omnetpp), self.links())

    def links(self) -> dict[str, Path]:
        """Returns what the ini's `load-libs` and `ned-path` expect in `.roambus`."""
        return {"castalia": self.castalia / "src", "omnet": self.modules.ned, LIBRARY: self.modules.library}


@dataclass(frozen=True, slots=True)
class Program:
    """Says how a simulator is started in a run's folder."""

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    links: dict[str, Path] = field(default_factory=dict)
    """These are the names in `.roambus`, and the files that they stand for."""
    files: dict[str, str] = field(default_factory=dict)
    """These files are written into `.roambus`, with these texts."""


def find_installation() -> Installation:
    """Returns what the environment names; raises UserError that says what is missing and what to do."""
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
    """Returns the executable of a Castalia in this folder."""
    return castalia / "src" / "CastaliaBin"


def environment_with(omnetpp: Path) -> dict[str, str]:
    """Returns our own environment, in which programs find the libraries of that OMNeT++, too."""
    libraries = [str(omnetpp / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}


@dataclass(frozen=True, slots=True)
class Modules:
    """Names the folder of the sources, and the folder of all that is compiled from them."""

    sources: Path
    build: Path

    @property
    def library(self) -> Path:
        """Returns the library that Castalia loads."""
        return self.build / LIBRARY

    @property
    def ned(self) -> Path:
        """Returns the root of our NED files."""
        return self.sources / "castalia" / "ned"


def find_modules() -> Modules:
    """Returns those that the environment names, or else the package's, whether they are built or not."""
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
    """Compiles what has changed of a target of the Makefile, of which some variables name folders.

    Make writes to standard error. Raises UserError, or RoambusError if make fails.
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
    """The release of an OMNeT++ in this folder, as its file `Version` names it; empty if there is none."""
    file = omnetpp / "Version"
    return file.read_text(encoding="utf-8").strip().removeprefix("omnetpp-") if file.is_file() else ""


def other_release(file: Path, simulator: str, root: str, there: str) -> str:
    """Says with which release of a simulator a file of ours was built, if it is not the one that is there.

    Empty if all is well. A file of ours calls its simulator by name and release, then a comma; `root` is the variable
    that names the simulator's folder.
    """
    built = re.search(rf"{re.escape(simulator)} (\d[\w.]*), ".encode(), file.read_bytes())
    if built is None or there in {"", release := built[1].decode()}:
        return ""
    return f"{file} was built with {simulator} {release}, and {root} has {there}"


def major(release: str) -> int:
    """Its first number; 0 if it begins with none."""
    number = release.partition(".")[0]
    return int(number) if number.isdigit() else 0


def tried(release: str) -> str:
    """Whether it was tried, in words."""
    return "which was tried" if release in TRIED else f"which was not tried ({' and '.join(TRIED)} were)"
