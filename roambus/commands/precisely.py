"""Makes runs until what is asked for is known as precisely as asked, and says which points took how many seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from roambus.bridge.errors import UserError
from roambus.commands.telling import answer
from roambus.spark.metrics.catalogue import DELIVERY_RATE_ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roambus.experiments.evidence.claim import ClaimTest
    from roambus.experiments.measurements.measurements import Measurements
    from roambus.experiments.precision.seeds import Precision, Wanted
    from roambus.experiments.sweeps.sweep import Sweep
    from roambus.spark.metrics.extra import Extra

FIRST_FOR_METRIC, FIRST_FOR_CLAIMS = 5, 3
"""Seeds of each point before anything is judged. Claims are about several points, and need fewer of each."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for: the half width, the metric if one is named, and the first seeds if given."""

    width: str
    metric: str | None
    first: int | None

    def precision(self, usual_first: int, most: int) -> Precision:
        """The bounds on the seeds; raises UserError."""
        from roambus.experiments.precision.seeds import Precision
        from roambus.experiments.precision.width import read_width

        first = self.first or min(usual_first, most)
        if first > most:
            raise UserError(f"--first-seeds: {first} are more than the {most} seeds that a point has at most: --seeds")
        return Precision(read_width(self.width), first, most)

    def options(self, first: int) -> str:
        """How the command line says it."""
        metric = f" --metric {self.metric}" if self.metric else ""
        return f"--precision {self.width}{metric} --first-seeds {first}"


def asked_for(width: str | None, metric: str | None, first: int | None) -> Asked | None:
    """What the options ask for, if anything; raises UserError for options that mean nothing."""
    if width is not None:
        return Asked(width, metric, first)
    for option, value in (("--metric", metric), ("--first-seeds", first)):
        if value is not None:
            raise UserError(f"{option} goes with --precision, which says how narrow the interval is to be")
    return None


def run_until_known(
    sweep: Sweep,
    out: Path,
    asked: Asked,
    claims: Sequence[ClaimTest],
    extra: Extra,
    make: Callable[[Sweep], list[str]],
    master: str,
) -> list[str]:
    """Makes the first runs, and more where they are needed: for the claims, if there are any and no metric is named.

    Returns a line for each run that failed or cannot be read.
    """
    from roambus.experiments.precision.seeds import for_claims, for_metric

    _check_metric(asked.metric, extra)
    by_claims = bool(claims) and asked.metric is None
    precision = asked.precision(FIRST_FOR_CLAIMS if by_claims else FIRST_FOR_METRIC, len(sweep.seeds))

    def wanted(measured: Measurements) -> Wanted:
        if by_claims:
            return for_claims(sweep, measured, claims, precision)
        return for_metric(sweep, measured, asked.metric or DELIVERY_RATE_ALL, precision)

    first = tuple(sweep.seeds[: precision.first])
    grown = replace(sweep, seeds=first, precision=asked.options(precision.first))
    while True:
        problems = make(grown)
        measured, unreadable = _measured(out, extra, master)
        found = wanted(measured)
        more = {point: count for point, count in found.seeds.items() if count > precision.first}
        if more == grown.more_seeds:
            _tell(out, found, precision, None if by_claims else asked.metric or DELIVERY_RATE_ALL)
            return list(dict.fromkeys([*problems, *unreadable]))
        grown = replace(grown, more_seeds=more)


def _check_metric(metric: str | None, extra: Extra) -> None:
    """Raises UserError, before any run is made, for a metric that no run can have."""
    from roambus.python_protocol.parameters import unknown
    from roambus.spark.metrics.catalogue import METRICS, SENT_PREFIX

    known = {one.column: one for one in (*METRICS, *extra.catalogue)}
    if metric is not None and metric not in known and not metric.startswith(SENT_PREFIX):
        raise UserError(unknown("metric", metric, known))


def _measured(out: Path, extra: Extra, master: str) -> tuple[Measurements, list[str]]:
    from roambus.experiments.measurements.measurements import read_measurements
    from roambus.spark.aggregation.aggregate import aggregate

    problems = aggregate(out, master, extra=extra)
    return read_measurements(out, extra), problems


def _tell(out: Path, found: Wanted, precision: Precision, metric: str | None) -> None:
    """Says how many points took how many seeds, and names those that took more than the first."""
    about = f"{metric} ± {precision.width}" if metric else f"the verdicts, or ± {precision.width}"
    counts = sorted(Counter(found.seeds.values()).items())
    lines = [f"seeds for {about}: {', '.join(f'{seeds} at {points} points' for seeds, points in counts)}"]
    for point, seeds in found.seeds.items():
        if seeds > precision.first:
            bound = ", the most that there may be" if seeds == precision.most else ""
            lines.append(f"  {point}: {seeds}{bound}")
    lines += [f"  settled with {seeds} seeds: {claim}" for claim, seeds in found.settled.items()]
    answer("\n".join(lines), precision=[{"results": out, "seeds": found.seeds, "settled": found.settled}])
