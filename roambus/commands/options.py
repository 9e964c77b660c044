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
from roambus.commands.completion import AGENT_NAME, PARAMETER_VALUE, STUDY_NAME, VARIABLE_VALUE


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
    type=VARIABLE_VALUE,
    metavar="NAME=VALUE",
    help="Sets a variable of the template; give the option again for more.",
)
VALUES = click.option(
    "--set",
    "settings",
    multiple=True,
    type=VARIABLE_VALUE,
    metavar="NAME=V1,V2",
    help="Replaces the values of an axis, or a value; give the option again for more.",
)
PARAMETERS = click.option(
    "--param",
    "parameters",
    multiple=True,
    type=PARAMETER_VALUE,
    metavar="NAME=VALUE",
    help="Sets a parameter of the agent; roambus agents lists them.",
)
AGENT = click.option(
    "--agent",
    type=AGENT_NAME,
    default="beacon",
    show_default=True,
    help="The protocol: a name that roambus agents lists, module:Class or file.py[:Class].",
)
OTHER_AGENT = click.option(
    "--agent",
    type=AGENT_NAME,
    help="Takes another agent than the one that is named there: a name, module:Class or file.py[:Class].",
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
LOOKAHEAD = click.option(
    "--lookahead/--no-lookahead",
    default=True,
    help="Whether Castalia tells until when nothing arrives, so that agents' timers up to then need no message.",
)
TRANSPORT = click.option(
    "--transport",
    type=click.Choice(["zeromq", "local"]),
    default="zeromq",
    show_default=True,
    help="What host and Castalia speak over: ZeroMQ, or a plain Unix socket, which is faster on one machine.",
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
    type=AGENT_NAME,
    metavar='"NAME [PARAMETER=VALUE...],..."',
    help="Runs these agents in place of the sweep's: names, module:Class or file.py[:Class], each with its parameters.",
)
SEEDS = click.option(
    "--seeds", type=click.IntRange(1), help="How many seeds to take, instead of as many as the sweep says."
)
PRECISION = click.option(
    "--precision",
    metavar="HALF_WIDTH",
    help="Adds seeds point by point until 95 % intervals are as narrow as this: 0.02, or 2% of the mean "
    "(roambus docs precision). --seeds is then the most that a point gets.",
)
METRIC = click.option("--metric", metavar="NAME", help="The metric that --precision is about: a column of runs.csv.")
FIRST_SEEDS = click.option(
    "--first-seeds", type=click.IntRange(2), help="How many seeds every point gets at least, with --precision."
)
WORKERS = click.option(
    "--workers",
    type=click.IntRange(1),
    default=len(os.sched_getaffinity(0)),
    show_default="cores",
    help="How many processes make runs at once.",
)
SPARK = click.option(
    "--spark", metavar="spark://HOST:PORT", help="Make the runs on this Spark cluster instead (roambus docs cluster)."
)
STUDY = click.option(
    "--study",
    type=STUDY_NAME,
    metavar="FILE.py",
    help="The study that RESULTS are of, if it is one of your own (roambus docs studies).",
)
WHERE = click.option(
    "--where", "wheres", multiple=True, metavar="AXIS=V1,V2", help="Keeps only these values of an axis."
)
FORMAT = click.option(
    "--format",
    "formats",
    default="png,svg",
    show_default=True,
    metavar="png,svg,pdf",
    help="The formats of figures, with commas between them; PNG has 300 dots an inch, in the others text stays text.",
)
SIZE = click.option(
    "--size",
    default="screen",
    show_default=True,
    metavar="NAME|WxH",
    help="The size of a figure: screen, column, page, slide, or WIDTHxHEIGHT in inches, or with cm or mm behind it.",
)
STYLE = click.option(
    "--style",
    default="colour",
    show_default=True,
    metavar="NAME",
    help="The style of figures: colour, grey (told apart by marker and dash), or slide (large).",
)


class ResultsFolder(click.Path):
    """A folder, or an address on an object store: then its mirror, which is published when the command ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The folder as a Path; raises click.BadParameter, UserError, StorageError."""
        if isinstance(value, str) and "://" in value and ctx is not None:
            from roambus.commands.mirrors import mirrored

            return mirrored(value, ctx)
        return super().convert(value, param, ctx)


FOLDER = ResultsFolder(file_okay=False, path_type=Path)
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
