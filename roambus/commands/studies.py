"""`roambus reproduce` runs a study from its first run to its report.

It calls the functions of `sweep`, `aggregate` and `figures`, sweep by sweep, then writes the report. One Spark session
computes all metrics, because it takes seconds to start. A study can take hours, so all results folders and seeds
are checked first. Failed runs are retried, because a study without them has no claims.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.system.errors import UserError
from roambus.commands.sweeps import (
    FIRST_FOR_CLAIMS,
    PRECISION_OPTIONS,
    STUDY_REQUEST,
    PrecisionOptions,
    run_until_known,
)
from roambus.console.options import FOLDER, REPLACE, SPARK, SWEEP_BACKEND, WORKERS, factory_of
from roambus.console.output import answer, report_problems
from roambus.console.sweep_runs import RunOptions, make_executor, run_sweep

if TYPE_CHECKING:
    from roambus.experiments.studies.study import Study
    from roambus.experiments.sweeps.request import Request
    from roambus.experiments.sweeps.sweep import Sweep


@click.command()
@click.option(
    "--quick", is_flag=True, help="Runs a small version of the study, with fewer values and seeds: a minute or two."
)
@STUDY_REQUEST
@PRECISION_OPTIONS
@WORKERS
@SPARK
@SWEEP_BACKEND
@REPLACE
@click.option(
    "--out", type=FOLDER, help="The folder for the results.  [default: results/STUDY, or results/STUDY-quick]"
)
def reproduce(
    request: Request,
    quick: bool,
    requested: PrecisionOptions | None,
    workers: int,
    spark: str | None,
    backend: str | None,
    replace: bool,
    out: Path | None,
) -> None:
    """Runs a whole study, from its first run to its report.

    It makes all runs, computes the metrics, draws the figures, checks the claims against the numbers, and writes a
    report. STUDY is the name of a study of roambus (roambus list studies), or a file of your own (roambus docs
    studies). Complete runs are not repeated. --set changes all sweeps of the study, to test its claims under other
    conditions. With --precision the study has the agents of --quick. Points get more seeds only while a claim about
    them is open, or while the interval of --metric is too wide (roambus docs precision).

    Example: roambus reproduce thesis --quick --out results/thesis-quick
    """
    from roambus.bridge.runs.layout import SWEEP_FILE, unlinked_below
    from roambus.experiments.studies.study import load_study, sweep_folder
    from roambus.spark.engine.session import begin_java, spark_session

    chosen = load_study(request.name)
    folder = out or Path("results", f"{chosen.name}-quick" if quick else chosen.name)
    places = [sweep_folder(folder, chosen, part) for part in chosen.sweeps]
    for place in places:
        unlinked_below(folder, place.relative_to(folder) / SWEEP_FILE)
    asked = _asked(chosen, request, quick, requested)
    if spark is None:
        begin_java()  # it takes some seconds, while the runs are made
    executor, master = make_executor(workers, spark), spark or "local[*]"
    problems = []
    for part, place, (sweep, growing) in zip(chosen.sweeps, places, asked, strict=True):
        factory = factory_of(backend or sweep.backend)
        options = RunOptions(retry_failed=True, replace=replace)
        make = partial(run_sweep, out=place, executor=executor, run_options=options, backend=factory)
        if growing is None:
            problems += make(sweep)
        else:
            problems += run_until_known(sweep, place, growing, part.claims, part.extra, make, master)
    with spark_session(master):
        problems += _aggregate_study(chosen, folder)
    _report_study(chosen, folder)
    report_problems(problems)


def _asked(
    study: Study, request: Request, quick: bool, requested: PrecisionOptions | None
) -> list[tuple[Sweep, PrecisionOptions | None]]:
    """Return each sweep as it is asked for, with the precision if it grows; raise UserError before any run."""
    from roambus.bridge.runs.layout import AGENT

    asked = []
    for part in study.sweeps:
        usual = {AGENT: part.quick[AGENT]} if requested and AGENT in part.quick else {}
        small = (part.quick, part.quick_seeds) if quick else (usual, None)
        sweep = request.of(study.asked(part), *small)
        growing = requested if requested and (part.claims or requested.metric) else None
        if growing:
            growing.precision(FIRST_FOR_CLAIMS, sweep.seeds)  # its mistakes show here, before the first sweep's runs
        asked.append((sweep, growing))
    if requested and not any(growing for _, growing in asked):
        raise UserError(f"--precision: study {study.name} has no claims: name a --metric")
    return asked


def _aggregate_study(study: Study, folder: Path) -> list[str]:
    from roambus.experiments.studies.study import sweep_folder
    from roambus.spark.aggregation.aggregate import aggregate as aggregate_results

    folders = [(sweep_folder(folder, study, sweep), sweep.extra) for sweep in study.sweeps]
    return [problem for out, extra in folders for problem in aggregate_results(out, extra=extra)]


def _report_study(study: Study, folder: Path) -> None:
    from roambus.bridge.system.code import PAGES, brought
    from roambus.experiments.claims import format_claims
    from roambus.experiments.reporting.figure_files import draw_figures
    from roambus.experiments.studies.conditions import Difference, differences, heads
    from roambus.experiments.studies.study import read_results

    draw_figures(folder, study)
    results = read_results(folder, study)
    differing = {found.folder: [*map(Difference._asdict, differences(found))] for found in results.sweeps}
    answer("\n".join(heads(results)) or None, conditions=differing)
    claims = [claim for found in results.sweeps for claim in found.claims()]
    if claims:
        answer(format_claims(claims), claims=claims)
    if make := brought(PAGES, "report"):  # of an extension
        report = make(folder, study)
        answer(report, results=folder, report=report)
