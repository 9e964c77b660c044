"""Which releases of OMNeT++ our modules were tried with, and what is known of the others."""

from __future__ import annotations

import re
from pathlib import Path

from roambus.bridge.backends.castalia.environment import OMNETPP_ROOT

TRIED = ("5.7.1", "6.1")
"""Our modules were built against these, and run with a Castalia on them."""
OLDEST_MAJOR = 5
CASTALIAS_MAJOR = 5
"""Castalia's own sources are for this one."""


def read_release(version: str) -> str:
    """The release that the text of OMNeT++'s file `Version` names."""
    return version.strip().removeprefix("omnetpp-")


def release_in(omnetpp: Path) -> str:
    """The release of an OMNeT++ in this folder; empty if there is none."""
    file = omnetpp / "Version"
    return read_release(file.read_text(encoding="utf-8")) if file.is_file() else ""


_BUILT_WITH = re.compile(rb"OMNeT\+\+ ([\w.]+), Castalia")
"""This is how our modules call their simulator."""


def other_release(library: Path, there: str) -> str:
    """Says with which release our modules were built, if it is not the one that is there; empty if all is well."""
    built = _BUILT_WITH.search(library.read_bytes())
    if built is None or there in {"", release := built[1].decode()}:
        return ""
    return f"{library} was built with OMNeT++ {release}, and {OMNETPP_ROOT} has {there}"


def major(release: str) -> int:
    """Its first number; 0 if it begins with none."""
    number = release.partition(".")[0]
    return int(number) if number.isdigit() else 0


def tried(release: str) -> str:
    """Whether it was tried, in words."""
    return "which was tried" if release in TRIED else f"which was not tried ({' and '.join(TRIED)} were)"
