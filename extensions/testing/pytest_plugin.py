"""A pytest plugin: tests of an agent's delivery and cost, with as many seeds as a decision takes.

    def test_it_delivers(roambus_point):
        point = roambus_point("field", "my-gossip", settings={"nodes": 8})
        point.at_least("delivery_rate_all", 0.9)
        point.no_worse_than(roambus_point("field", "flooding", settings={"nodes": 8}), "messages_per_node", by="10%")

A test makes runs with the seeds 0, 1, 2, ... and looks at 5, 8, 12, 18, ... of them until it passes or fails;
undecided at the last seed, it fails and says so. At a confidence of 95 % it passes or fails wrongly in at most about 5
of 100 cases (`roambus.experiments.precision`). Its looks depend on the values alone, so its outcome is repeatable.

pytest's cache keeps runs by all that they depend on, agent code included. pytest imports this module at every start, so
roambus is imported only when a fixture is used.
"""

from __future__ import annotations

import itertools
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

if TYPE_CHECKING:
    from os import PathLike

    from roambus.experiments.claims import Bound, Side
    from roambus.notebook import AnyAgent, Settings
    from roambus.spark.aggregation.intervals import Interval
    from roambus.spark.metrics.metric import Metric

FIRST, MOST = 5, 60
"""The seeds of the first and last look; 59 perfect seeds show a rate of at least 0.95."""
OPTION = "--roambus-results"

P = ParamSpec("P")
T = TypeVar("T")
PointMaker = Callable[..., "Point"]
"""Makes a `Point`, as fixture `roambus_point`: template, agent, and other fields by name."""
SweepMaker = Callable[..., "list[Point]"]
"""Makes points, as the fixture `roambus_sweep` does."""


def _briefly(method: Callable[P, T]) -> Callable[P, T]:
    """Show a mistake at the line of the test, without the frames of roambus."""

    @wraps(method)
    def shown(*args: P.args, **options: P.kwargs) -> T:
        __tracebackhide__ = True
        from roambus.bridge.system.errors import RoambusError

        try:
            return method(*args, **options)
        except RoambusError as error:
            raise error.with_traceback(None) from None

    return shown


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the results' folder."""
    parser.getgroup("roambus").addoption(
        OPTION, metavar="FOLDER", help="Keeps the runs of roambus_point and roambus_sweep there, not in pytest's cache."
    )


@pytest.fixture(scope="session")
def roambus_results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the runs' folder: pytest's cache, or --roambus-results."""
    given = request.config.getoption(OPTION)
    if given:
        return Path(given).absolute()
    cache = getattr(request.config, "cache", None)  # there is none with -p no:cacheprovider
    return Path(cache.mkdir("roambus")) if cache else tmp_path_factory.mktemp("roambus")


@pytest.fixture
def roambus_point(roambus_results: Path) -> PointMaker:
    """Make a point of template, agent and settings, such as `settings={"nodes": 8}`."""

    @_briefly
    def make(template: str | PathLike[str], agent: AnyAgent, **options: Any) -> Point:
        return Point(os.fspath(template), agent, roambus_results, **options)

    return make


@pytest.fixture
def roambus_sweep(roambus_point: PointMaker) -> SweepMaker:
    """Make a point for each agent and combination of settings, which can be lists."""

    @_briefly
    def make(
        template: str | PathLike[str], agents: Sequence[AnyAgent], *, settings: Settings | None = None, **options: Any
    ) -> list[Point]:
        from roambus.dataframes import listed

        values = [listed(setting) for setting in (settings or {}).values()]
        places = [dict(zip(settings or {}, place, strict=True)) for place in itertools.product(*values)]
        return [roambus_point(template, agent, settings=at, **options) for at in places for agent in agents]

    return make


@dataclass(frozen=True, slots=True)
class Known:
    """A test's mean, 95 % interval, and values by seed."""

    mean: float
    interval: Interval
    values: Mapping[int, float]


@dataclass(frozen=True)
class Point:
    """A template with settings, and an agent; assertions make the runs they need.

    `settings` are those of `roambus.run`, `most` the greatest number of seeds, `measure` files of own metrics.
    """

    template: str
    agent: AnyAgent
    results: Path
    settings: Settings = field(default_factory=dict)
    backend: str | None = None
    level: str = "app"
    measure: Sequence[str] = ()
    most: int = MOST

    def __post_init__(self) -> None:
        """Raise UserError for a number of seeds that is none."""
        __tracebackhide__ = True
        from roambus.bridge.system.errors import UserError

        if type(self.most) is not int or self.most < 1:
            raise UserError(f"most={self.most!r}: give a whole number from 1 on")

    def __str__(self) -> str:
        agent = self.agent.__name__ if isinstance(self.agent, type) else os.fspath(self.agent)
        settings = "".join(f", {name} {value}" for name, value in self.settings.items())
        return f"{agent} on {self.template}{settings}"

    @_briefly
    def at_least(self, metric: str | Metric, bound: float, *, confidence: float = 0.95) -> Known:
        """Assert that a metric's mean over all seeds is at least the bound."""
        __tracebackhide__ = True
        from roambus.experiments.claims import Side

        return self._bounded(metric, "at least", Side.ABOVE, bound, confidence)

    @_briefly
    def at_most(self, metric: str | Metric, bound: float, *, confidence: float = 0.95) -> Known:
        """Assert that a metric's mean over all seeds is at most the bound."""
        __tracebackhide__ = True
        from roambus.experiments.claims import Side

        return self._bounded(metric, "at most", Side.BELOW, bound, confidence)

    def _bounded(self, metric: str | Metric, words: str, side: Side, bound: float, confidence: float) -> Known:
        __tracebackhide__ = True
        from roambus.experiments.claims import Bound

        measured = self._metric(metric)
        claimed = Bound(side, bound, measured.support)
        what = f"{measured.column} of {self} is {words} {bound:g}"
        return self._decided(what, lambda seeds: self.values(measured, seeds), claimed, confidence)

    @_briefly
    def no_worse_than(
        self,
        base: Point,
        metric: str | Metric,
        *,
        by: float | str,
        confidence: float = 0.95,
        less_is_better: bool | None = None,
    ) -> Known:
        """Assert that a metric's mean is no worse than another point's, but for `by`.

        `by` is in the metric's unit, or with "5%" a share of the other's mean. Equal seeds are paired, as they share
        movement and radio. Higher is better for a share, lower for any other metric; `less_is_better` overrides this.
        """
        __tracebackhide__ = True
        from roambus.experiments.claims import Bound, Side
        from roambus.experiments.precision import read_width
        from roambus.spark.metrics.metric import Support

        measured, allowed = self._metric(metric), read_width(str(by), "by=")
        is_cost = measured.support is not Support.SHARE if less_is_better is None else less_is_better

        sign = 1 if is_cost else -1

        def worse(seeds: int) -> dict[int, float]:
            own, other = self.values(measured, seeds), base.values(measured, seeds)
            return {seed: sign * (own[seed] - other[seed]) - allowed.at(other[seed]) for seed in own if seed in other}

        what = f"{measured.column} of {self} may be at most {allowed} worse than that of {base}"
        return self._decided(what, worse, Bound(Side.BELOW), confidence, about="beyond what is allowed: ")

    def values(self, metric: str | Metric, seeds: int) -> dict[int, float]:
        """Make runs; return the metric of each seed that has one. Raise RoambusError."""
        from roambus.bridge.runs.layout import TRACE_FILE
        from roambus.spark.metrics.run import Run

        measured = self._metric(metric)
        found = {seed: measured(Run(folder / TRACE_FILE)) for seed, folder in enumerate(self._runs(seeds))}
        return {seed: value for seed, value in found.items() if not math.isnan(value)}

    def _metric(self, metric: str | Metric) -> Metric:
        from roambus.bridge.system.errors import UserError
        from roambus.python_protocol.settings import unknown
        from roambus.spark.metrics.catalogue import METRICS
        from roambus.spark.metrics.extra import all_own_metrics
        from roambus.spark.metrics.metric import Metric

        if isinstance(metric, Metric):
            return metric
        known = {entry.column: entry for entry in (*METRICS, *all_own_metrics(self.measure).metrics)}
        if metric not in known:
            raise UserError(unknown("metric", metric, known))
        return known[metric]

    def _runs(self, seeds: int) -> list[Path]:
        from roambus.bridge.system.process import cores
        from roambus.console.sweep_runs import RunOptions
        from roambus.notebook import make_runs

        # Each worker of pytest-xdist has a core of its own.
        workers = 1 if "PYTEST_XDIST_WORKER" in os.environ else cores()
        choice = self.template, self.agent, dict(sorted(self.settings.items()))
        run_options = RunOptions(self.level, retry_failed=True, replace=True)  # a test judges the code of now
        return make_runs(
            *choice,
            seeds=range(seeds),
            out=self._folder(),
            backend=self.backend,
            workers=workers,
            run_options=run_options,
        )

    def _folder(self) -> Path:
        """Return the folder for a template and its setting names; all agents share it."""
        path = str(Path(self.template).absolute()) if Path(self.template).is_file() else self.template
        digest = sha256(f"{path} {sorted(self.settings)} {self.backend} {self.level}".encode()).hexdigest()[:8]
        return self.results / f"{Path(self.template.removesuffix('.ini.j2')).stem}-{digest}"

    def _decided(  # what is asserted, in words and in numbers
        self,
        what: str,
        values_of: Callable[[int], Mapping[int, float]],
        bound: Bound,
        confidence: float,
        about: str = "",
    ) -> Known:
        __tracebackhide__ = True
        if not 0 < confidence < 1:
            raise ValueError(f"confidence: {confidence:g} is not a share between 0 and 1, such as 0.95")
        from roambus.experiments.precision import Outcome, judged, looks, seeds_to_show
        from roambus.spark.aggregation.intervals import interval

        schedule = looks(min(FIRST, self.most), self.most)
        for look, seeds in enumerate(schedule):
            values = values_of(seeds)
            outcome = judged([*values.values()], bound, 1 - confidence, look, len(schedule))
            if outcome is not Outcome.UNDECIDED:
                break
        numbers = [*values.values()]
        known = Known(fmean(numbers) if numbers else math.nan, interval(numbers, bound.within), values)
        if outcome is Outcome.PASSES:
            return known
        is_open = outcome is Outcome.UNDECIDED
        verdict = f"undecided: {seeds} seeds, the most that there may be, do not tell" if is_open else "does not hold"
        enough = seeds_to_show(known.mean, bound, 1 - confidence) if is_open and numbers else 0
        if seeds < enough < math.inf:
            verdict += f"; {enough} would, if their mean were the same (most={enough})"
        raise AssertionError("\n".join([f"{what}: {verdict}", *self._evidence(known, seeds, bound, about)]))

    def _evidence(self, known: Known, seeds: int, bound: Bound, about: str) -> Iterator[str]:
        from roambus.experiments.claims import Side

        if not known.values:
            yield f"  none of {seeds} runs has a value"
            return
        low, high = known.interval
        found = f"{about or 'mean '}{known.mean:.4g}, 95 % interval {low:.4g} to {high:.4g}"
        yield f"  {found}, of {len(known.values)} seeds:"
        yield "  " + ", ".join(f"{value:.4g} (seed {seed})" for seed, value in known.values.items())
        pick = min if bound.side is Side.ABOVE else max
        worst = pick(known.values, key=lambda seed: known.values[seed])
        folder = self._runs(seeds)[worst]
        shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
        yield f"  the worst run, seed {worst}, as a film:"
        yield f"    roambus replay {shlex.quote(str(shown))} --again --trust"
