"""The stand-in in the place of Castalia: an installation that hosts find and start like any other, without OMNeT++."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from roambus.bridge.backends.castalia.environment import CASTALIA_ROOT, OMNET_ROOT, OMNETPP_ROOT
from roambus.bridge.backends.castalia.files import INI_FILE
from roambus.bridge.backends.castalia.modules import LIBRARY
from roambus.bridge.errors import UserError
from roambus.python_protocol.simtime import SECOND

STAND_IN = Path(__file__).resolve().parents[2] / "omnet" / "build" / "stand-in"

STARTER = """\
#!/bin/sh
exec {stand_in} /dev/stdin <<END
seed $(sed -n 's/^seed-set = //p' {ini})
{script}
END
"""
"""What stands for CastaliaBin: the seed is each run's own."""


def all_linked(nodes: int, seconds: int) -> list[str]:
    """The script of a simulation in which everybody hears everybody; omnet/stand_in/script.h has the statements."""
    links = [f"link {a} {b}" for a, b in combinations(range(nodes), 2)]
    return [f"nodes {nodes}", f"time_limit {seconds * SECOND}", *links]


def install_stand_in(folder: Path, script: Iterable[str]) -> dict[str, str]:
    """Makes the installation in `folder`, all of whose runs follow `script`, which leaves out the seed.

    Returns the environment variables that name it. Raises UserError if the stand-in is not built.
    """
    if not STAND_IN.is_file():
        raise UserError(f"{STAND_IN} is not there: build it with make -C omnet stand-in")
    omnet, simulator = folder / "omnet", folder / "src" / "CastaliaBin"
    for file in (simulator, omnet / "build" / LIBRARY):
        file.parent.mkdir(parents=True)
        file.touch(mode=0o755)
    text = STARTER.format(stand_in=shlex.quote(str(STAND_IN)), ini=INI_FILE, script="\n".join(script))
    simulator.write_text(text, encoding="utf-8")
    return {OMNETPP_ROOT: str(folder), CASTALIA_ROOT: str(folder), OMNET_ROOT: str(omnet)}
