"""roambus as it is given away, a wheel and an sdist, and installed in a user's place."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT, Place, make_empty_place


@dataclass(frozen=True, slots=True)
class Distributions:
    """The files that a release consists of."""

    wheel: Path
    sdist: Path


def build(source: Path, out: Path) -> Distributions:
    """Builds both from the sources in a folder, by the same back-end that pip calls."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Distributions(wheel, sdist)


def build_here(out: Path) -> Distributions:
    """Builds both from the sources of this checkout."""
    return build(ROOT, out)


def unpack(sdist: Path, folder: Path) -> Path:
    """The folder of the sources that are in the sdist.

    The program `tar` unpacks it: `tarfile` asks for a filter from Python 3.12 on, and some releases of 3.11 take none.
    """
    folder.mkdir()
    subprocess.run(["tar", "-xzf", str(sdist), "-C", str(folder)], check=True)
    (sources,) = folder.iterdir()
    return sources


def files_in_wheel(wheel: Path) -> dict[str, bytes]:
    """The contents of each file."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def install(what: str | Path, folder: Path) -> Place:
    """An empty place in whose Python pip has installed a wheel or, with `--editable`, this checkout."""
    place = make_empty_place(folder)
    place.succeed(f"python -m pip install --quiet --no-deps --no-compile {what}")
    return place
