"""`roambus reproduce` runs a study from its first run to its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from roambus.commands.backend import make_factory
from roambus.commands.completion import STUDY_NAME
from roambus.commands.options import (
    AGENTS,
    FIRST_SEEDS,
    FOLDER,
    METRIC,
    PRECISION,
    SEEDS,
    SPARK,
    SWEEP_BACKEND,
    VALUES,
    WORKERS,
    pairs,
)
from roambus.commands.precisely import Asked, asked_for, run_until_known
from roambus.commands.sweeping import Making, make_crew, report_problems, run_sweep
from roambus.commands.telling import answer

if TYPE_CHECKING:
    from roambus.experiments.studies.study import Study, StudySweep
    from roambus.experiments.sweeps.runner import Crew
    from roambus.experiments.sweeps.sweep import Sweep


@click.command()
@click.argument("study", type=STUDY_NAME)
@click.option("--quick", is_flag=True, help="Runs the study in small, with fewer values and seeds: a minute or two.")
@VALUES
@AGENTS
@SEEDS
@PRECISION
@METRIC
@FIRST_SEEDS
@WORKERS
@SPARK
@SWEEP_BACKEND
@click.option(
    "--out", type=FOLDER, help="The folder for the results.  [default: results/STUDY, or results/STUDY-quick]"
)
def reproduce(
    study: str,
    quick: bool,
    settings: Sequence[str],
    agents: str | None,
    seeds: int | None,
    precision: str | None,
    metric: str | None,
    first_seeds: int | None,
    workers: int,
    spark: str | None,
    backend: str | None,
    out: Path | None,
) -> None:
    """Runs a whole study, from its first run to its report.

    It makes all runs, computes the metrics, draws the figures, checks the claims against the numbers, and writes a
    report. STUDY is the name of a study that comes with roambus (a name that is not known lists them), or a file of
    your own (roambus docs studies). What is complete already is not run again. --set changes all sweeps of the study,
    to try its claims where nobody has made them. With --precision points get more seeds only while a claim about them
    is open, or while the interval of --metric is too wide (roambus docs precision).

    Example: roambus reproduce thesis --quick --out results/thesis-quick
    """
    from roambus.experiments.studies.registry import load_study
    from roambus.spark.engine.session import begin_java, spark_session

    chosen = load_study(study)
    folder = out or Path("results", f"{chosen.name}-quick" if quick else chosen.name)
    if spark is None:
        begin_java()  # it takes some seconds, while the runs are made
    choice = _Choice(quick, pairs("--set", settings), agents, seeds, asked_for(precision, metric, first_seeds))
    problems = _run_study(chosen, choice, folder, make_crew(workers, spark), backend, spark or "local[*]")
    with spark_session(spark or "local[*]"):
        problems += _aggregate_study(chosen, folder)
    _report_study(chosen, folder)
    report_problems(problems)


class _Choice(NamedTuple):
    """What of a study is run."""

    quick: bool
    settings: Mapping[str, str]
    agents: str | None
    seeds: int | None
    asked: Asked | None

    def of(self, study: Study, one: StudySweep) -> Sweep:
        """One of its sweeps, as far as it is run."""
        from roambus.experiments.sweeps.choosing_agents import with_agents
        from roambus.experiments.sweeps.sweep import override

        settings, seeds = (one.quick, one.quick_seeds) if self.quick else ({}, None)
        chosen = override(study.asked(one), {**settings, **self.settings}, self.seeds or seeds)
        return chosen if self.agents is None else with_agents(chosen, self.agents)


def _run_study(study: Study, choice: _Choice, folder: Path, crew: Crew, backend: str | None, master: str) -> list[str]:
    """Runs the sweeps; returns a line for each run that failed."""
    from roambus.experiments.studies.reading import sweep_folder

    problems = []
    for one in study.sweeps:
        chosen = choice.of(study, one)
        factory = make_factory(backend or chosen.backend)
        out = sweep_folder(folder, study, one)
        make = partial(run_sweep, out=out, crew=crew, making=Making(retry_failed=True), backend=factory)
        if choice.asked is None or not (one.claims or choice.asked.metric):
            problems += make(chosen)
        else:
            problems += run_until_known(chosen, out, choice.asked, one.claims, one.extra, make, master)
    return problems


def _aggregate_study(study: Study, folder: Path) -> list[str]:
    """Computes the metrics with the Spark session that there is; returns a line for each run that cannot be read."""
    from roambus.experiments.studies.reading import sweep_folder
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    folders = [(sweep_folder(folder, study, one), one.extra) for one in study.sweeps]
    return [problem for out, extra in folders for problem in aggregate_results(out, extra=extra)]


def _report_study(study: Study, folder: Path) -> None:
    """Draws the figures, and prints the claims and where the report is."""
    from roambus.experiments.evidence.claim import format_claims
    from roambus.experiments.reporting.figure_files import draw_figures
    from roambus.experiments.reporting.report import write_report
    from roambus.experiments.studies.reading import read_results

    draw_figures(folder, study)
    claims = [claim for found in read_results(folder, study).sweeps for claim in found.claims()]
    if claims:
        answer(format_claims(claims), claims=claims)
    report = write_report(folder, study)
    answer(report, results=folder, report=report)
