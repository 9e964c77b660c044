"""These options belong to several commands, so that one name means the same everywhere.

`pairs` reads those that can be given several times as NAME=VALUE.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError


class Seconds(click.FloatRange):
    """A number of seconds of the machine's time, within bounds; `nan`, which click lets pass, is none."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Reads the number; raises click.BadParameter."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return number


SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Sets a variable of the template; give the option again for more.",
)
PARAMETERS = click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Sets a parameter of the agent; roambus agents lists them.",
)
AGENT = click.option(
    "--agent",
    default="beacon",
    show_default=True,
    help="The protocol: a name that roambus agents lists, module:Class or file.py[:Class].",
)
SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed; the same seed gives the same trace."
)
LEVEL = click.option(
    "--level",
    type=click.Choice(["app", "full"]),
    default="app",
    show_default=True,
    help="How much the trace holds: full adds a row for each packet received.",
)
BACKEND = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="What carries the packets: the embedded radio, real Castalia (see roambus doctor), or ideal links.",
)
SWEEP_BACKEND = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    help=f"What carries the packets.  [default: what the sweep names, or {BACKENDS[0]}]",
)
DEADLINE = click.option(
    "--deadline",
    type=Seconds(1, 86400),
    help="The seconds that host and simulator wait for each other; slow agents or a debugger need more.  [default: 30]",
)
BATCHING = click.option(
    "--batching/--no-batching",
    default=True,
    help="Whether Castalia tells everything that happens at one instant in one message.",
)
RECORD = click.option(
    "--record", is_flag=True, help="Keep what crossed between host and back-end in frames.roambus, for roambus rerun."
)
CHECK = click.option(
    "--check",
    is_flag=True,
    help="Compares every message with its bytes, and not only some, and sees that no receiver changes one.",
)
AGENTS = click.option(
    "--agents",
    metavar='"NAME [PARAMETER=VALUE...],..."',
    help="Runs these agents in place of the sweep's: names, module:Class or file.py[:Class], each with its parameters.",
)
WORKERS = click.option(
    "--workers",
    type=click.IntRange(1),
    default=len(os.sched_getaffinity(0)),
    show_default="cores",
    help="How many processes make runs at once.",
)
SPARK = click.option(
    "--spark", metavar="spark://HOST:PORT", help="Make the runs on this Spark cluster instead (docs/cluster.md)."
)
STUDY = click.option(
    "--study", metavar="FILE.py", help="The study that RESULTS are of, if it is one of your own (docs/studies.md)."
)
FOLDER = click.Path(file_okay=False, path_type=Path)
OUT = click.option(
    "--out", type=FOLDER, default=Path("results/run"), show_default=True, help="The folder for the results."
)


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Reads the texts NAME=VALUE that were given for an option; raises UserError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"{option} {text}: write NAME=VALUE")
        if name in found:
            raise UserError(f"{option} {name}: given twice")
        found[name] = value
    return found
