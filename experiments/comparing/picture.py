"""The picture of a comparison: a panel for each combination of the other axes' values.

Panels share one scale, logarithmic only if means differ by a factor of ten.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import AGENT
from roambus.experiments.comparing.tables import spread
from roambus.experiments.figures.drawing import draw, draw_panels, write_caption
from roambus.experiments.figures.figure import Figure, Line, Plan, agent_lines, look_up
from roambus.experiments.figures.style import USUAL, Look
from roambus.experiments.measurements import Measurements
from roambus.spark.metrics.catalogue import Scale

MOST_PANELS = 12
"""The most panels that one picture has: more of them nobody can read."""
_DECADE = 10


def panels(measured: Measurements, metric: str, against: str) -> list[Figure]:
    """A figure for each combination of the other axes' values; raises UserError for too many."""
    others = [axis for axis in measured.axes if axis != against]
    measured = replace(measured, points=spread(measured.points, others))
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
    title = measured.title(metric)
    at = "".join(f", {axis} {value}" for axis, value in place.items())
    lines = [Line("", place)] if against == AGENT else agent_lines(measured, place)
    return Plan("", title + at, metric, against, lines)


def draw_picture(figures: Sequence[Figure], stem: Path, look: Look = USUAL) -> list[Path]:
    """Write STEM in the look's formats, and the caption as STEM.txt; raises OSError."""
    if len(figures) == 1:
        return draw(replace(figures[0], name=stem.name), stem.parent, look)
    files = [stem.with_name(f"{stem.name}.{kind}") for kind in look.formats]
    for file in files:
        draw_panels(figures, file, same_y=True, look=look)
    return [*files, write_caption(stem, figures)]
