"""Compares a metric among agents: the file of its numbers, the text and the picture all come from the same tables.

`compare_agents` has the numbers, `draw_compared` the picture of the same metric, axis and values: both have one name.
What is compared is given by names, and a name that the results lack is an error that says which there are.

Agents are tested against each other seed by seed, for runs of one seed share movement and radio. Two agents are
compared at each place of the sweep by a two-sided paired t-test over the seeds that both have. The p-values of all
tests of a table are adjusted by Holm's method, because a table of many places shows some small p by chance alone.

1. A test needs three seeds that both agents have. With fewer, the row says so, and is none of the tests that are
   adjusted: what was not tested can show nothing by chance.
2. A table has every place of the sweep, also one where an agent has no run: a gap is seen, a missing row is not. An
   agent that lacks the parameter of an axis is compared with the others at each of its values, by its only runs.
3. The text leaves out axes with a single value, which it names once, and has the difference itself only of two agents.
   The file has all of it.
4. Panels have one scale, and an axis is logarithmic only if means differ by a factor of ten.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT, LACKING, MEASURE, writing
from roambus.experiments.claims import SIGNIFICANCE, Side, format_p, holm, make_part
from roambus.experiments.figures.drawing import draw, draw_panels, write_caption
from roambus.experiments.figures.figure import Figure, Line, Plan, agent_lines, look_up, slug
from roambus.experiments.figures.style import USUAL, Look
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, format_mean
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.aggregate import HALF_WIDTH, HIGH, LOW, MEAN, MEASURED, METRIC, N, replace_file
from roambus.spark.metrics.catalogue import DELAY_MEAN_S, DELIVERY_RATE_ALL, HOPS_MEAN, MAIN_METRICS, METRICS, Scale

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?")

Where = Mapping[str, Sequence[str]]
"""The values that axes are narrowed to, as texts."""


def titles(measured: Measurements) -> dict[str, str]:
    """The titles of what can be compared, by name; message types that a terminal could not show are left out."""
    return {metric.column: metric.axis_title for metric in measured.comparable() if metric.column.isprintable()}


def check_metric(measured: Measurements, metric: str) -> None:
    """Raises UserError unless these runs have that metric."""
    known = titles(measured)
    if metric not in known:
        own = [file for file in measured.sweep.get(MEASURE, ()) if not measured.metrics[len(METRICS) :]]
        hint = f"; the sweep's own metrics need {' '.join(f'--measure {file}' for file in own)}" if own else ""
        raise UserError(unknown("metric", metric, known, "roambus list metrics") + hint)
    if metric not in set(measured.points[METRIC]):
        raise UserError(f"none of these runs has {metric} ({known[metric]})")


def main_metrics(measured: Measurements) -> list[str]:
    """The main metrics that these runs have; raises UserError if there is none."""
    present = set(measured.points[METRIC])
    chosen = [metric for metric in MAIN_METRICS if metric in present]
    if not chosen:
        raise UserError(f"these runs have none of {', '.join(MAIN_METRICS)}: choose a metric")
    return chosen


def find_axis(measured: Measurements, axis: str | None) -> str:
    """The axis of that name, or the first with more than one value, or else the agents. Raises UserError."""
    axes = measured.axes
    if axis is None:
        return next((name for name in axes if len(measured.values(name)) > 1), AGENT)
    if axis not in (*axes, AGENT):
        raise UserError(unknown("axis", axis, dict.fromkeys([*axes, AGENT])))
    return axis


def narrow(measured: Measurements, agents: Sequence[str], where: Where) -> Measurements:
    """The runs of these agents, in this order, at these values; raises UserError if there is none.

    Without any name all agents are meant.
    """
    for agent in agents:
        _choose("agent", agent, measured.agents)
    places = {axis: _values(measured, axis, wanted) for axis, wanted in where.items()}
    places[AGENT] = list(dict.fromkeys(agents)) or measured.agents
    runs, points = (_at(table, places) for table in (measured.runs, measured.points))
    if runs.empty:
        wanted = ", ".join(f"{axis} {' or '.join(values)}" for axis, values in places.items())
        raise UserError(f"there is no run of {wanted}")
    return replace(measured, runs=runs, points=points, sweep={**measured.sweep, "agents": dict.fromkeys(places[AGENT])})


def _values(measured: Measurements, axis: str, wanted: Sequence[str]) -> list[str]:
    """The values of an axis as the results have them; raises UserError for an axis or a value that they lack."""
    if axis not in measured.axes:
        raise UserError(unknown("axis", axis, dict.fromkeys(measured.axes)))
    known = measured.values(axis)
    lacking = [LACKING] if LACKING in known else []  # an agent without the parameter is the same at each value
    return list(dict.fromkeys([*(_choose(f"value of {axis}", value, known) for value in wanted), *lacking]))


def _choose(kind: str, wanted: str, known: Sequence[str]) -> str:
    """The name itself, or a name that is the same number: 2.0 finds 2."""
    if wanted in known:
        return wanted
    number = as_number(wanted)
    chosen = next((name for name in known if number is not None and as_number(name) == number), None)
    if chosen is None:
        raise UserError(unknown(kind, wanted, dict.fromkeys(known)))
    return chosen


def as_number(text: str) -> float | None:
    """The number that a text is; None for any other text."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _at(table: pd.DataFrame, places: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows whose agents and axes have one of the values; what is not named may have any."""
    for column, values in places.items():
        table = table[table[column].isin(values)]
    return table


MINUS, DIFFERENCE, P, P_HOLM, NOTE = "minus", "difference", "p", "p_holm", "note"
FEWEST_SEEDS = 3
"""Seeds that two agents must have in common for a test: a t-test of two differences says almost nothing."""


def paired_tests(measured: Measurements, metric: str, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A row for each pair at each place of the sweep: agent, minus, the axes, then what the test says.

    `difference` is the mean over the seeds that both have of the first agent's metric minus the second's, `low` and
    `high` are the ends of its 95 % interval, `half_width` half of their distance, `n` the number of these seeds, `p` of
    the two-sided paired t-test, and `p_holm` the same adjusted by Holm for all tests of the table. With fewer than
    three seeds there is no p; then `note` says so.
    """
    columns = [*map(axis_column, measured.axes)]
    samples = cache(partial(_sample, measured, metric))
    rows = [
        {AGENT: a, MINUS: b, **dict(zip(columns, place, strict=True)), **_tested(samples(a, place), samples(b, place))}
        for a, b in pairs
        for place in itertools.product(*(_values_of_pair(measured, axis, (a, b)) for axis in measured.axes))
    ]
    table = pd.DataFrame(rows, columns=[AGENT, MINUS, *columns, *_MEASURED])
    tested = table[P].notna()
    table.loc[tested, P_HOLM] = holm(list(table.loc[tested, P]))
    return table


_MEASURED = (DIFFERENCE, LOW, HIGH, HALF_WIDTH, N, P, P_HOLM, NOTE)


def axis_column(axis: str) -> str:
    """The column of an axis in tables; an axis that is called like another column gets a prefix."""
    return f"axis_{axis}" if axis in (MINUS, *_MEASURED) else axis


def _values_of_pair(measured: Measurements, axis: str, pair: tuple[str, str]) -> list[str]:
    """The values of an axis at which two agents are compared: a single one if both lack the parameter."""
    both_lack = all(_lacks(measured, agent, axis) for agent in pair)
    return [LACKING] if both_lack else [value for value in measured.values(axis) if value != LACKING]


def _lacks(measured: Measurements, agent: str, axis: str) -> bool:
    runs = measured.runs
    return set(runs.loc[runs[AGENT] == agent, axis]) == {LACKING}


def _sample(measured: Measurements, metric: str, agent: str, place: tuple[str, ...]) -> pd.Series[float]:
    """One value for each seed; empty if there is none."""
    at = dict(zip(measured.axes, place, strict=True))
    at |= {axis: LACKING for axis in at if _lacks(measured, agent, axis)}
    try:
        return by_seed(measured, metric, **{AGENT: agent, **at})
    except NotMeasuredError:
        return pd.Series(dtype=float)


def _tested(first: pd.Series[float], second: pd.Series[float]) -> dict[str, object]:
    """What one test says, of the seeds that both have; `p_holm` comes when all tests of the table are there."""
    part = make_part("", first - second, Side.ABOVE)
    enough = part.seeds >= FEWEST_SEEDS
    return {
        DIFFERENCE: part.mean,
        LOW: part.mean - part.half_width,
        HIGH: part.mean + part.half_width,
        HALF_WIDTH: part.half_width,
        N: part.seeds,
        P: part.p if enough else math.nan,
        P_HOLM: math.nan,
        NOTE: "" if enough else f"fewer than {FEWEST_SEEDS} common seeds",
    }


def points_table(measured: Measurements, metric: str) -> pd.DataFrame:
    """A row for each agent at each place: agent, the axes, mean, ends and half width of the 95 % interval, seeds."""
    chosen = measured.points[measured.points[METRIC] == metric]
    renamed = chosen.rename(columns={axis: axis_column(axis) for axis in measured.axes})
    return in_order(renamed[[AGENT, *map(axis_column, measured.axes), *MEASURED]], measured)


def in_order(table: pd.DataFrame, measured: Measurements, last: str = "") -> pd.DataFrame:
    """The rows of a table by agents and axes, in the sweep's order; the axis `last` comes after the others."""
    ranks = {axis_column(axis): _ranks(measured, axis) for axis in measured.axes}
    ranks |= dict.fromkeys((AGENT, MINUS), _ranks(measured, AGENT))
    places = sorted((column for column in table if column in ranks), key=lambda column: column == axis_column(last))
    rows = table.sort_values(places, key=lambda column: column.map(ranks[str(column.name)]))
    return rows[[*places, *(column for column in table if column not in places)]].reset_index(drop=True)


def _ranks(measured: Measurements, axis: str) -> dict[str, int]:
    return {value: rank for rank, value in enumerate(measured.values(axis))}


def whole_table(points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """What the file holds: the points, then the tests, whose `mean` is that of the difference to the agent `minus`."""
    renamed = tests.rename(columns={DIFFERENCE: MEAN})
    return pd.concat([table for table in (points, renamed) if len(table)]).reindex(columns=renamed.columns)


MOST_PAIRS, MOST_ROWS = 10, 60
"""The most pairs of agents, and rows of their differences, that a terminal shows."""
ALIKE = 0.02
"""Agents whose delivery rates differ by no more are taken to have delivered the same share."""
_OF_DELIVERED = (DELAY_MEAN_S, HOPS_MEAN)
"""The metrics that only notifications have which were delivered."""

Row = dict[Hashable, Any]


def text_of_comparison(measured: Measurements, metric: str, points: pd.DataFrame, tests: pd.DataFrame) -> str:
    """The metric, the agents' means at each place, the difference if they are two, and how many differences count."""
    varying = [axis for axis in measured.axes if len(measured.values(axis)) > 1]
    fixed = "".join(f", {axis} {measured.values(axis)[0]}" for axis in measured.axes if axis not in varying)
    table = _table(measured, varying, points, tests).to_string(index=False)
    differences = _differences(varying, tests) if len(measured.agents) > 2 else ()
    warning = _different_shares(measured) if metric in _OF_DELIVERED else ()
    return "\n".join(
        [
            measured.title(metric) + fixed,
            table,
            *differences,
            *_significant(tests),
            *_family(tests),
            *_told(measured),
            *warning,
        ]
    )


def _told(measured: Measurements) -> Iterator[str]:
    """Which agents know what the others have to find out."""
    if measured.told and len(measured.agents) > 1:
        yield f"told the subscribers by the scenario: {', '.join(measured.told)}"


def _differences(axes: list[str], tests: pd.DataFrame) -> Iterator[str]:
    """A table with a row for each pair at each place: effect, interval, p, and which of the two is greater."""
    if len(tests) > MOST_ROWS:
        yield f"{len(tests)} differences are in the file; --agents and --where make them few enough to be shown here"
        return
    rows = []
    for row in tests.to_dict("records"):
        pair, text = _difference(row)
        first, second = (row[AGENT], row[MINUS]) if row[DIFFERENCE] > 0 else (row[MINUS], row[AGENT])
        finding = f"{first} > {second}" if row[P_HOLM] < SIGNIFICANCE else ""
        rows.append([*(row[axis_column(axis)] for axis in axes), pair, text, finding])
    yield pd.DataFrame(rows, columns=[*axes, "pair", "difference", "greater"]).to_string(index=False)


def _family(tests: pd.DataFrame) -> Iterator[str]:
    """Which tests p is adjusted for together."""
    tested = tests[tests[P].notna()]
    pairs = len(tested[[AGENT, MINUS]].drop_duplicates())
    if len(tested) > 1:
        told = f"{pairs} pairs of agents" if pairs > 1 else "one pair of agents"
        yield f"p is adjusted by Holm for the {len(tested)} tests of this metric ({told})"


def _different_shares(measured: Measurements) -> Iterator[str]:
    """A warning where agents have delivered different shares, for then they are not compared by the same deliveries."""
    rates = _spread(measured.points[measured.points[METRIC] == DELIVERY_RATE_ALL], measured.axes)
    places = [(place, rows.set_index(AGENT)[MEAN]) for place, rows in rates.groupby([*measured.axes] or [METRIC])]
    apart = [(found.max() - found.min(), place, found) for place, found in places]
    far = [one for one in apart if one[0] > ALIKE]
    if far:
        _, place, found = max(far, key=lambda one: one[0])
        where = ", ".join(f"{axis} {value}" for axis, value in zip(measured.axes, place, strict=False))
        shares = f"{found.idxmax()} {found.max():.2f} and {found.idxmin()} {found.min():.2f}"
        at = f"{len(far)} of {len(apart)} places" + (f", most at {where}" if where else "")
        yield f"warning: this covers only delivered notifications; agents delivered different shares at {at}: {shares}"


def _table(measured: Measurements, axes: list[str], points: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """A row for each place, in the order of the tests, of which there are some at every place."""
    texts: dict[tuple[str, ...], dict[str, str]] = {}
    columns = [*map(axis_column, axes)]
    shown = tests if len(measured.agents) == 2 else tests[~tests[columns].isin([LACKING]).any(axis=1)]
    for row in (*shown.to_dict("records"), *_spread(points, columns).to_dict("records")):
        place = tuple(row[axis_column(axis)] for axis in axes)
        column, text = (row[AGENT], format_mean(row[MEAN], row[LOW], row[HIGH])) if MEAN in row else _difference(row)
        texts.setdefault(place, {})[column] = text
    two = [f"{a} - {b}" for a, b in [measured.agents]] if len(measured.agents) == 2 else []
    rows = [[*place, *(cells.get(column, "") for column in (*measured.agents, *two))] for place, cells in texts.items()]
    return pd.DataFrame(rows, columns=[*axes, *measured.agents, *two])


def _spread(points: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The points, those of an agent that lacks the parameter of an axis at each of the axis' values."""
    for axis in axes:
        lacking, values = points[axis] == LACKING, points[axis].unique()
        if lacking.any() and not lacking.all():
            there = (points[lacking].assign(**{axis: value}) for value in values if value != LACKING)
            points = pd.concat([points[~lacking], *there])
    return points


def _difference(row: Row) -> tuple[str, str]:
    """The heading of a pair's column, and what stands there: the difference, with its p or why there is none."""
    text = f"{format_mean(row[DIFFERENCE], row[LOW], row[HIGH])}, " if row[N] else ""
    return f"{row[AGENT]} - {row[MINUS]}", text + (row[NOTE] or format_p(row[P_HOLM]))


def _significant(tests: pd.DataFrame) -> Iterator[str]:
    """A line for each pair if they are few, and for all together; then how many could not be tested."""
    tested = tests[tests[P_HOLM].notna()]
    pairs = [(f"{a} - {b}", rows) for (a, b), rows in tested.groupby([AGENT, MINUS], sort=False)]
    single = pairs if 1 < len(pairs) <= MOST_PAIRS else []
    for name, rows in [*single, *([("differences", tested)] if pairs else [])]:
        found = (rows[P_HOLM] < SIGNIFICANCE).sum()
        yield f"{name}: {found} of {len(rows)} significant at {SIGNIFICANCE * 100:g} %"
    for note, rows in tests[tests[NOTE] != ""].groupby(NOTE):
        yield f"differences: {len(rows)} of {len(tests)} not tested, {note}"


MOST_PANELS = 12
"""The most panels that one picture has: more of them nobody can read."""
_DECADE = 10


def panels(measured: Measurements, metric: str, against: str) -> list[Figure]:
    """A figure for each combination of the values of the other axes; one without any value is left out.

    Against the agents themselves there is one line, of all agents. Raises UserError if there are too many panels.
    """
    others = [axis for axis in measured.axes if axis != against]
    measured = replace(measured, points=_spread(measured.points, others))
    places = [dict(zip(others, place, strict=True)) for place in itertools.product(*map(measured.values, others))]
    figures = (look_up(measured, _plan(measured, metric, against, place)) for place in places)
    found = [figure for figure in figures if figure.series]
    if len(found) > MOST_PANELS:
        varying = [axis for axis in others if len(measured.values(axis)) > 1]
        raise UserError(f"{len(found)} panels are too many for a picture: narrow {' or '.join(varying)} (--where)")
    means = [mean for figure in found for series in figure.series for mean in series.mean]
    if measured.metric(metric).scale is Scale.LOGARITHMIC and not 0 < _DECADE * min(means) <= max(means):
        # Means that differ by less than a factor of ten are easier to read on a linear axis.
        return [replace(figure, scale=Scale.FROM_ZERO) for figure in found]
    return found


def _plan(measured: Measurements, metric: str, against: str, place: dict[str, str]) -> Plan:
    """The panel of a place, which its title names."""
    title = measured.title(metric)
    at = "".join(f", {axis} {value}" for axis, value in place.items())
    lines = [Line("", place)] if against == AGENT else agent_lines(measured, place)
    return Plan("", title + at, metric, against, lines)


def draw_picture(figures: Sequence[Figure], stem: Path, look: Look = USUAL) -> list[Path]:
    """Writes STEM in each format of the look, with all the figures, and its caption as STEM.txt; raises OSError."""
    if len(figures) == 1:
        return draw(replace(figures[0], name=stem.name), stem.parent, look)
    files = [stem.with_name(f"{stem.name}.{kind}") for kind in look.formats]
    for file in files:
        draw_panels(figures, file, same_y=True, look=look)
    return [*files, write_caption(stem, figures)]


_LONGEST_STEM = 150
"""In characters: file systems take names of 255 bytes, and the suffix needs some."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compare.

    What is empty stands for all agents, the main metrics, the first axis with more than one value, and all values.
    """

    agents: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    against: str | None = None
    where: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a metric: the text for the terminal, the files, and the tables of points and of differences."""

    metric: str
    text: str
    files: tuple[Path, ...]
    points: pd.DataFrame
    tests: pd.DataFrame

    def document(self) -> dict[str, Any]:
        """The same for programs: the rows of both tables, and the files."""
        tables = {"points": self.points.to_dict("records"), "differences": self.tests.to_dict("records")}
        return {"metric": self.metric, **tables, "files": list(self.files)}


def compare_agents(measured: Measurements, asked: Asked, folder: Path) -> Iterator[Compared]:
    """Writes `folder`/STEM.csv for each metric; raises UserError."""
    chosen = _chosen(measured, asked)
    with writing(folder):
        for metric, stem in _stems(chosen, asked).items():
            yield _compare(chosen, metric, folder / f"{stem}.csv")


def draw_compared(measured: Measurements, asked: Asked, folder: Path, look: Look = USUAL) -> Iterator[Path]:
    """Writes `folder`/STEM in the formats of the look, and its caption, for each metric; raises UserError."""
    chosen = _chosen(measured, asked)
    against, own = find_axis(chosen, asked.against), replace(look, agents=tuple(measured.agents))
    with writing(folder):
        for metric, stem in _stems(chosen, asked).items():
            figures = panels(chosen, metric, against)
            folder.mkdir(parents=True, exist_ok=True)
            yield from draw_picture(figures, folder / stem, own)


def _chosen(measured: Measurements, asked: Asked) -> Measurements:
    """What is left of the results; raises UserError for a name that they lack, before any file is written."""
    chosen = narrow(measured, asked.agents, asked.where or {})
    for metric in asked.metrics:
        check_metric(chosen, metric)
    return chosen


def _stems(chosen: Measurements, asked: Asked) -> dict[str, str]:
    """The metrics, each with the name of its files."""
    metrics = list(dict.fromkeys(asked.metrics)) or main_metrics(chosen)
    values = (f"{axis}-{'-'.join(values)}" for axis, values in (asked.where or {}).items())
    ends = [f"against-{find_axis(chosen, asked.against)}", *values]
    return dict(zip(metrics, file_stems(metrics, ends), strict=True))


def file_stems(metrics: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Names of files, all of them different.

    Names from a results folder may differ in special characters only, which files do not have.
    """
    stems: list[str] = []
    for metric in metrics:
        stem = slug("-".join([metric, *ends]))[:_LONGEST_STEM]
        stems.append(f"{stem}-{len(stems)}" if stem in stems else stem)
    return stems


def _compare(measured: Measurements, metric: str, table: Path) -> Compared:
    """Tests each pair of agents, in the order in which they were named, and writes the table."""
    pairs = list(itertools.combinations(measured.agents, 2))
    points, tests = points_table(measured, metric), paired_tests(measured, metric, pairs)
    table.parent.mkdir(parents=True, exist_ok=True)
    replace_file(table, partial(whole_table(points, tests).to_csv, index=False, lineterminator="\n"))
    return Compared(metric, text_of_comparison(measured, metric, points, tests), (table,), points, tests)
