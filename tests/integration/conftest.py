"""Real Castalia, with our modules built for it."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from bridge.backends.castalia.installation import CASTALIA_ROOT, OMNETPP_ROOT, Program, find_installation

OMNET = Path(__file__).parents[2] / "omnet"


@pytest.fixture(scope="session")
def castalia() -> Program:
    """Castalia with our modules; skips unless the environment says where OMNeT++ and Castalia are."""
    if not all(os.environ.get(name) for name in (OMNETPP_ROOT, CASTALIA_ROOT)):
        pytest.skip(f"{OMNETPP_ROOT} and {CASTALIA_ROOT} do not say where OMNeT++ and Castalia are")
    with (OMNET / "Makefile").open() as lock:  # other workers of pytest build there too
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-C", str(OMNET), "castalia"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return find_installation().program()
