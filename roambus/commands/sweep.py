"""`roambus sweep` makes the runs of a sweep."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.commands.backend import make_factory
from roambus.commands.completion import SWEEP_NAME
from roambus.commands.options import (
    AGENTS,
    CHECK,
    DEADLINE,
    FIRST_SEEDS,
    FOLDER,
    LEVEL,
    METRIC,
    PRECISION,
    RECORD,
    SEEDS,
    SPARK,
    SWEEP_BACKEND,
    VALUES,
    WORKERS,
    pairs,
)
from roambus.commands.precisely import asked_for, run_until_known
from roambus.commands.sweeping import Making, make_crew, report_problems, run_sweep
from roambus.commands.telling import answer

if TYPE_CHECKING:
    from roambus.experiments.sweeps.sweep import Sweep


@click.command()
@click.argument("sweep", type=SWEEP_NAME)
@VALUES
@AGENTS
@SEEDS
@PRECISION
@METRIC
@FIRST_SEEDS
@WORKERS
@SPARK
@LEVEL
@SWEEP_BACKEND
@DEADLINE
@CHECK
@click.option("--retry-failed", is_flag=True, help="Runs again what failed before.")
@RECORD
@click.option(
    "--slurm",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Writes a job array for SLURM to this file, and makes no run.",
)
@click.option("--tasks", type=click.IntRange(1), help="How many tasks the job array has.  [default: one for each run]")
@click.option("--part", default="0/1", metavar="I/N", help="Makes part I of N alone, as a task of a job array does.")
@click.option("--out", type=FOLDER, help="The folder for the results.  [default: results/NAME]")
def sweep(
    sweep: str,
    settings: Sequence[str],
    agents: str | None,
    seeds: int | None,
    precision: str | None,
    metric: str | None,
    first_seeds: int | None,
    workers: int,
    spark: str | None,
    level: str,
    backend: str | None,
    deadline: float | None,
    check: bool,
    retry_failed: bool,
    record: bool,
    slurm: Path | None,
    tasks: int | None,
    part: str,
    out: Path | None,
) -> None:
    """Makes all runs of SWEEP that are not complete yet.

    Each agent runs at each combination of the axes' values, once for each seed. SWEEP is the name of a sweep that comes
    with roambus (a name that is not known lists them), or a TOML file of your own (roambus docs sweeps). After Ctrl-C
    or a crash the same command goes on with what is missing. A run that fails is reported, and does not stop the
    others; then the exit code is 1.

    With --slurm, a script is written instead, which sbatch takes (roambus docs cluster).

    Example: roambus sweep thesis --set config=C2,C4 --set speed=2 --seeds 3 --out results/small

    Until the delivery rate is known: roambus sweep thesis --set config=C2 --precision 0.02 --seeds 30

    With an agent of your own: roambus sweep thesis --agents "mft,./mine.py rate=2" --set config=C2
    """
    from roambus.experiments.sweeps.choosing_agents import with_agents
    from roambus.experiments.sweeps.job_array import Part
    from roambus.experiments.sweeps.sweep import override
    from roambus.experiments.sweeps.sweep_file import read_sweep
    from roambus.spark.metrics.extra import NOTHING

    asked = asked_for(precision, metric, first_seeds)
    chosen = override(read_sweep(sweep), pairs("--set", settings), seeds)
    chosen = chosen if agents is None else with_agents(chosen, agents)
    folder = out or Path("results", Path(sweep).stem)
    factory = make_factory(backend or chosen.backend, deadline)
    if slurm is not None:
        answer(_write_job_array(slurm, chosen, folder, tasks), script=slurm)
        return
    made = Making(level, retry_failed, check, record, Part.read(part))
    crew = make_crew(workers, spark)

    def make(one: Sweep) -> list[str]:
        return run_sweep(one, folder, crew, made, factory)

    if asked is None:
        report_problems(make(chosen))
    else:
        report_problems(run_until_known(chosen, folder, asked, (), NOTHING, make, spark or "local[*]"))


def _write_job_array(file: Path, chosen: Sweep, results: Path, tasks: int | None) -> Path:
    """Writes the script and what the sweep is; returns the file."""
    from roambus.experiments.sweeps.description import opened_results
    from roambus.experiments.sweeps.job_array import script, without_options
    from roambus.experiments.sweeps.sweep import expand

    arguments = without_options(sys.argv[1:], "--slurm", "--tasks", "--workers", "--part")
    command = [sys.executable, "-m", "roambus", *arguments]
    text = script(chosen.name, command, len(expand(chosen)), tasks, Path.cwd())
    with opened_results(chosen, results):
        file.write_text(text, encoding="utf-8")
    return file
