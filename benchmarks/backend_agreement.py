"""The metrics of the same runs over two back-ends, such as the embedded radio and Castalia, side by side.

roambus sweep backends --set config=C8,C16 --out results/radio
roambus sweep backends --set config=C8,C16 --backend castalia --out results/castalia
roambus aggregate results/radio
roambus aggregate results/castalia
python -m benchmarks.backend_agreement results/radio results/castalia

`--names` names other pairs: `--names ideal,live` for ideal links and live runs of the same seeds.

The radio and Castalia draw places, ways and shadowing from generators of their own, so that only distributions can
agree: for each metric the means over the seeds with their 95 % intervals, and the 95 % interval of the difference
(Welch). A row is marked where they differ at the 5 % level, corrected for the number of rows (Holm). Ends with 1 if any
row is.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray
from scipy import stats

from roambus.bridge.runs.layout import AGENT
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.measurements import Measurements, read_measurements

METRICS = (
    "delivery_rate_thesis",
    "delivery_rate_all",
    "end_to_end_delay_mean_s",
    "hops_mean",
    "messages_per_node",
    "energy_per_node_mj",
)
LEVEL = 0.05


class Row(NamedTuple):
    """One metric of one point, its value in each run on the embedded radio and on Castalia."""

    place: str
    metric: str
    radio: NDArray[np.float64]
    castalia: NDArray[np.float64]

    @property
    def p_value(self) -> float:
        """Welch's test of equal means; 1 where neither varies and both are equal."""
        if np.ptp(np.concatenate([self.radio, self.castalia])) == 0:
            return 1.0
        return float(_welch(self).pvalue)


def rows(radio: Measurements, castalia: Measurements) -> Iterator[Row]:
    """A row for each metric of each point that both measured; raises UserError if they share none."""
    columns = [AGENT, *radio.axes]
    if columns != [AGENT, *castalia.axes]:
        raise UserError(f"the two sweeps have different axes: {radio.axes} and {castalia.axes}")
    axes = [place for place, column in enumerate(columns) if column == AGENT or radio.runs[column].nunique() > 1]
    there = dict(iter(castalia.runs.groupby(columns)))
    for place, runs in radio.runs.groupby(columns):
        for metric in METRICS:
            if place in there:
                pair = [table[metric].dropna().to_numpy(float) for table in (runs, there[place])]
                if min(map(len, pair)) > 1:
                    yield Row(" ".join(str(place[axis]) for axis in axes), metric, *pair)


def differing(found: Sequence[Row]) -> set[int]:
    """Places of the rows whose means differ, by Holm's correction."""
    marked = set()
    for rank, place in enumerate(sorted(range(len(found)), key=lambda place: found[place].p_value)):
        if found[place].p_value > LEVEL / (len(found) - rank):
            break
        marked.add(place)
    return marked


def describe(row: Row, *, differs: bool) -> str:
    """One line of the table."""
    cells = [f"{_mean(values):>24}" for values in (row.radio, row.castalia)]
    return f"{row.place:14} {row.metric:26}{''.join(cells)} {_difference(row):>26}  {'differs' if differs else ''}"


def _welch(row: Row) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one side can have the same value in every run
        return stats.ttest_ind(row.radio, row.castalia, equal_var=False)


def _mean(values: NDArray[np.float64]) -> str:
    half_width = stats.t.ppf(1 - LEVEL / 2, len(values) - 1) * stats.sem(values)
    return f"{values.mean():.4g} +- {half_width:.2g} ({len(values)})"


def _difference(row: Row) -> str:
    if row.p_value == 1.0:
        return "0"
    interval = _welch(row).confidence_interval()
    return f"{interval.low:.3g} to {interval.high:.3g}"


def draw(found: Sequence[Row], path: Path, first: str, second: str) -> None:
    """The differences in percent of the second's mean, each with its interval; the format is the suffix's."""
    shown = [row for row in found if row.castalia.mean() != 0 and row.p_value != 1.0]
    figure = Figure(figsize=(7, 0.22 * len(shown) + 1), layout="constrained")
    axes = figure.subplots()
    places = range(len(shown), 0, -1)
    for place, row in zip(places, shown, strict=True):
        interval = _welch(row).confidence_interval()
        low, high = (100 * bound / row.castalia.mean() for bound in (interval.low, interval.high))
        axes.plot((low, high), (place, place), color="#0072B2", linewidth=2)
        axes.plot((low + high) / 2, place, "o", color="#0072B2", markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(places, [f"{row.place} {row.metric}" for row in shown], fontsize=8)
    axes.set_ylim(0.3, len(shown) + 0.7)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlabel(f"{first} minus {second}, % of {second}'s mean\n95 % intervals; logarithmic beyond 1 %")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if any row differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("radio", type=Path, help="aggregated results of the embedded radio, or of what is named first")
    parser.add_argument("castalia", type=Path, help="aggregated results of Castalia, or of what is named second")
    parser.add_argument("--names", default="embedded radio,Castalia", metavar="A,B", help="what the two are")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the differences there: .png, .svg")
    chosen = parser.parse_args(arguments)
    try:
        found = list(rows(read_measurements(chosen.radio), read_measurements(chosen.castalia)))
    except RoambusError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    marked = differing(found)
    first, second = chosen.names.split(",")
    heads = [f"{name} (runs)" for name in (first, second)]
    print(f"{'agent, point':14} {'metric':26}{heads[0]:>24}{heads[1]:>24} {'difference, 95 %':>26}")
    for place, row in enumerate(found):
        print(describe(row, differs=place in marked))
    if chosen.plot:
        draw(found, chosen.plot, first, second)
    print(f"{len(marked)} of {len(found)} rows differ")
    return int(bool(marked) or not found)


if __name__ == "__main__":
    sys.exit(main())
