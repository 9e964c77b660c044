"""Draws the pictures of docs/reproduction.md, each of one or more figures, and writes the numbers that they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from roambus.experiments.figures.drawing import draw_panels
from roambus.experiments.figures.figure import Figure
from roambus.experiments.figures.figure_table import figure_table
from roambus.experiments.figures.look_up import look_up
from roambus.experiments.figures.plans import Plan, cut
from roambus.experiments.measurements.markdown import markdown_table
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.tables import sent_table, table_of
from roambus.experiments.studies.thesis.more_protocols import (
    INTERVAL,
    joined,
    plan_by_size,
    plan_by_speed,
    plan_unicast,
)
from roambus.experiments.studies.thesis.size_and_speed import SPEED, THESIS_SPEED
from roambus.experiments.studies.thesis.study import thesis_plans
from roambus.spark.metrics import catalogue as c

THESIS, BARE, UNICAST = "thesis", "thesis-bare", "unicast"
COMPARED = (THESIS, "aodv-rfc", "flooding")
"""Sweeps over the thesis' sizes and speeds, with agents of different names."""
_EXPLAIN = "explain-"
_EXPLAINED = (c.DELIVERY_RATE_THESIS, c.DELIVERY_RATE_ALL, c.DELAY_MEAN_S, c.HOPS_MEAN, c.MESSAGES_PER_NODE)


class Gallery:
    """Draws pictures into a folder as the document asks for them."""

    def __init__(self, sweeps: Mapping[str, Measurements], folder: Path) -> None:
        self._sweeps = sweeps
        self._folder = folder
        self._compared = joined([sweeps[name] for name in COMPARED if name in sweeps])

    @property
    def explaining(self) -> list[str]:
        """The names of the sweeps that explain, as far as they were run."""
        return [name for name in self._sweeps if name.startswith(_EXPLAIN)]

    def has(self, sweep: str) -> bool:
        """Whether a sweep was run."""
        return sweep in self._sweeps

    def thesis(self, picture: str, *names: str, sweep: str = THESIS) -> str:
        """Figures of the thesis by their names, such as figure-4.4a."""
        measured = self._sweeps[sweep]
        planned = {plan.name: look_up(measured, plan) for plan in thesis_plans(measured)}
        return self._show(picture, [planned[name] for name in names if name in planned])

    def compared(self, picture: str, *metrics: str) -> str:
        """Every protocol over the sizes, with a panel for each metric."""
        return self._show_plans(picture, [plan_by_size(self._compared, metric) for metric in metrics], self._compared)

    def compared_rates(self, picture: str) -> str:
        """The delivery rate of all that was wanted, over sizes and over speeds."""
        measured, metric = self._compared, c.DELIVERY_RATE_ALL
        return self._show_plans(picture, [plan_by_size(measured, metric), plan_by_speed(measured, metric)], measured)

    def unicast(self, picture: str, *metrics: str) -> str:
        """Unicast over the number of nodes: a row of panels for each metric, a column for each load."""
        measured = joined([self._sweeps[UNICAST]])
        plans = [plan_unicast(measured, m, interval) for m in metrics for interval in measured.values(INTERVAL)]
        return self._show_plans(picture, plans, measured)

    def sent(self) -> str:
        """The packets of each type that all nodes sent, in the thesis' sweep at the speed of its figures."""
        measured = self._sweeps[THESIS]
        speed = cut(measured, SPEED, THESIS_SPEED)
        runs, points = (table[table[SPEED] == speed] for table in (measured.runs, measured.points))
        table = sent_table(Measurements(runs, points, measured.sweep))
        return markdown_table(table.headings, table.rows)

    def explained(self, sweep: str) -> str:
        """The means of a small sweep's points, of the metrics that explanations are about."""
        table = table_of(self._sweeps[sweep], _EXPLAINED)
        return markdown_table(table.headings, table.rows)

    def _show_plans(self, picture: str, plans: Sequence[Plan], measured: Measurements) -> str:
        return self._show(picture, [look_up(measured, plan) for plan in plans])

    def _show(self, picture: str, figures: Sequence[Figure]) -> str:
        """The picture in Markdown, and its numbers to unfold."""
        drawn = [figure for figure in figures if figure.series]
        file = self._folder / f"{picture}.png"
        draw_panels(drawn, file)
        numbers = "\n".join(f"{figure.title}\n\n{figure_table(figure)}" for figure in drawn)
        alternative = "; ".join(figure.title for figure in drawn)
        image = f"![{alternative}]({self._folder.name}/{file.name})"
        return f'{image}\n\n<details markdown="1"><summary>Numbers</summary>\n\n{numbers}\n</details>'
