"""Writes docs/results/reproduction.md and its pictures: the thesis' evaluation, and further measurements.

python -m docs.writers.reproduction results/thesis results/flooding results/unicast --out docs/results

Each folder holds the aggregated results of a sweep that comes with roambus. Results that name no sweep are of the one
that their folder is called like. Only those of `thesis` must be there; the document says what was not run, and names
the command that makes each folder again.

Numbers and verdicts come from the results. Explanations come from `reproduction_notes.txt`; each is printed only while
the verdicts that it explains stand, so that no text outlives its numbers. What the thesis lacks is a comparison with
more protocols than its two: energy, the cost of a delivery, and unicast. A picture has one or more figures; their
numbers stand in a CSV file beside it.

1. The text around the numbers is a template, `reproduction.md.j2`, which asks a `Gallery` for each picture where it is
   to stand. So the order of the document is in the template, and what is drawn is here.
2. A verdict is never written by hand. A note names the verdicts that it explains, and one that came out otherwise
   takes the note away with it; the claim then stands without an explanation, which is seen.
3. Sweeps are compared only if their settings are the same. An agent that several of them have counts once.
4. Costs are ratios of what all nodes of a run sent or used to what was delivered in it, so that they are made run by
   run and then averaged. A run that delivers nothing has no cost, and is left out.
5. Each folder has the command that makes it, with all that differs from the sweep of that name: whoever repeats a
   document that was made with other seeds or speeds gets that one, and not ours.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import jinja2
import pandas as pd

from docs.writers.factorial.design import UNCOUNTED
from docs.writers.factorial.quantities import READING
from docs.writers.keys import record, rerun_command
from roambus.bridge.runs.layout import AGENT, ORACLE, SEED, SWEEP, TITLES, find_traces
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.experiments.claims import Claim, Part, check, format_p
from roambus.experiments.figures.drawing import draw_panels
from roambus.experiments.figures.figure import Plan, agent_lines, beside, cut, look_up
from roambus.experiments.figures.style import USUAL
from roambus.experiments.inventory import SWEEP_SUFFIX, shipped_files
from roambus.experiments.measurements import (
    Measurements,
    format_mean,
    read_measurements,
    rows_at,
)
from roambus.experiments.studies.thesis.claims import (
    CONFIG,
    FURTHER_CLAIMS,
    SPEED,
    STAND_INS,
    THESIS_CLAIMS,
    THESIS_CONFIG,
    THESIS_SPEED,
)
from roambus.experiments.studies.thesis.study import thesis_plans
from roambus.experiments.sweeps.sweep import seed_ranges
from roambus.python_protocol.settings import unknown
from roambus.spark.aggregation.aggregate import HIGH, LOW, MEAN, METRIC, mean_points, replace_file
from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.metric import Metric, Scale

NODES, INTERVAL = "nodes", "interval"
MESSAGES_PER_DELIVERY, ENERGY_PER_DELIVERY_MJ = "messages_per_delivery", "energy_per_delivery_mj"
COSTS = (
    Metric(
        MESSAGES_PER_DELIVERY,
        "messages per delivery",
        "Packets that all nodes handed to the network stack, over the pairs delivered.",
        scale=Scale.LOGARITHMIC,
    ),
    Metric(
        ENERGY_PER_DELIVERY_MJ,
        "energy per delivery",
        "Energy that all nodes used in the whole run, over the pairs delivered.",
        unit="mJ",
        scale=Scale.LOGARITHMIC,
    ),
)
"""What a delivery costs, computed from the metrics of every run."""


def joined(sweeps: Sequence[Measurements]) -> Measurements:
    """Sweeps over the same axes as one, with the cost of a delivery; an agent counts in the first one that has it.

    Raises UserError if they have different settings: runs of different lengths, say, cannot be compared.
    """
    first = sweeps[0].sweep.get("set")
    for other in sweeps[1:]:
        if other.sweep.get("set") != first:
            raise UserError(f"sweeps to compare have settings {first} and {other.sweep.get('set')}: give them the same")
    # Sweeps to compare repeat agents: counted twice, the same seeds would make intervals too narrow.
    agents: dict[str, None] = {}
    new = []
    for part in sweeps:
        new.append(part.runs[~part.runs[AGENT].isin(agents)])
        agents |= dict.fromkeys(part.agents)
    runs = pd.concat(new, ignore_index=True)
    # What all nodes of a run send and use, over what is delivered; nothing where nothing is delivered.
    delivered = runs[c.DELIVERED].where(runs[c.DELIVERED] > 0)
    energy = runs[c.ENERGY_PER_NODE_MJ] * (runs[c.MESSAGES] / runs[c.MESSAGES_PER_NODE]) / delivered
    runs = runs.assign(**{MESSAGES_PER_DELIVERY: runs[c.MESSAGES] / delivered, ENERGY_PER_DELIVERY_MJ: energy})
    oracle = list(dict.fromkeys(agent for part in sweeps for agent in part.oracle_agents))
    titles = {label: title for part in sweeps for label, title in part.sweep.get(TITLES, {}).items()}
    sweep = {**sweeps[0].sweep, "agents": agents, ORACLE: oracle, TITLES: titles}
    known = (*sweeps[0].metrics, *COSTS)
    return Measurements(runs, mean_points(runs, known), sweep, metrics=known)


def plan_by_size(measured: Measurements, metric: str) -> Plan:
    """The metric over the thesis' sizes at the speed of its figures, with a line for each agent."""
    speed = cut(measured, SPEED, THESIS_SPEED)
    return _plan(metric, f" at {speed} m/s", CONFIG, measured, {SPEED: speed})


def plan_by_speed(measured: Measurements, metric: str) -> Plan:
    """The metric over the thesis' speeds at the size of figure 4.5b, with a line for each agent."""
    config = cut(measured, CONFIG, THESIS_CONFIG)
    return _plan(metric, f" at {config}", SPEED, measured, {CONFIG: config})


def _plan(metric: str, where: str, x: str, measured: Measurements, place: dict[str, str]) -> Plan:
    """A panel of one metric with a line for each agent; `where` says in its title at what place it is cut."""
    return Plan(metric, measured.heading(metric) + where, metric, x, agent_lines(measured, place))


THESIS, BARE, UNICAST = "thesis", "thesis-bare", "unicast"
COMPARED = (THESIS, "flooding")
"""Sweeps over the thesis' sizes and speeds, with agents of different names."""


class Gallery:
    """Draws pictures into a folder as the document asks for them, and returns each as Markdown.

    Names of pictures are the document's, and a picture that is drawn again replaces the file of its name.
    """

    def __init__(self, sweeps: Mapping[str, Measurements], folder: Path) -> None:
        self._sweeps = sweeps
        self._folder = folder
        self._compared = joined([sweeps[name] for name in COMPARED if name in sweeps])
        agents = dict.fromkeys(agent for measured in sweeps.values() for agent in measured.agents)
        self._style = replace(USUAL, agents=tuple(agents))

    def has(self, sweep: str) -> bool:
        """Whether a sweep was run."""
        return sweep in self._sweeps

    def thesis(self, picture: str, *names: str, sweep: str = THESIS) -> str:
        """Figures of the thesis by their names, such as figure-4.4a."""
        measured = self._sweeps[sweep]
        planned = {plan.name: plan for plan in thesis_plans(measured)}
        return self._show(picture, measured, [planned[name] for name in names if name in planned])

    def compared(self, picture: str, *metrics: str) -> str:
        """Every protocol over the sizes, with a panel for each metric."""
        measured = self._compared
        return self._show(picture, measured, [plan_by_size(measured, metric) for metric in metrics])

    def compared_rates(self, picture: str) -> str:
        """The delivery rate of all that was wanted, over sizes and over speeds."""
        measured, metric = self._compared, c.DELIVERY_RATE_ALL
        return self._show(picture, measured, [plan_by_size(measured, metric), plan_by_speed(measured, metric)])

    def unicast(self, picture: str, *metrics: str) -> str:
        """Unicast over the number of nodes: a row of panels for each metric, a column for each load.

        The load is the interval in seconds at which each node sends.
        """
        measured = joined([self._sweeps[UNICAST]])
        loads = [(metric, interval) for metric in metrics for interval in measured.values(INTERVAL)]
        plans = [_plan(m, f", a message every {each} s", NODES, measured, {INTERVAL: each}) for m, each in loads]
        return self._show(picture, measured, plans)

    def claims(self, groups: Mapping[str, Iterable[Claim]]) -> str:
        """Every part of every claim, by the agents that it is judged for."""
        rows = [
            [group, str(claim.number), claim.verdict.value, *_quantity(part)]
            for group, claims in groups.items()
            for claim in claims
            for part in claim.parts
        ]
        head = ("agents", "claim", "verdict", "quantity", "mean", "half_width_95", "claimed", "seeds", "p")
        return self._keep("claims", "Quantities", head, rows)

    def sent(self) -> str:
        """The packets of each type that all nodes sent, in the thesis' sweep at the speed of its figures."""
        measured = self._sweeps[THESIS]
        place = {SPEED: cut(measured, SPEED, THESIS_SPEED)}
        runs, points = (rows_at(rows, place) for rows in (measured.runs, measured.points))
        return self._keep("packets-by-type", "Packets by type", *sent_table(Measurements(runs, points, measured.sweep)))

    def _show(self, picture: str, measured: Measurements, plans: Sequence[Plan]) -> str:
        """The picture in Markdown, with a link to its numbers."""
        drawn = beside([figure for plan in plans if (figure := look_up(measured, plan)).series])
        if not drawn:
            return ""
        # The lines of one agent alone are told apart by all colours, and those of many by the agents' own.
        one_alone = all(len({series.place.get(AGENT) for series in figure.series}) == 1 for figure in drawn)
        draw_panels(drawn, self._folder / f"{picture}.png", USUAL if one_alone else self._style)
        rows = [
            (figure.title, series.label, f"{figure.x_title} {x}", format_mean(mean, low, high))
            for figure in drawn
            for series in figure.series
            for x, mean, low, high in zip(series.x, series.mean, series.low, series.high, strict=True)
        ]
        numbers = self._keep(picture, "Numbers", ("figure", "line", "x", "mean"), rows)
        alternative = "; ".join(figure.title for figure in drawn)
        return f"![{alternative}]({self._folder.name}/{picture}.png)\n\n{numbers}"

    def _keep(self, name: str, label: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """Write a table beside the pictures; return a link to it in Markdown."""
        with (self._folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *rows])
        return f"[{label}]({self._folder.name}/{name}.csv)"


def _quantity(part: Part) -> list[str]:
    claimed = f"{part.bound.side.value} {part.bound.number:g}"
    return [part.label, f"{part.mean:.4g}", f"{part.half_width:.3g}", claimed, str(part.seeds), format_p(part.p)]


def sent_table(measured: Measurements) -> tuple[list[str], list[list[str]]]:
    """The head and rows of a table: a row for each point, a column for each message type that was sent.

    A cell is empty where an agent never sends the type.
    """
    points = measured.points
    sent = points[points[METRIC].str.startswith(c.SENT_PREFIX) & (points[MEAN] > 0)][METRIC].unique()
    totals = points[points[METRIC].isin(sent)].groupby([AGENT, METRIC])[MEAN].transform("sum")
    known = points.drop(index=totals.index[totals == 0])
    places = [AGENT, *measured.axes]
    cells = known.assign(cell=list(map(format_mean, *(known[column] for column in (MEAN, LOW, HIGH)))))
    wide = cells.pivot(index=places, columns=METRIC, values="cell").reindex(columns=sent).fillna("")
    order = {axis: {value: rank for rank, value in enumerate(measured.values(axis))} for axis in places}
    ordered = wide.reset_index().sort_values(places, key=lambda column: column.map(order[str(column.name)]))
    ordered[AGENT] = ordered[AGENT].map(measured.agent_name)
    types = (name.removeprefix(c.SENT_PREFIX) for name in sent)
    return [*map(measured.axis_heading, places), *types], ordered.to_numpy().tolist()


DOCUMENT, PICTURES = "reproduction.md", "reproduction"
OPEN_CHOICES = Path(__file__).parents[1] / "results" / "factorial" / "best.csv"
LONG_READING = "t-long-start"
"""The quantities of readings, and the one among these that was run with 700 s."""
_TEMPLATE, NOTES = (Path(__file__).with_name(f"reproduction{end}") for end in (".md.j2", "_notes.txt"))


@dataclass(frozen=True, slots=True)
class Note:
    """A text written by hand, below the first of the claims whose verdicts it explains."""

    verdicts: Mapping[str, str]
    text: str

    def stands(self, verdicts: Mapping[str, str]) -> bool:
        """Whether all of these verdicts are still the ones that were explained."""
        return self.verdicts.items() <= verdicts.items()


def write_reproduction(results: Sequence[Path], out: Path) -> Path:
    """Writes OUT/reproduction.md and its pictures; returns it. Raises UserError, OSError."""
    sweeps = _read_sweeps(results)
    folder = out / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701  # Markdown needs no HTML escapes
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    again = f"python -m docs.writers.reproduction {' '.join(f'results/{name}' for name in sweeps)} --out docs/results"
    made = record(out / DOCUMENT, results, [again]) if all(map(find_traces, results)) else None
    text = template.render(_content(sweeps, Gallery(sweeps, folder)), again=again, made=made)
    replace_file(out / DOCUMENT, lambda path: path.write_text(text, encoding="utf-8"))
    return out / DOCUMENT


def _read_sweeps(results: Sequence[Path]) -> dict[str, Measurements]:
    """What was measured by the names of the sweeps; raises UserError for any other sweep, and without the thesis'."""
    known = shipped_files(SWEEP_SUFFIX)
    sweeps = {}
    for folder in results:
        measured = read_measurements(folder)
        name = measured.sweep.get(SWEEP, folder.name)
        if name not in known:
            raise UserError(f"{folder}: {unknown('sweep', name, known)}")
        sweeps[name] = measured
    if THESIS not in sweeps:
        raise UserError("results/thesis is missing: run `roambus reproduce thesis`, and give its folder, too")
    return sweeps


def _content(sweeps: Mapping[str, Measurements], gallery: Gallery) -> dict[str, Any]:
    """What the template is rendered from; claims are labelled as notes name them."""
    tests = (*THESIS_CLAIMS, *FURTHER_CLAIMS)
    every = check(tests, sweeps[THESIS], stand_ins=STAND_INS)
    first = len(THESIS_CLAIMS)
    bare = check(tests, sweeps[BARE]) if BARE in sweeps else []
    others = {name: [claim.others[name] for claim in every] for name in every[0].others}
    groups = {"defaults": every, **others, **({"without link layer": bare} if bare else {})}
    return {
        "sweeps": [
            (name, rerun_command(name, results.sweep, seeds), results.runs_there(), seed_ranges(seeds))
            for name, results in sweeps.items()
            for seeds in [sorted(set(results.runs[SEED].tolist()))]
        ],
        "claims": _labelled(every[:first]),
        "further": _labelled(every[first:]),
        "groups": {name: _labelled(found) for name, found in groups.items()},
        "quantities": gallery.claims(groups),
        "open_choices": open_choices(),
        "bare": BARE in sweeps,
        "notes": _standing_notes(_labelled(every)),
        "gallery": gallery,
    }


def open_choices() -> dict[str, str]:
    """The verdicts on claims, by label, under the reading of the page on open choices that has the thesis' time."""
    table = pd.read_csv(OPEN_CHOICES, dtype=str)
    found = table[(table[READING] == LONG_READING) & (table[UNCOUNTED] == "0")]
    return dict(zip(found["claim"], found["verdict"], strict=True))


def read_notes(text: str) -> list[Note]:
    """The notes below headings such as `## 9: does not hold; 14: does not hold`, which say what each explains."""
    sections = (section.partition("\n") for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return [
        Note(dict(tuple(entry.split(": ")) for entry in heading.split("; ")), body.strip())
        for heading, _, body in sections
    ]


def _labelled(claims: Sequence[Claim]) -> dict[str, Claim]:
    """The claims by the labels that notes have for them, which are their numbers."""
    return {str(claim.number): claim for claim in claims}


def _standing_notes(claims: Mapping[str, Claim]) -> dict[str, list[str]]:
    """The notes that explain the verdicts that there are, by the label of the claim below which they stand."""
    verdicts = {label: claim.verdict.value for label, claim in claims.items()}
    standing: dict[str, list[str]] = {label: [] for label in claims}
    for note in read_notes(NOTES.read_text(encoding="utf-8")):
        if note.stands(verdicts):
            standing[next(iter(note.verdicts))].append(note.text)
    return standing


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the document; returns the exit code."""
    parser = argparse.ArgumentParser("python -m docs.writers.reproduction", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("results", nargs="+", type=Path, help="aggregated results of sweeps that come with roambus")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="where the document goes [docs/results]")
    options = parser.parse_args(arguments)
    try:
        click.echo(write_reproduction(options.results, options.out))
    except RoambusError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except OSError as error:
        click.echo(f"error: {error.filename}: {error.strerror}", err=True)
        return UserError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
