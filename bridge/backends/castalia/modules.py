"""Finds and builds our modules for Castalia.

The sources come with the package, in its folder `omnet`. make compiles them into one library. Where the folder is the
user's own, as in a checkout, that goes to `build` in it. A folder of installed packages is not ours to write to: then
it goes to the user's cache, which has a folder for each version of roambus with each OMNeT++ and Castalia.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from roambus.bridge.backends.castalia.environment import CASTALIA_ROOT, OMNET_ROOT, OMNETPP_ROOT
from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.user_cache import user_cache

LIBRARY = "libroambus.so"
PACKAGED = Path(__file__).parents[3] / "omnet"
"""This package brings these sources."""
INSTALLED = {"site-packages", "dist-packages"}
"""Folders of these names belong to pip, or to the machine's own package manager."""


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
    return Modules(sources, sources / "build" if named or _is_own(sources) else _cache())


def _is_own(sources: Path) -> bool:
    return os.access(sources, os.W_OK) and INSTALLED.isdisjoint(sources.parts)


def _cache() -> Path:
    """Returns the folder in the user's cache for this version and the simulators that the environment names."""
    roots = [str(Path(os.environ.get(name, "")).resolve()) for name in (OMNETPP_ROOT, CASTALIA_ROOT)]
    key = sha256("\0".join(roots).encode()).hexdigest()[:12]
    return user_cache() / "castalia" / f"{version('roambus')}-{key}"


def build_modules(modules: Modules) -> None:
    """Compiles what has changed; make writes to standard error. Raises UserError, or RoambusError if make fails."""
    if not (modules.sources / "Makefile").is_file():
        raise UserError(f"{modules.sources} does not hold the sources of the modules: correct {OMNET_ROOT}")
    if any(character.isspace() for character in str(modules.build)):
        raise UserError(f"make cannot build in {modules.build}: let XDG_CACHE_HOME name a folder without blanks")
    modules.build.mkdir(parents=True, exist_ok=True)
    jobs = len(os.sched_getaffinity(0))
    command = ["make", "-C", str(modules.sources), f"-j{jobs}", f"BUILD={modules.build}", "castalia"]
    if subprocess.run(command, stdout=2, check=False).returncode != 0:  # noqa: S603  # our own Makefile, no shell
        raise RoambusError("the modules for Castalia cannot be built: make's error stands above")
