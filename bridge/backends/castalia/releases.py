"""Which releases of OMNeT++ our modules were tried with, and what is known of the others."""

from __future__ import annotations

TRIED = ("5.7.1", "6.1")
"""Our modules were built against these, and run with a Castalia on them."""
OLDEST_MAJOR = 5
CASTALIAS_MAJOR = 5
"""Castalia's own sources are for this one."""


def read_release(version: str) -> str:
    """The release that the text of OMNeT++'s file `Version` names."""
    return version.strip().removeprefix("omnetpp-")


def major(release: str) -> int:
    """Its first number; 0 if it begins with none."""
    number = release.partition(".")[0]
    return int(number) if number.isdigit() else 0


def tried(release: str) -> str:
    """Whether it was tried, in words."""
    return "which was tried" if release in TRIED else f"which was not tried ({' and '.join(TRIED)} were)"
