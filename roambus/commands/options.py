"""Options that several commands have, and how those are read that are given several times."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError

SETTINGS = click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A variable of the template.")
PARAMETERS = click.option(
    "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the agent."
)
AGENT = click.option("--agent", default="beacon", show_default=True, help="A name, module:Class or file.py[:Class].")
SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The run's seed.")
LEVEL = click.option(
    "--level",
    type=click.Choice(["app", "full"]),
    default="app",
    show_default=True,
    help="What the trace holds: full adds a row for each packet received.",
)
BACKEND = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="The embedded radio, real Castalia (see roambus doctor), or ideal links.",
)
SWEEP_BACKEND = click.option(
    "--backend", type=click.Choice(BACKENDS), help=f"Likewise.  [default: the sweep's own, or {BACKENDS[0]}]"
)
DEADLINE = click.option(
    "--deadline",
    type=click.FloatRange(1, 86400),
    help="Seconds that host and simulator wait for each other; more for slow agents or a debugger.  [default: 30]",
)
BATCHING = click.option(
    "--batching/--no-batching", default=True, help="Whether a simulator tells everything of one instant at once."
)
RECORD = click.option("--record", is_flag=True, help="Keep the frames in frames.roambus, for roambus rerun.")
WORKERS = click.option(
    "--workers", type=click.IntRange(1), default=len(os.sched_getaffinity(0)), show_default="cores", help="Processes."
)
SPARK = click.option(
    "--spark", metavar="spark://HOST:PORT", help="Make the runs on this Spark cluster instead; see docs/cluster.md."
)
STUDY = click.option(
    "--study", metavar="FILE.py", help="The study that RESULTS are of, if it is none of ours; see docs/studies.md."
)
FOLDER = click.Path(file_okay=False, path_type=Path)
OUT = click.option("--out", type=FOLDER, default=Path("results/run"), show_default=True, help="Results folder.")


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE of each `option`; raises UserError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"{option} {text}: write NAME=VALUE")
        if name in found:
            raise UserError(f"{option} {name}: given twice")
        found[name] = value
    return found
