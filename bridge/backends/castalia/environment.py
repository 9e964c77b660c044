"""Reads from the environment where the simulators are, and makes the environment in which their programs start."""

from __future__ import annotations

import os
from pathlib import Path

OMNETPP_ROOT, CASTALIA_ROOT = "OMNETPP_ROOT", "CASTALIA_ROOT"
"""These variables name the folders of OMNeT++ and of Castalia."""
OMNET_ROOT = "ROAMBUS_OMNET"
"""This variable names a folder with the sources of our modules, if they are not to be those of the package."""


def environment_with(omnetpp: Path) -> dict[str, str]:
    """Returns our own environment, in which programs find the libraries of that OMNeT++, too."""
    libraries = [str(omnetpp / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
