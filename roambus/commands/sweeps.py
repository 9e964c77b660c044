"""`roambus sweep` makes the runs of a sweep; `roambus reproduce` uses the same functions.

Local processes or a Spark cluster's executors make the runs. With `--precision` a sweep grows, point by point, until
its interval or claims are as precise as requested.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.system.code import JOB_ARRAYS
from roambus.bridge.system.errors import UserError
from roambus.console.options import (
    AGENTS,
    CHECK,
    DEADLINE,
    FILE,
    FIRST_SEEDS,
    FOLDER,
    LEVEL,
    METRIC,
    PARAMETER_VALUES,
    PRECISION,
    RECORD,
    REPLACE,
    SEEDS,
    SPARK,
    STUDY_NAME,
    SWEEP_BACKEND,
    SWEEP_NAME,
    VALUES,
    WORKERS,
    factory_of,
    goes_with,
    grouped,
    is_given,
    pairs,
)
from roambus.console.output import (
    answer,
    remark,
    report_problems,
)
from roambus.console.sweep_runs import RunOptions, extension, make_executor, run_sweep
from roambus.spark.metrics.catalogue import DELIVERY_RATE_ALL

if TYPE_CHECKING:
    from roambus.experiments.claims import ClaimTest
    from roambus.experiments.measurements import Measurements
    from roambus.experiments.precision import Precision, Wanted
    from roambus.experiments.sweeps.request import Request
    from roambus.experiments.sweeps.request_file import Making
    from roambus.experiments.sweeps.sweep import Sweep
    from roambus.spark.metrics.extra import Extra

FIRST_FOR_METRIC, FIRST_FOR_CLAIMS = 5, 3
"""Seeds of each point before judgement; claims span points and need fewer."""


def sweep_request(
    sweep: str,
    settings: Sequence[str],
    agents: str | None,
    seeds: str | None,
    parameters: Sequence[str],
) -> Request:
    """Return the request that a command's options are; raise UserError."""
    from roambus.experiments.sweeps.request import Request

    return Request(sweep, pairs("--set", settings), agents, seeds, pairs("--param", parameters), remark)


def study_request(
    study: str, settings: Sequence[str], agents: str | None, seeds: str | None, parameters: Sequence[str]
) -> Request:
    """Return the request for a study; raise UserError."""
    return sweep_request(study, settings, agents, seeds, parameters)


@dataclass(frozen=True, slots=True)
class PrecisionOptions:
    """The requested precision: half width, and optional metric and first seeds."""

    width: str
    metric: str | None
    first: int | None

    def precision(self, usual_first: int, seeds: Sequence[int]) -> Precision:
        """Return the bounds on the number of seeds; raise UserError."""
        from roambus.experiments.precision import Precision, read_width
        from roambus.experiments.sweeps.sweep import are_first, seed_ranges

        if not are_first(seeds):
            raise UserError(f"--precision adds seeds from 0 up, and not {seed_ranges(seeds)}: give --seeds a number")
        most = len(seeds)
        first = self.first or min(usual_first, most)
        if first > most:
            raise UserError(f"--first-seeds: {first} are more than the {most} seeds that a point has at most: --seeds")
        return Precision(read_width(self.width), first, most)

    def options(self, first: int) -> str:
        """Return it as command-line options."""
        metric = f" --metric {self.metric}" if self.metric else ""
        return f"--precision {self.width}{metric} --first-seeds {first}"


def precision_options(precision: str | None, metric: str | None, first_seeds: int | None) -> PrecisionOptions | None:
    """Return the requested precision, if any; raise UserError for meaningless options."""
    goes_with("precision", precision, "metric", "first_seeds")
    return None if precision is None else PrecisionOptions(precision, metric, first_seeds)


_CHOICES = (VALUES, AGENTS, SEEDS, PARAMETER_VALUES)
STUDY_REQUEST = grouped("request", study_request, click.argument("study", type=STUDY_NAME), *_CHOICES)
_SWEEP_REQUEST = grouped(
    "request", sweep_request, click.argument("sweep", metavar="SWEEP|TEMPLATE", type=SWEEP_NAME), *_CHOICES
)
PRECISION_OPTIONS = grouped("requested", precision_options, PRECISION, METRIC, FIRST_SEEDS)
_RETRY = click.option("--retry-failed", is_flag=True, help="Repeats failed runs.")
_PART = click.option(
    "--part", default="0/1", metavar="I/N", help="Makes only part I of N, as a task of a job array does."
)


@click.command()
@_SWEEP_REQUEST
@PRECISION_OPTIONS
@WORKERS
@SPARK
@SWEEP_BACKEND
@DEADLINE
@grouped("run_options", RunOptions, LEVEL, _RETRY, CHECK, RECORD, _PART, REPLACE)
@click.option("--slurm", type=FILE, metavar="FILE", help="Writes a job array for SLURM to this file, and makes no run.")
@click.option("--tasks", type=click.IntRange(1), help="How many tasks the job array has.  [default: one for each run]")
@click.option("--out", type=FOLDER, help="The folder for the results.  [default: results/NAME]")
def sweep(
    request: Request,
    requested: PrecisionOptions | None,
    workers: int,
    spark: str | None,
    backend: str | None,
    deadline: float | None,
    run_options: RunOptions,
    slurm: Path | None,
    tasks: int | None,
    out: Path | None,
) -> None:
    """Makes all runs of SWEEP that are not complete yet.

    Each agent runs at each combination of the axes' values, once for each seed. SWEEP is the name of a sweep of roambus
    (roambus list sweeps), or a TOML file of your own (roambus docs sweeps). With a TEMPLATE each --set is an axis, and
    --agents chooses the agents. After Ctrl-C or a crash the same command makes the missing runs. The command reports a
    run that fails, and goes on with the others; then the exit code is 1.

    With --slurm the command instead writes a script for sbatch (the page cluster).

    Example: roambus sweep thesis --set config=C2,C4 --set speed=2 --seeds 3 --out results/small

    Until the delivery rate is known: roambus sweep thesis --set config=C2 --precision 0.02 --seeds 30

    With an agent of your own: roambus sweep thesis --agents mft,./mine.py --param mine.rate=2 --set config=C2
    """
    from roambus.experiments.sweeps.request_file import Making
    from roambus.spark.metrics.extra import all_own_metrics

    goes_with("slurm", slurm, "tasks")
    if slurm is not None and (ignored := [name for name in ("workers", "part") if is_given(name)]):
        raise UserError(f"--{ignored[0]}: a task of --slurm has its own: leave one of the two out")
    chosen, folder = request.sweep(), out or Path("results", request.stem)
    extra = all_own_metrics(chosen.measure)
    if slurm is not None:
        making = Making(backend or chosen.backend, run_options.level, run_options.record)
        answer(_write_job_array(slurm, chosen, folder, tasks, making), script=slurm)
        return
    factory = factory_of(backend or chosen.backend, deadline)
    make = partial(
        run_sweep, out=folder, executor=make_executor(workers, spark), run_options=run_options, backend=factory
    )
    if requested is None:
        report_problems(make(chosen))
    else:
        report_problems(run_until_known(chosen, folder, requested, (), extra, make, spark or "local[*]"))


def _write_job_array(file: Path, chosen: Sweep, results: Path, tasks: int | None, making: Making) -> Path:
    from roambus.experiments.sweeps.request_file import opened_results
    from roambus.experiments.sweeps.sweep import expand

    text = extension("--slurm", JOB_ARRAYS, "slurm")(chosen.name, sys.argv[1:], len(expand(chosen)), tasks)
    with opened_results(chosen, results, making):
        file.write_text(text, encoding="utf-8")
    return file


# Until it is known


def run_until_known(
    sweep: Sweep,
    out: Path,
    requested: PrecisionOptions,
    claims: Sequence[ClaimTest],
    extra: Extra,
    make: Callable[[Sweep], list[str]],
    master: str,
) -> list[str]:
    """Make first runs, then more as the claims need, if any and no metric is named.

    Return a line for each failed or unreadable run.
    """
    from roambus.experiments.precision import for_claims, for_metric

    _check_metric(requested.metric, extra)
    by_claims = bool(claims) and requested.metric is None
    precision = requested.precision(FIRST_FOR_CLAIMS if by_claims else FIRST_FOR_METRIC, sweep.seeds)

    def wanted(measured: Measurements) -> Wanted:
        if by_claims:
            return for_claims(sweep, measured, claims, precision)
        return for_metric(sweep, measured, requested.metric or DELIVERY_RATE_ALL, precision)

    first = tuple(sweep.seeds[: precision.first])
    grown = replace(sweep, seeds=first, precision=requested.options(precision.first))
    while True:
        problems = make(grown)
        measured, unreadable = _measured(out, extra, master)
        found = wanted(measured)
        more = {point: count for point, count in found.seeds.items() if count > precision.first}
        if more == grown.more_seeds:
            _tell(out, found, precision, None if by_claims else requested.metric or DELIVERY_RATE_ALL)
            return list(dict.fromkeys([*problems, *unreadable]))
        grown = replace(grown, more_seeds=more)


def _check_metric(metric: str | None, extra: Extra) -> None:
    from roambus.python_protocol.settings import unknown
    from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX

    known = {entry.column: entry for entry in (*METRICS, *extra.metrics)}
    if metric is not None and metric not in known and not metric.startswith(SENT_PREFIX):
        raise UserError(unknown("metric", metric, known, "roambus list metrics"))


def _measured(out: Path, extra: Extra, master: str) -> tuple[Measurements, list[str]]:
    from roambus.experiments.measurements import read_measurements
    from roambus.spark.aggregation.aggregate import aggregate

    problems = aggregate(out, master, extra=extra)
    return read_measurements(out, extra), problems


def _tell(out: Path, found: Wanted, precision: Precision, metric: str | None) -> None:
    about = f"{metric} ± {precision.width}" if metric else f"the verdicts, or ± {precision.width}"
    counts = sorted(Counter(found.seeds.values()).items())
    lines = [f"seeds for {about}: {', '.join(f'{seeds} at {points} points' for seeds, points in counts)}"]
    for point, seeds in found.seeds.items():
        if seeds > precision.first:
            bound = ", the maximum" if seeds == precision.most else ""
            lines.append(f"  {point}: {seeds}{bound}")
    lines += [f"  settled with {seeds} seeds: {claim}" for claim, seeds in found.settled.items()]
    answer("\n".join(lines), precision=[{"results": out, "seeds": found.seeds, "settled": found.settled}])
