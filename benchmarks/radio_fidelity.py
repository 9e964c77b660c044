"""Holds the embedded radio to Castalia: runs every row group of the reference files, and compares.

A group is judged by its share of deliveries and, where the file has them, by the shares of lost signals for each cause.
The tests of one file are corrected together.

python -m benchmarks.radio_fidelity DIR
python -m benchmarks.radio_fidelity DIR --backend castalia --runs-per-row 2

Reads prr_vs_distance.csv, shadowing.csv, contention.csv, static_field.csv and line_mobility.csv, whichever DIR holds.
With `--backend castalia` it is the Castalia that OMNETPP_ROOT and CASTALIA_ROOT name that is held to the reference,
with other seeds and by the same bounds: whether a Castalia on another OMNeT++ is the same Castalia.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks import reference_castalia, reference_scenarios
from benchmarks.reference_scenarios import FLAT, MOBILE, PAYLOAD_BYTES, SHADOWED, Conditions, Counts
from roambus.bridge.system.errors import RoambusError, UserError

RUNS_PER_ROW = 4
PAIR_RUNS = 10
"""Runs for a row of prr_vs_distance: 20,000 packets, so that our own chance is small beside the 0.02."""

CONFIDENCE = 0.95
RELATIVE_MARGIN = 0.03
PRR_MARGIN = 0.02
PERMUTATIONS = 9_999
"""They resolve a probability of one in a thousand, which 5 % becomes by correction for some ten groups."""

Group = tuple[float, ...]
Row = Mapping[str, float]
Rows = Sequence[Row]
Metric = Callable[[Row], float]

SIGNALS = ("rx_no_interf", "rx_despite", "fail_no_interf", "fail_interf", "fail_sens", "fail_nonrx")


def ratio(above: str, below: str) -> Metric:
    """One count over another; NaN over 0."""
    return lambda row: row[above] / row[below] if row[below] else math.nan


def delivery_ratio(row: Row) -> float:
    """Of what was offered, how much arrived at each of the other nodes."""
    return row["received"] / (row["offered"] * (row["nodes"] - 1))


def share(signal: str) -> Metric:
    """Of the signals at receivers, how many met this fate."""
    return lambda row: row[signal] / (sum(row[name] for name in SIGNALS) or math.nan)


FAILURES = tuple(name for name in SIGNALS if name.startswith("fail"))
_FATES: dict[str, Metric] = {
    "transmitted/offered": ratio("transmitted", "offered"),
    **{name: share(name) for name in SIGNALS},
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Castalia's mean and ours for one metric of one group, and how far apart they may be."""

    castalia: float
    ours: float
    margin: float
    by_chance: bool = False
    """Whether a test that needs no interval takes the difference for chance."""

    @property
    def inside(self) -> bool:
        """Whether they agree; where neither has a value, they do."""
        both_absent = math.isnan(self.castalia) and math.isnan(self.ours)
        return both_absent or self.by_chance or abs(self.ours - self.castalia) <= self.margin


def compare(castalia: Rows, ours: Rows, metric: Metric, groups: int) -> Comparison:
    """Means that may differ by the combined interval, corrected for `groups`, or 3 % of Castalia's: the wider."""
    theirs, mine = _present(castalia, metric), _present(ours, metric)
    if len(theirs) == 0 or len(mine) == 0:
        return Comparison(_mean(theirs), _mean(mine), math.nan)
    margin = max(interval(theirs, mine, groups), RELATIVE_MARGIN * abs(_mean(theirs)))
    return Comparison(_mean(theirs), _mean(mine), margin)


def compare_pairs(castalia: Rows, ours: Rows, metric: Metric, groups: int) -> Comparison:
    """Means over single pairs, which a permutation test may distinguish, corrected for `groups`, or 3 % of Castalia's.

    A pair hears nearly everything or nearly nothing. Far away the mean hangs on the few that hear anything, and is not
    normal at all, as an interval after Student would have it. That pairs of both could be exchanged is all that this
    test takes for granted.
    """
    theirs, mine = _present(castalia, metric), _present(ours, metric)
    margin = RELATIVE_MARGIN * abs(_mean(theirs))
    if min(len(theirs), len(mine)) < 2:
        return Comparison(_mean(theirs), _mean(mine), margin)
    chance = permuted_p(theirs, mine)
    return Comparison(_mean(theirs), _mean(mine), margin, by_chance=chance >= (1 - CONFIDENCE) / groups)


def permuted_p(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """How often chance puts the means as far apart as they are, when it says which value is whose (both sides)."""
    tested = stats.permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        vectorized=True,
        n_resamples=PERMUTATIONS,
        rng=np.random.default_rng(0),
    )
    return float(tested.pvalue)


def compare_prr(castalia: Rows, ours: Rows, metric: Metric, groups: int) -> Comparison:  # noqa: ARG001  # as compare
    """Packet reception ratios that may differ by 0.02, or by what chance does to that many packets: the wider.

    The reference has about 2000 packets a distance, so its own ratio has a 95 % interval of 0.02 where half arrive.
    """
    (theirs, sent), (mine, tried) = _pooled_prr(castalia), _pooled_prr(ours)
    error = math.sqrt(theirs * (1 - theirs) / sent + mine * (1 - mine) / tried)
    quantile = float(stats.norm.ppf(1 - (1 - CONFIDENCE) / (2 * groups)))
    return Comparison(theirs, mine, max(PRR_MARGIN, quantile * error))


def _pooled_prr(rows: Rows) -> tuple[float, float]:
    sent = sum(row["sent"] for row in rows)
    return sum(row["received"] for row in rows) / sent, sent


def interval(first: NDArray[np.float64], second: NDArray[np.float64], groups: int) -> float:
    """Half the 95 % t interval (Welch) of a difference of means, corrected after Bonferroni; 0 for single values."""
    if min(len(first), len(second)) < 2:
        return 0.0
    errors = [values.var(ddof=1) / len(values) for values in (first, second)]
    if sum(errors) == 0:
        return 0.0
    spread = sum(error**2 / (len(values) - 1) for error, values in zip(errors, (first, second), strict=True))
    freedom = sum(errors) ** 2 / spread
    quantile = stats.t.ppf(1 - (1 - CONFIDENCE) / (2 * groups), freedom)
    return float(quantile * math.sqrt(sum(errors)))


def _present(rows: Rows, metric: Metric) -> NDArray[np.float64]:
    values = np.array([metric(row) for row in rows], np.float64)
    return values[~np.isnan(values)]


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan


@dataclass(frozen=True, slots=True)
class Scenarios:
    """How a back-end runs the reference's scenarios, and the first seed that owes nothing to the reference."""

    first_seed: int
    pair: Callable[[float, int, float, Conditions], Counts]
    static_field: Callable[[int, float, float, Conditions], Counts]
    line_field: Callable[[int, float, float, Conditions], Counts]


BACKENDS = {
    "radio": Scenarios(0, reference_scenarios.pair, reference_scenarios.static_field, reference_scenarios.line_field),
    "castalia": Scenarios(
        reference_castalia.FIRST_SEED,
        reference_castalia.pair,
        reference_castalia.static_field,
        reference_castalia.line_field,
    ),
}


@dataclass(frozen=True, slots=True)
class ReferenceFile:
    """How to run a file's groups and what to compare; `judge` judges the first metric, `compare` the failures."""

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    metrics: dict[str, Metric]
    run: Callable[[Scenarios, Group, int], Counts]
    runs_per_row: int = RUNS_PER_ROW
    judge: Callable[[Rows, Rows, Metric, int], Comparison] = compare

    @property
    def judged(self) -> list[str]:
        """The metrics that must agree; the others are shown."""
        first, *others = self.metrics
        return [first, *(name for name in others if name in FAILURES)]


def _pair_at(backend: Scenarios, group: Group, seed: int) -> Counts:
    payload, distance_m = group
    return backend.pair(distance_m, int(payload), 50, Conditions(40, FLAT, seed))


def _shadowed_pair(backend: Scenarios, group: Group, seed: int) -> Counts:
    return backend.pair(group[0], PAYLOAD_BYTES, 20, Conditions(10, SHADOWED, seed))


def _contention(backend: Scenarios, group: Group, seed: int) -> Counts:
    nodes, offered_per_s = group
    return backend.static_field(int(nodes), 10, offered_per_s / nodes, Conditions(20, FLAT, seed))


def _static_field(backend: Scenarios, group: Group, seed: int) -> Counts:
    nodes, side_m, rate = group
    return backend.static_field(int(nodes), side_m, rate, Conditions(30, SHADOWED, seed))


def _line_mobility(backend: Scenarios, group: Group, seed: int) -> Counts:
    nodes, side_m, rate = group
    return backend.line_field(int(nodes), side_m, rate, Conditions(30, MOBILE, seed))


_COUNTS = ("offered", "transmitted", "received", *SIGNALS)
_FIELD = ("nodes", "side_m", "rate_per_node")
_PRR = ratio("received", "sent")
_PER_TX = {"receivers_per_tx": ratio("received", "transmitted"), **_FATES}
_LEVELS: dict[str, Metric] = {"mean_rssi_dbm": itemgetter("mean_rssi_dbm"), "mean_lqi_db": itemgetter("mean_lqi_db")}
_RSSI: dict[str, Metric] = {"mean_rssi_dbm": itemgetter("mean_rssi_dbm")}

FILES = (
    ReferenceFile(
        "prr_vs_distance.csv",
        ("payload_bytes", "distance_m"),
        ("sent", "received", *_LEVELS),
        {"prr": _PRR, **_LEVELS},
        _pair_at,
        PAIR_RUNS,
        compare_prr,
    ),
    ReferenceFile(
        "shadowing.csv",
        ("distance_m",),
        ("sent", "received", *_RSSI),
        {"prr": _PRR, **_RSSI},
        _shadowed_pair,
        judge=compare_pairs,
    ),
    ReferenceFile(
        "contention.csv",
        ("nodes", "offered_pkts_per_s"),
        _COUNTS,
        {"delivery_ratio": delivery_ratio, **_FATES},
        _contention,
    ),
    ReferenceFile("static_field.csv", _FIELD, _COUNTS, _PER_TX, _static_field),
    ReferenceFile("line_mobility.csv", _FIELD, _COUNTS, _PER_TX, _line_mobility),
)
"""Their scenarios are those of the reference's README."""


def read_groups(path: Path, file: ReferenceFile) -> dict[Group, list[dict[str, float]]]:
    """The rows of each group; raises UserError naming file and line."""
    groups: dict[Group, list[dict[str, float]]] = {}
    with path.open(newline="", encoding="utf-8") as text:
        reader = csv.DictReader(text)
        missing = {*file.keys, *file.columns} - set(reader.fieldnames or ())
        if missing:
            raise UserError(f"{path}:1: no column {', '.join(sorted(missing))}")
        for row in reader:
            values = read_row(path, reader.line_num, row, (*file.keys, *file.columns))
            groups.setdefault(tuple(values[key] for key in file.keys), []).append(values)
    return groups


def read_row(path: Path, line: int, row: Mapping[str, str], names: Sequence[str]) -> dict[str, float]:
    """The numbers of these columns; raises UserError naming file and line."""
    try:
        return {name: float(row[name]) for name in names}
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{path}:{line}: a row of numbers was expected for {', '.join(names)}") from None


@dataclass(frozen=True, slots=True)
class Runs:
    """The back-end under test, and the number of runs for each reference row; 0 takes the file's number."""

    backend: Scenarios
    per_row: int = 0

    def of_group(self, file: ReferenceFile, group: Group, rows: int) -> list[dict[str, float]]:
        """Our rows for a group, from at least as many seeds."""
        keys = dict(zip(file.keys, group, strict=True))
        seeds = range(rows * (self.per_row or file.runs_per_row))
        first = self.backend.first_seed
        return [keys | file.run(self.backend, group, first + seed) for seed in seeds]


def check_file(path: Path, file: ReferenceFile, runs: Runs) -> int:
    """Runs and prints every group of a file; returns how many are outside."""
    groups = read_groups(path, file)
    print(f"\n{file.name}: {', '.join(file.judged)} ({len(groups)} groups)")
    outside = 0
    for number, (group, rows) in enumerate(groups.items(), 1):
        print(f"\r{file.name} {number}/{len(groups)}", end="", file=sys.stderr, flush=True)
        ours = runs.of_group(file, group, len(rows))
        outside += not print_group(file, group, _compare_all(file, rows, ours, len(groups) * len(file.judged)))
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return outside


def _compare_all(file: ReferenceFile, castalia: Rows, ours: Rows, tests: int) -> dict[str, Comparison]:
    return {
        name: (file.judge if name == file.judged[0] else compare)(castalia, ours, metric, tests)
        for name, metric in file.metrics.items()
    }


def print_group(file: ReferenceFile, group: Group, compared: Mapping[str, Comparison]) -> bool:
    """One line for the first metric, one for the others; returns whether all that are judged are inside."""
    judged, *others = compared.items()
    keys = " ".join(f"{key}={value:g}" for key, value in zip(file.keys, group, strict=True))
    result = judged[1]
    print(
        f"  {keys:<45} Castalia {result.castalia:9.4f}  ours {result.ours:9.4f}  "
        f"difference {result.ours - result.castalia:+8.4f} of {result.margin:.4f}  "
        f"{'inside' if result.inside else 'OUTSIDE'}{', by chance' if result.by_chance else ''}"
    )
    shown = [
        f"{name} {comparison.castalia:.4g}/{comparison.ours:.4g}{_mark(file, name, comparison)}"
        for name, comparison in others
    ]
    print(f"      {', '.join(shown)}")
    return all(compared[name].inside for name in file.judged)


def _mark(file: ReferenceFile, name: str, comparison: Comparison) -> str:
    return "" if comparison.inside else " OUTSIDE" if name in file.judged else " (!)"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if any group is outside, 2 for a user's error."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.radio_fidelity",
        description="Compares the embedded radio with Castalia's measured behaviour, group by group.",
        epilog="example: python -m benchmarks.radio_fidelity castalia-reference",
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with any of the reference's CSV files")
    parser.add_argument("--backend", choices=BACKENDS, default="radio", help="what is held to the reference (radio)")
    parser.add_argument("--runs-per-row", type=int, default=0, help="for each row of the reference (10 or 4)")
    asked = parser.parse_args(arguments)
    try:
        return check_folder(asked.folder, Runs(BACKENDS[asked.backend], asked.runs_per_row))
    except (RoambusError, OSError) as error:
        print(f"radio_fidelity: {error}", file=sys.stderr)
        return 2


def files_in(folder: Path) -> list[ReferenceFile]:
    """Those that are there; raises UserError if none is."""
    files = [file for file in FILES if (folder / file.name).is_file()]
    if not files:
        raise UserError(f"{folder}: none of {', '.join(file.name for file in FILES)} is there")
    return files


def check_folder(folder: Path, runs: Runs) -> int:
    """Checks each file there is; returns 1 if any group is outside. Raises UserError if there is no file."""
    files = files_in(folder)
    print("second lines: Castalia/ours; (!) marks what is not judged, and would be outside")
    outside = sum(check_file(folder / file.name, file, runs) for file in files)
    print(f"\n{outside} groups outside" if outside else "\nall groups inside")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
