"""`roambus sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from roambus.commands.backend import make_factory
from roambus.commands.options import DEADLINE, FOLDER, LEVEL, SPARK, SWEEP_BACKEND, WORKERS, pairs
from roambus.commands.sweeping import make_crew, report_problems, run_sweep


@click.command()
@click.argument("sweep")
@click.option("--set", "settings", multiple=True, metavar="NAME=V1,V2", help="Narrows or replaces an axis or a value.")
@click.option("--seeds", type=click.IntRange(1), help="How many seeds, instead of the sweep's own.")
@WORKERS
@SPARK
@LEVEL
@SWEEP_BACKEND
@DEADLINE
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--out", type=FOLDER, help="Results folder.  [default: results/NAME]")
def sweep(
    sweep: str,
    settings: Sequence[str],
    seeds: int | None,
    workers: int,
    spark: str | None,
    level: str,
    backend: str | None,
    deadline: float | None,
    retry_failed: bool,
    out: Path | None,
) -> None:
    """Runs SWEEP (a name of ours, or a TOML file); what is complete already is skipped.

    Example: roambus sweep thesis --set config=C2,C4 --set speed=2 --seeds 3 --out results/small
    """
    from roambus.experiments.sweeps.sweep import override
    from roambus.experiments.sweeps.sweep_file import read_sweep

    chosen = override(read_sweep(sweep), pairs("--set", settings), seeds)
    folder = out or Path("results", Path(sweep).stem)
    factory = make_factory(backend or chosen.backend, deadline, batching=True)
    report_problems(run_sweep(chosen, folder, make_crew(workers, spark), level, retry_failed, factory))
