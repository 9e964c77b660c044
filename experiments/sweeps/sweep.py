"""A sweep: template, agents, axes and seeds, and its expansion into single runs.

- Every agent runs at every axis value with every seed, in the same networks. Points can have more seeds, for a narrower
  interval (`more_seeds`).
- A plain axis sets one variable, a zipped axis several under one name, such as brokers and field side.
- An axis can set an agent parameter. An agent without it runs once, with `-` as the value.
- Names of agents, axes and values are parts of folder names. A sweep is a value, checked as a whole.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from roambus.bridge.agents import load_agent
from roambus.bridge.backends.registry import DEFAULT
from roambus.bridge.runs.layout import AGENT, LACKING, SEED, run_folder
from roambus.bridge.scenario.definition import MOST_SEED
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.limits import RUNS
from roambus.experiments.templates.template import Template, UnknownVariableError
from roambus.experiments.templates.variables import Scalar, parse_scalar
from roambus.python_protocol.settings import parameter_settings, plain, unknown

FOLDER_NAME = re.compile(r"[\w.+-]+")
"""The names of agents, axes and values: parts of folder names."""

EVERY_AGENT = "agent"
"""The owner of a parameter of all agents that have it."""

_NOT_IN_A_NAME = re.compile(r"[^\w.+-]+")
_MEASURE = re.compile(r"[-+][0-9.]+([eE][-+]?[0-9]+)?[^\W\d_]*")
_NUMBER, _RANGE = re.compile("[0-9]{1,99}"), re.compile(r"([0-9]{1,99})\.\.([0-9]{1,99})")
_MOST_BITS = 64
_LONGEST_OF_TEXT = 60
"""Of a value that is text, so much is in the name of its folder."""
LONGEST_NAME = 120
"""In bytes: file systems allow 255, and a folder has an axis and its value."""


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent under its name in results, with parameters as texts."""

    label: str
    agent: str
    parameters: tuple[tuple[str, str], ...] = ()
    title: str = ""
    """The name for readers; empty for the label."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Values by name, each setting some variables; with `owner`, a parameter of that agent or of all."""

    name: str
    values: Mapping[str, Mapping[str, Scalar]]
    zipped: bool = False
    owner: str = ""
    title: str = ""
    """Its title in figures; empty for the name, with the unit."""

    def concerns(self, choice: AgentChoice) -> bool:
        """Whether its values differ for this agent; always for variables. Raises UserError."""
        if self.owner in ("", choice.label):
            return True
        return self.owner == EVERY_AGENT and self.name in parameter_settings(load_agent(choice.agent).parameters_type)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A whole sweep; `source` is its file or command, for messages."""

    source: str
    template: Template
    agents: tuple[AgentChoice, ...]
    axes: tuple[Axis, ...] = ()
    seeds: tuple[int, ...] = (0,)
    fixed: Mapping[str, Scalar] = dataclasses.field(default_factory=dict)
    backend: str = DEFAULT
    """The default back-end of its runs."""
    name: str = ""
    """The file's stem; empty for a command."""
    study: str | None = None
    """The name of the study that it belongs to."""
    more_seeds: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Points with more seeds, by `point_name`: all seeds below these numbers."""
    precision: str = ""
    """The command's options for as many seeds as needed; else empty."""
    measure: tuple[str, ...] = ()
    """Files and packages of metrics beside every run's."""
    file: Path | None = None
    """The file that describes it, if any."""
    study_file: Path | None = None
    """The user's file of its study, if any."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep: `axes` are (axis, name of its value)."""

    agent: AgentChoice
    axes: tuple[tuple[str, str], ...]
    variables: Mapping[str, Scalar]
    seed: int

    @property
    def place(self) -> Path:
        """The run's folder below the results."""
        return run_folder(self.name, self.seed)

    @property
    def name(self) -> str:
        """The name of the point, whatever the seed."""
        return point_name(self.agent.label, self.axes)


def point_name(agent: str, axes: Iterable[tuple[str, str]]) -> str:
    """The folder of a point's runs below all runs, such as `agent=mft/config=C2`."""
    return "/".join(f"{axis}={value}" for axis, value in ((AGENT, agent), *axes))


def label_of(text: str) -> str:
    """A value as the name of a folder and the text of a table's cell: itself, or its letters and digits.

    In a spreadsheet -5dBm is a number with its unit, and any other text after a sign is a formula.
    """
    if FOLDER_NAME.fullmatch(text) and (text[0] not in "+-" or _MEASURE.fullmatch(text) or text == LACKING):
        return text
    words = re.sub("-{2,}", "-", _NOT_IN_A_NAME.sub("-", text))
    return words.strip("-+")[:_LONGEST_OF_TEXT] or "empty"


def plain_axis(name: str, values: Sequence[Scalar], where: str = "axes") -> Axis:
    """An axis of the variable of its name; files by name. Raises UserError for a repeated value."""
    texts = [plain(value) for value in values]
    if twice := next((text for text in texts if texts.count(text) > 1), None):
        raise UserError(f"{where}: {twice} is there twice")
    files = [Path(text).name for text in texts]
    labels = [label_of(text) for text in (files if len(set(files)) == len(set(texts)) else texts)]
    if len(set(labels)) < len(labels):
        labels = [f"{label}-{sha256(text.encode()).hexdigest()[:8]}" for label, text in zip(labels, texts, strict=True)]
    return Axis(name, {label: {name: value} for label, value in zip(labels, values, strict=True)})


def read_seeds(where: str, asked: object) -> tuple[int, ...]:
    """Seeds 0 to n - 1 of a number n, or those of ranges with both ends, 3..12 or 0..2,7..7.

    Raises UserError, beginning with `where`.
    """
    if isinstance(asked, int) and asked.bit_length() > _MOST_BITS:  # thousands of digits cannot even be shown
        raise UserError(f"{where}: a number of more than {_MOST_BITS} bits is too large")
    ranges = _ranges(str(asked).strip())
    if not ranges or any(first > last for first, last in ranges):
        kinds = "neither a number of seeds from 1 up nor a range from its first to its last seed, such as 3..12"
        raise UserError(f"{where}: {asked!r} is {kinds}")
    _check_runs(where, sum(last - first + 1 for first, last in ranges))
    if (greatest := max(last for _, last in ranges)) > MOST_SEED:
        raise UserError(f"{where}: {greatest} is above the greatest seed, {MOST_SEED}")
    return tuple(sorted({seed for first, last in ranges for seed in range(first, last + 1)}))


def _ranges(text: str) -> list[tuple[int, int]]:
    """The first and last seeds of a text; none if it names no seeds."""
    if _NUMBER.fullmatch(text):
        return [(0, int(text) - 1)]
    found = [_RANGE.fullmatch(part.strip()) for part in text.split(",")]
    return [(int(part[1]), int(part[2])) for part in found if part] if all(found) else []


def seed_ranges(seeds: Iterable[int]) -> str:
    """The ranges of some seeds, in order."""
    ranges: list[tuple[int, int]] = []
    for seed in sorted(seeds):
        follows = ranges and ranges[-1][1] == seed - 1
        ranges.append((ranges.pop()[0] if follows else seed, seed))
    return ",".join(f"{first}..{last}" for first, last in ranges)


def seeds_text(seeds: Sequence[int]) -> str:
    """Their text for `read_seeds`: a number for the first ones, else ranges."""
    return str(len(seeds)) if are_first(seeds) else seed_ranges(seeds)


def are_first(seeds: Sequence[int]) -> bool:
    """Whether they are 0, 1, 2 and so on, without a gap."""
    return list(seeds) == list(range(len(seeds)))


def first_seeds(sweep: Sweep, count: int | None) -> str | None:
    """The text of the sweep's first seeds, or of seeds 0 to count - 1 if it has fewer; None without a count."""
    return None if count is None else seeds_text(sweep.seeds[:count] if count <= len(sweep.seeds) else range(count))


def _check_runs(where: str, count: int) -> None:
    try:
        RUNS.check(count)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None


def validate(sweep: Sweep) -> None:
    """Raise UserError unless variables are the template's, each set once, and names can be folders."""
    _check_settings(sweep)
    if not sweep.agents:
        raise UserError(f"{sweep.source}: agents: name at least one, such as mft = {{}}")
    _check_parameters(sweep)
    if taken := {axis.name for axis in sweep.axes} & {AGENT, SEED}:
        raise UserError(f"{sweep.source}: axes.{min(taken)}: each run has its {min(taken)}: choose another name")
    axes = (name for axis in sweep.axes for name in (axis.name, *axis.values))
    for name in (*(choice.label for choice in sweep.agents), *axes):
        if FOLDER_NAME.fullmatch(name) is None:
            raise UserError(f"{sweep.source}: {name!r} names a folder: use letters, digits and . + - _ only")
        if len(name.encode()) > LONGEST_NAME:
            shown = f"{sweep.source}: {name[:40]!r}..."
            raise UserError(f"{shown} names a folder, and has more than {LONGEST_NAME} bytes")


def _check_parameters(sweep: Sweep) -> None:
    """Raise UserError for an axis whose parameter no agent has, or whose name another axis has."""
    names = [axis.name for axis in sweep.axes]
    for axis in (axis for axis in sweep.axes if axis.owner):
        where = f"{sweep.source}: axes.{axis.owner}.{axis.name}"
        if names.count(axis.name) > 1:
            raise UserError(f"{where}: there is another axis {axis.name}")
        owners = [choice for choice in sweep.agents if axis.owner in (EVERY_AGENT, choice.label)]
        if not owners:
            labels = dict.fromkeys(choice.label for choice in sweep.agents)
            raise UserError(f"{where}: {unknown('agent', axis.owner, labels)}")
        known = [parameter_settings(load_agent(choice.agent).parameters_type) for choice in owners]
        if not any(axis.name in settings for settings in known):
            raise UserError(
                f"{where}: {unknown('parameter', axis.name, {key: 0 for declared in known for key in declared})}"
            )


def _check_settings(sweep: Sweep) -> None:
    sources: dict[str, str] = {}
    axes = ((f"axes.{axis.name}", list(axis.values.values())) for axis in sweep.axes if not axis.owner)
    for where, choices in (("set", [sweep.fixed]), *axes):
        # An axis sets the same variables to other values at each of its points.
        try:
            sweep.template.check(choices, f"{sweep.source}: {where}")
        except UnknownVariableError as error:
            axis = where.removeprefix("axes.")
            hint = f"; a parameter of agents is an axis as agent.{axis}" if axis != where else ""
            raise UnknownVariableError(f"{error}{hint}") from None
        for name in choices[0]:
            if name in sources:
                both = f"{name!r} is set in {sources[name]} and in {where}"
                values = next((axis.values for axis in sweep.axes if f"axes.{axis.name}" == where), {})
                remedy = f"leave it out, and choose of {', '.join(values)} (or write a sweep file: roambus docs sweeps)"
                raise UserError(f"{sweep.source}: {both}: {remedy}")
            sources[name] = where


def read_axis(template: Template, name: str, texts: Sequence[str], where: str) -> Axis:
    """A variable's axis from its values' texts; raises UserError, beginning with `where`."""
    variable = template.variable(name, where)
    axis = plain_axis(name, [parse_scalar(text, variable) for text in texts], f"{where} {name}")
    template.check(axis.values.values(), where)
    return axis


def narrow(axis: Axis, labels: str, where: str) -> Axis:
    """A zipped axis with these comma-separated names only; raises UserError, beginning with `where`."""
    try:
        chosen = {label: choose(f"{where} {axis.name}", label, axis.values) for label in labels.split(",")}
    except UserError as error:
        other = next(label for label in labels.split(",") if label not in axis.values)
        *_, settings = axis.values.values()
        raise UserError(f"{error}; set {', '.join(settings)}, or in a sweep {new_value(axis, other)}") from None
    return dataclasses.replace(axis, values=chosen)


def new_value(axis: Axis, label: str) -> str:
    """The option that adds a value to a zipped axis, such as its last one."""
    *_, settings = axis.values.values()
    return f'--set {axis.name}.{label}="{" ".join(f"{name}={plain(value)}" for name, value in settings.items())}"'


def choose(where: str, label: str, known: Mapping[str, Any]) -> Any:
    """The value of that name; raises UserError, beginning with `where`, with near names."""
    if label not in known:
        raise UserError(f"{where}: {unknown('value', label, known)}")
    return known[label]


def count_points(sweep: Sweep) -> int:
    """How many runs the sweep has."""
    return _everywhere(sweep) + len(_further_points(sweep))


def _everywhere(sweep: Sweep) -> int:
    points = (math.prod(len(a.values) if a.concerns(choice) else 1 for a in sweep.axes) for choice in sweep.agents)
    return sum(points) * len(sweep.seeds)


def expand(sweep: Sweep) -> list[Point]:
    """Every run. Seeds change slowest, so an early stop leaves all points; agents change fastest."""
    _check_runs(sweep.source, _everywhere(sweep))
    return [*_points(sweep, sweep.seeds), *_further_points(sweep)]


def points_of(sweep: Sweep) -> list[str]:
    """The names of its points."""
    return [point.name for point in _points(sweep, (0,))]


def _further_points(sweep: Sweep) -> list[Point]:
    seeds = set(range(max(sweep.more_seeds.values(), default=0))).difference(sweep.seeds)
    return [point for point in _points(sweep, sorted(seeds)) if point.seed < sweep.more_seeds.get(point.name, 0)]


def _points(sweep: Sweep, seeds: Iterable[int]) -> Iterator[Point]:
    """The runs at every place with these seeds; an agent without an axis runs once."""
    combinations = itertools.product(*(axis.values for axis in sweep.axes))
    lacking = {choice: {axis.name for axis in sweep.axes if not axis.concerns(choice)} for choice in sweep.agents}
    firsts = {axis.name: next(iter(axis.values)) for axis in sweep.axes}
    for seed, labels, choice in itertools.product(seeds, combinations, sweep.agents):
        place = dict(zip(firsts, labels, strict=True))
        if all(place[axis] == firsts[axis] for axis in lacking[choice]):
            yield _point(sweep, choice, {**place, **dict.fromkeys(lacking[choice], LACKING)}, seed)


def _point(sweep: Sweep, choice: AgentChoice, place: Mapping[str, str], seed: int) -> Point:
    """The run at a place. Axis values override fixed ones, axis parameters the agent's own."""
    variables, parameters = dict(sweep.fixed), dict(choice.parameters)
    for axis in sweep.axes:
        values = axis.values.get(place[axis.name], {})
        if axis.owner:
            parameters.update((name, plain(value)) for name, value in values.items())
        else:
            variables.update(values)
    agent = dataclasses.replace(choice, parameters=tuple(sorted(parameters.items())))
    return Point(agent, tuple(place.items()), variables, seed)
