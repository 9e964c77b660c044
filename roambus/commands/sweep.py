"""`roambus sweep` makes the runs of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.backend import make_factory
from roambus.commands.options import AGENTS, CHECK, DEADLINE, FOLDER, LEVEL, SPARK, SWEEP_BACKEND, WORKERS, pairs
from roambus.commands.sweeping import make_crew, report_problems, run_sweep


@click.command()
@click.argument("sweep")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=V1,V2",
    help="Replaces the values of an axis, or a value; give the option again for more.",
)
@AGENTS
@click.option("--seeds", type=click.IntRange(1), help="How many seeds to take, instead of as many as the sweep says.")
@WORKERS
@SPARK
@LEVEL
@SWEEP_BACKEND
@DEADLINE
@CHECK
@click.option("--retry-failed", is_flag=True, help="Runs again what failed before.")
@click.option("--out", type=FOLDER, help="The folder for the results.  [default: results/NAME]")
def sweep(
    sweep: str,
    settings: Sequence[str],
    agents: str | None,
    seeds: int | None,
    workers: int,
    spark: str | None,
    level: str,
    backend: str | None,
    deadline: float | None,
    check: bool,
    retry_failed: bool,
    out: Path | None,
) -> None:
    """Makes all runs of SWEEP that are not complete yet.

    Each agent runs at each combination of the axes' values, once for each seed. SWEEP is the name of a sweep that comes
    with roambus (a name that is not known lists them), or a TOML file of your own (docs/sweeps.md). After Ctrl-C or a
    crash the same command goes on with what is missing. A run that fails is reported, and does not stop the others;
    then the exit code is 1.

    Example: roambus sweep thesis --set config=C2,C4 --set speed=2 --seeds 3 --out results/small
    With an agent of your own: roambus sweep thesis --agents "mft,./mine.py rate=2" --set config=C2
    """
    from roambus.experiments.sweeps.choosing_agents import with_agents
    from roambus.experiments.sweeps.sweep import override
    from roambus.experiments.sweeps.sweep_file import read_sweep

    chosen = override(read_sweep(sweep), pairs("--set", settings), seeds)
    chosen = chosen if agents is None else with_agents(chosen, agents)
    folder = out or Path("results", Path(sweep).stem)
    factory = make_factory(backend or chosen.backend, deadline, batching=True)
    report_problems(run_sweep(chosen, folder, make_crew(workers, spark), level, retry_failed, factory, check=check))
