"""Every setting of a sweep affects its runs, or the sweep is refused before its first run.

Two points that a back-end reads alike are an error that names the axis, whatever their inis look like: 30 and 30.0, a
seed in a comment. So are a variable that changes no ini, and a parameter that does not reach the agents. Each run's
seed is read, so points are compared at their first seed only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import BackendFactory, simulator_keys_of, unused_keys
from roambus.bridge.formats.ini import further_values, seed_of
from roambus.bridge.formats.ini.syntax import parse_ini
from roambus.bridge.host.agents import parameters_of
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.scenario.definition import Scenario, Workload
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.sweep import Point, Sweep
from roambus.experiments.templates.template import Template
from roambus.python_protocol.settings import plain
from roambus.python_protocol.simtime import SimTime

SEED_LINE = "write seed-set = {{ seed }}, and no seed-set above it"
AGENT_LINE = "write SN.node[*].Application.agent = {{ agent | quoted }}"
PARAMETERS_LINE = "write SN.node[*].Application.agentParameters = {{ agent_parameters | quoted }}"

Render = Callable[[Point], str]


def check_seed(sweep: Sweep, point: Point, plan: RunPlan) -> None:
    """Raise UserError unless the seed that is read from the ini is the run's."""
    if seed_of(plan.ini, sweep.template.rendered) != point.seed:
        first = replace(point, seed=sweep.seeds[0])
        raise UserError(f"{sweep.template}: {_difference(sweep, first, point)}")


def check_different(sweep: Sweep, read: Iterable[tuple[Point, bytes]]) -> None:
    """Raise UserError for two points of one seed with the same `meaning`, naming the axis."""
    known: dict[bytes, Point] = {}
    for point, meant in read:
        first = known.setdefault(meant, point)
        if first is not point:
            raise UserError(f"{sweep.template}: {_difference(sweep, first, point)}")


def meaning(plan: RunPlan, scenario: Scenario, backend: BackendFactory | None) -> bytes:
    """A digest of all that the back-end and the agents read of a run; raises UserError.

    The scenario with what its files say, the agents' parameters, and the keys that only a simulator knows.
    """
    agent = load_agent(plan.agent)
    own = replace(_to_its_end(scenario), agent="", agent_parameters={}, other_parameters={}, measured=None)
    further = further_values(plan.ini) if simulator_keys_of(backend) else {}
    links = scenario.measured.excerpt(len(scenario.nodes), scenario.time_limit) if scenario.measured else None
    # All bytes, for an array's own text leaves out its middle.
    recorded = (links.rows.tobytes(), links.start, links.pace) if links else None
    return sha256(f"{own!r} {agent!r} {parameters_of(scenario, agent)!r} {further!r} {recorded!r}".encode()).digest()


def _to_its_end(scenario: Scenario) -> Scenario:
    """The scenario without what it plans after its end: two recoveries that no run reaches are the same."""
    end, workload, ideal = scenario.time_limit, scenario.workload, scenario.ideal
    publications = (replace(own, until=min(own.until, end)) for own in workload.publications)
    return replace(
        scenario,
        workload=Workload(workload.subscriptions, tuple(publications), _before(end, workload.commands)),
        tree=_before(end, scenario.tree),
        faults=_before(end, scenario.faults),
        ideal=replace(ideal, changes=_before(end, ideal.changes), partitions=_before(end, ideal.partitions)),
    )


class _Planned(Protocol):
    @property
    def at(self) -> SimTime: ...


P = TypeVar("P", bound=_Planned)


def _before(end: SimTime, plan: Iterable[P]) -> tuple[P, ...]:
    return tuple(item for item in plan if item.at < end)


def _difference(sweep: Sweep, first: Point, second: Point) -> str:
    if first.seed != second.seed:
        return f"seeds {first.seed} and {second.seed} make the same run: {SEED_LINE}"
    for (name, values), (_, other) in zip(first.axes, second.axes, strict=True):
        if values != other:
            is_parameter = any(axis.owner for axis in sweep.axes if axis.name == name)
            hint = "remove one of them" if is_parameter else "remove one of them, or use the variable in the template"
            return f"axis {name}: {values} and {other} make the same run: {hint}"
    return f"agents {first.agent.label} and {second.agent.label} make the same run: remove one of them"


def check_parameters(template: Template, point: Point, scenario: Scenario) -> None:
    """Raise UserError for a parameter that does not reach the agents."""
    read = [scenario.agent_parameters, *scenario.other_parameters.values()]
    for name, value in point.agent.parameters:
        if not any(parameters.get(name) == value for parameters in read):
            raise UserError(f"{template}: the parameter {name}={value} does not reach the agents: {PARAMETERS_LINE}")


def check_used(sweep: Sweep, points: Sequence[Point], render: Render, backend: BackendFactory | None = None) -> None:
    """Raise UserError for a fixed variable that changes no key of the back-end."""
    _check_printed(sweep, points, render)
    for name, value in _common(sweep):
        keys = set[str]().union(*(_changed_keys(point, name, render) for point in points))
        if not keys:
            raise UserError(
                f"{sweep.source}: {name}={value} changes nothing in {sweep.template.name}: the template does not use "
                f"it with these settings"
            )
        _check_read(f"{sweep.source}: {name}={value}", keys, backend)
    for name in _varied(sweep):
        keys = set[str]().union(*(_changed_keys(point, name, render) for point in points))
        _check_read(f"{sweep.source}: axis {name}", keys, backend)


@contextmanager
def naming_variables(point: Point, ini: str, name: Path, render: Render) -> Iterator[None]:
    """Let an error of a line of a rendered ini name the point's variables that the line is made of."""
    try:
        yield
    except UserError as error:
        lines = str(error).split("\n")
        raise UserError("\n".join(f"{line}{_made_of(line, point, ini, name, render)}" for line in lines)) from None


def _made_of(problem: str, point: Point, ini: str, name: Path, render: Render) -> str:
    """Text for the end of a problem: " (from mac=15.4)"; or empty."""
    if (found := re.match(rf"{re.escape(str(name))}:(\d+):", problem)) is None:
        return ""
    line = ini.splitlines()[int(found[1]) - 1]
    written = line.partition("=")[2]
    given = [f"{variable}={plain(value)}" for variable, value in point.variables.items() if plain(value) in written]
    changing = [each for each in given if line not in _rendered_without(point, each.partition("=")[0], render)]
    return f" (from {', '.join(changing)})" if changing else ""


def _rendered_without(point: Point, name: str, render: Render) -> list[str]:
    try:
        return render(_without(point, name)).splitlines()
    except UserError:  # the template needs it
        return []


def _check_printed(sweep: Sweep, points: Sequence[Point], render: Render) -> None:
    """Raise UserError for a variable that must be set, and is in comments only."""
    declared = sweep.template.variables
    for name in sorted({name for point in points for name in point.variables}):
        setting = declared.get(name)
        # What a test or a loop reads may have an effect with other values: only text that is printed is judged.
        must_be_set = setting is None or setting.default is None
        if must_be_set and sweep.template.only_prints(name) and not any(_matters(p, name, render) for p in points):
            value = next(point.variables[name] for point in points if name in point.variables)
            problem = f"{name}={value} changes nothing in {sweep.template.name}"
            raise UserError(f"{sweep.source}: {problem}: with these settings the template has it in comments at most")


def _matters(point: Point, name: str, render: Render) -> bool:
    try:
        return _entries(render(point)) != _entries(render(_with_other(point, name)))
    except UserError:  # a template that refuses the value uses it
        return True


def _with_other(point: Point, name: str) -> Point:
    """The point with a value that nobody gives."""
    return replace(point, variables={**point.variables, name: 987654321})


def _check_read(what: str, keys: set[str], backend: BackendFactory | None) -> None:
    if backend and keys and all(key.startswith(unused_keys(backend)) for key in keys):
        raise UserError(f"{what} only sets {min(keys)}, which the back-end {backend.name} does not read")


def _changed_keys(point: Point, name: str, render: Render) -> set[str]:
    """The keys that the variable sets; all keys if a template needs it, and another value changes none."""
    own = _entries(render(point))
    with suppress(UserError):
        return _keys(own ^ _entries(render(_without(point, name))))
    with suppress(UserError):
        if changed := _keys(own ^ _entries(render(_with_other(point, name)))):
            return changed
    return _keys(own)


def _keys(entries: Iterable[tuple[str, str]]) -> set[str]:
    return {key for key, _ in entries}


def _entries(ini: str) -> set[tuple[str, str]]:
    """The lines that count: an earlier one of the same key or of a wildcard leaves a later one without effect."""
    parsed = parse_ini(ini, Path("run.ini"))
    found: dict[str, str] = {}
    for entry in parsed.entries:
        first = parsed.find(entry.key)
        if first is None or first.line >= entry.line:
            found.setdefault(entry.key, entry.value)
    return set(found.items())


def _common(sweep: Sweep) -> Iterator[tuple[str, object]]:
    declared = sweep.template.variables
    single = (
        next(iter(axis.values.values()))
        for axis in sweep.axes
        if len(axis.values) == 1 and not (axis.zipped or axis.owner)
    )
    given: Mapping[str, object] = {
        **sweep.fixed,
        **{name: value for settings in single for name, value in settings.items()},
    }
    for name, value in given.items():
        setting = declared.get(name)
        if (
            setting is None
            or setting.default is None
            or setting.read_given(setting.default) != setting.read_given(value)
        ):
            yield name, value


def _varied(sweep: Sweep) -> set[str]:
    """The variables with several values."""
    axes = (axis for axis in sweep.axes if len(axis.values) > 1 and not (axis.zipped or axis.owner))
    return {name for axis in axes for settings in axis.values.values() for name in settings}


def _without(point: Point, name: str) -> Point:
    return replace(point, variables={key: value for key, value in point.variables.items() if key != name})
