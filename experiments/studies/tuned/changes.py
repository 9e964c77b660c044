"""The ablations: what each change of a tuned profile does alone, and what its lack does, as figures and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.figures.plans import Line, Plan
from roambus.experiments.measurements.markdown import markdown_table
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.tables import format_mean
from roambus.experiments.studies.tuned.places import CONFIG
from roambus.spark.aggregation.points import HALF_WIDTH, MEAN
from roambus.spark.metrics import catalogue as c

ONLY, WITHOUT, TUNED = "only-", "without-", "tuned"
_SHOWN = (c.DELIVERY_RATE_ALL, c.MESSAGES_PER_NODE, c.DELAY_MEAN_S)


def change_plans(measured: Measurements, protocol: str) -> Iterator[Plan]:
    """For each metric two figures over sizes: each change alone, and each left out, beside both profiles."""
    for metric in _SHOWN:
        for prefix, words in ((ONLY, "each change alone"), (WITHOUT, "each change left out")):
            lines = [
                Line(agent.removeprefix(prefix), {AGENT: agent})
                for agent in measured.agents
                if agent.startswith(prefix) or agent in _profiles(measured)
            ]
            name = f"{protocol}-{prefix.removesuffix('-')}-{metric}".replace("_", "-")
            yield Plan(name, f"{protocol.upper()}, {words}: {measured.title(metric)}", metric, CONFIG, lines)


def change_table(measured: Measurements) -> str:
    """A table a size, with a row for both profiles, and then one for each change: alone, and left out."""
    return "\n".join(f"## {config}\n\n{_table(measured, config)}" for config in measured.values(CONFIG))


def _table(measured: Measurements, config: str) -> str:
    titles = [measured.title(metric) for metric in _SHOWN]
    head = ["change", *(f"{title}, alone" for title in titles), *(f"{title}, left out" for title in titles)]
    rows = [[name, *_cells(measured, config, name), *[""] * len(_SHOWN)] for name in _profiles(measured)]
    for change in _changes(measured):
        alone, left_out = (_cells(measured, config, prefix + change) for prefix in (ONLY, WITHOUT))
        rows.append([change, *alone, *left_out])
    return markdown_table(head, rows)


def _profiles(measured: Measurements) -> list[str]:
    return [agent for agent in measured.agents if not agent.startswith((ONLY, WITHOUT))]


def _changes(measured: Measurements) -> list[str]:
    names = (agent.removeprefix(ONLY).removeprefix(WITHOUT) for agent in measured.agents)
    return [name for name in dict.fromkeys(names) if name not in _profiles(measured)]


def _cells(measured: Measurements, config: str, agent: str) -> Iterator[str]:
    """A text for each metric, empty where nothing was measured."""
    for metric in _SHOWN:
        point = measured.point(metric, **{CONFIG: config, AGENT: agent})
        yield "".join(format_mean(*pair) for pair in zip(point[MEAN], point[HALF_WIDTH], strict=True))


def tables_of(protocol: str, measured: Measurements) -> Mapping[str, str]:
    """The table as a file beside the figures."""
    return {f"{protocol}-changes.md": change_table(measured)}
