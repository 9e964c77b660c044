"""Builds what is in `omnet/`, where its compiler and libraries are."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import (
    CASTALIA_ROOT,
    LIBRARY,
    OMNETPP_ROOT,
    Program,
    find_installation,
    find_modules,
)

MODULES = find_modules()
OMNET, BUILD = MODULES.sources, MODULES.build
NOT_INSTALLED = "not installed: "


def build(target: str, program: str, *variables: str) -> Path:
    """`make target`, and where its program then is; skips the test, with the reason, if something is not installed."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:  # other test processes build, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(["make", "-C", OMNET, *variables, target], capture_output=True, text=True, check=False)
    if NOT_INSTALLED in made.stderr:
        pytest.skip(NOT_INSTALLED + made.stderr.split(NOT_INSTALLED, 1)[1].strip())
    assert made.returncode == 0, made.stderr
    return BUILD / program


@cache
def stand_in() -> Path:
    """The scripted simulator; skips where it cannot be built."""
    return build("stand-in", "stand-in")


@cache
def castalia() -> Program:
    """Castalia with our modules; skips unless the environment says where OMNeT++ and Castalia are."""
    if not all(os.environ.get(name) for name in (OMNETPP_ROOT, CASTALIA_ROOT)):
        pytest.skip(f"{OMNETPP_ROOT} and {CASTALIA_ROOT} do not say where OMNeT++ and Castalia are")
    build("castalia", LIBRARY)
    return find_installation().program()
