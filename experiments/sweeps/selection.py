"""Sweeps changed or made by the command line: `--set`, `--param` and `--agents` each make another sweep.

`--set NAME=VALUE` replaces an axis' values, or chooses named ones; `--set config.C64="brokers=64 side=155"` adds one.
`--agents mft,./mine.py` replaces the agents: name,
module:Class or file.py[:Class]. A label of the sweep means its own agent with its parameters.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from roambus.bridge.agents import load_agent
from roambus.bridge.runs.layout import AGENT
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import SWEEP_SUFFIX, TEMPLATE_SUFFIX, shipped_files
from roambus.experiments.sweeps.sweep import (
    EVERY_AGENT,
    AgentChoice,
    Axis,
    Sweep,
    choose,
    narrow,
    new_value,
    plain_axis,
    read_axis,
    read_seeds,
    validate,
)
from roambus.experiments.sweeps.sweep_file import find_named
from roambus.experiments.templates.template import Template, UnknownVariableError, find_template
from roambus.experiments.templates.variables import parse_scalar

_OPTION = "--agents"
_PARAMETER_OPTION = "--param"
_PARAMETER = re.compile(r"(\S+)\s+([^\s=]+=.*)")
"""An agent with a parameter behind it."""


def override(sweep: Sweep, settings: Mapping[str, str], seeds: int | str | None = None) -> Sweep:
    """The sweep with `--set` values: agents and zipped axes narrowed, all else replaced; `seeds` as in a file."""
    everybody = sweep.agents
    own = {name: text for name, text in settings.items() if _is_new(sweep, name)}
    for name, text in own.items():
        sweep = _with_new(sweep, name, text)
    for name, text in settings.items():
        if name not in own:
            added = (label for axis, _, label in (each.partition(".") for each in own) if axis == name)
            sweep = _override(sweep, name, ",".join(dict.fromkeys([*text.split(","), *added])))
    # The agents that are left may all lack the parameter of an axis, which others of the sweep have.
    validate(dataclasses.replace(sweep, agents=everybody))
    return sweep if seeds is None else dataclasses.replace(sweep, seeds=read_seeds("--seeds", seeds))


def _override(sweep: Sweep, name: str, text: str) -> Sweep:
    # Errors do not begin with the place in the file whose value is replaced.
    option = f"{sweep.source}: --set"
    if name == AGENT:
        agents = {choice.label: choice for choice in sweep.agents}
        chosen = tuple(choose(f"{option} agent", label, agents) for label in text.split(","))
        return dataclasses.replace(sweep, agents=chosen)
    if old := next((axis for axis in sweep.axes if axis.name == name), None):
        texts = text.split(",")
        new = narrow(old, text, option) if old.zipped else axis_of(sweep.template, name, *texts, where=option)
        return dataclasses.replace(sweep, axes=tuple(new if axis is old else axis for axis in sweep.axes))
    try:
        (setting,) = axis_of(sweep.template, name, text, where=option).values.values()
    except UnknownVariableError as error:
        raise UnknownVariableError(f"{error}; its axes are {_axes_of(sweep)}") from None
    except UserError:
        if (axis := _several_values(sweep.template, name, text.split(","))) is None:
            raise
        raise _several(sweep, option, axis, text) from None
    return dataclasses.replace(sweep, fixed={**sweep.fixed, **setting})


def _is_new(sweep: Sweep, name: str) -> bool:
    """Whether the name is such as config.C64, of an axis that has names for its values."""
    axis, _, label = name.partition(".")
    return bool(label) and any(each.zipped and each.name == axis for each in sweep.axes)


def _with_new(sweep: Sweep, setting: str, text: str) -> Sweep:
    """The sweep with one more named value, as `roambus show` writes them; raises UserError."""
    option, (name, _, label) = f"{sweep.source}: --set {setting}", setting.partition(".")
    axis = next(each for each in sweep.axes if each.name == name)
    pairs = dict(pair.split("=", 1) for pair in text.split() if "=" in pair)
    if label in axis.values:
        raise UserError(f"{option}: the sweep has {label} already: choose another name")
    if pairs.keys() != (names := next(iter(axis.values.values()))).keys() or len(pairs) != len(text.split()):
        raise UserError(f"{option}: it sets {', '.join(names)}: write {new_value(axis, label)}")
    template = sweep.template
    values = {each: parse_scalar(given, template.variable(each, option)) for each, given in pairs.items()}
    template.check([values], option)
    new = dataclasses.replace(axis, values={**axis.values, label: {each: values[each] for each in names}})
    return dataclasses.replace(sweep, axes=tuple(new if each is axis else each for each in sweep.axes))


def _several(sweep: Sweep, option: str, axis: Axis, text: str) -> UserError:
    # As TOML has them: a number in quotes would be a text.
    values = (
        [*axis.values] if axis.zipped else [value for setting in axis.values.values() for value in setting.values()]
    )
    toml = f"template = {json.dumps(_named(sweep.template))} and, below [axes], {axis.name} = {json.dumps(values)}"
    problem = f"{option}: {axis.name}={text} are several values, and {axis.name} is no axis here"
    remedy = f"give one, or write a sweep file with {toml} (roambus docs sweeps)"
    return UserError(f"{problem} ({_axes_of(sweep)} are): {remedy}")


def _named(template: Template) -> str:
    """Return a template's name if it is ours, or that of its file, which lies beside the sweep's."""
    with suppress(UserError):
        if find_template(template.stem).file == template.file:
            return template.stem
    return template.name


def _axes_of(sweep: Sweep) -> str:
    return ", ".join(axis.name for axis in sweep.axes) or "none"


def _several_values(template: Template, name: str, texts: Sequence[str]) -> Axis | None:
    try:
        return axis_of(template, name, *texts)
    except UserError:
        return None


def with_parameters(sweep: Sweep, settings: Mapping[str, str]) -> Sweep:
    """The sweep with an axis for each `--param`: of all agents that have it, or of one by label."""
    for name, text in settings.items():
        owner, _, parameter = name.rpartition(".")
        axis = dataclasses.replace(
            plain_axis(parameter, text.split(","), f"{_PARAMETER_OPTION} {name}"), owner=owner or EVERY_AGENT
        )
        others = (axis for axis in sweep.axes if (axis.name, bool(axis.owner)) != (parameter, True))
        sweep = dataclasses.replace(sweep, source=_PARAMETER_OPTION, axes=(*others, axis))
    if settings:
        validate(sweep)
    return sweep


def with_agents(sweep: Sweep, agents: str | Sequence[str]) -> Sweep:
    """Replace the agents by an `--agents` text or by names; raises UserError."""
    names = [name.strip() for name in agents.split(",")] if isinstance(agents, str) else agents
    if not all(names):
        raise UserError(f'{_OPTION} "{agents}": write agents with commas between, such as mft,./mine.py')
    chosen = [_choice(sweep, name) for name in names]
    labels = [choice.label for choice in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(
                f"{_OPTION}: two agents are called {label}, and a folder has one of a name: rename a file, or "
                "name both in a sweep file"
            )
    changed = dataclasses.replace(sweep, agents=tuple(chosen))
    validate(changed)
    return changed


def same_labels(sweep: Sweep, chosen: Sweep) -> Iterator[str]:
    """Say which chosen agents are the sweep's own with parameters, not the agents of these names."""
    for agent in chosen.agents:
        if agent in sweep.agents and agent.parameters:
            settings = " ".join(map("=".join, agent.parameters))
            module = load_agent(agent.agent)
            yield (
                f"{_OPTION} {agent.label}: the sweep's own {agent.label}, which is {agent.agent} with {settings}; "
                f"{module.__module__}:{module.__qualname__} is the agent with its defaults"
            )


def _choice(sweep: Sweep, name: str) -> AgentChoice:
    """The sweep's agent of that label, or any other, which results call by its name, file or class."""
    if parameter := _PARAMETER.fullmatch(name):
        agent, setting = parameter.groups()
        raise UserError(f"{_OPTION}: {name}: write {agent}, and {_PARAMETER_OPTION} {_label(agent)}.{setting}")
    own = (choice for choice in sweep.agents if choice.label == name)
    return next(own, AgentChoice(_label(name), name))


def _label(agent: str) -> str:
    return Path(agent).stem if agent.endswith(".py") else agent.rpartition(":")[2]


# Sweeps of a template alone


def is_template(name: str) -> bool:
    """Whether it is a template's path (any but that of a sweep), or its name and no sweep's."""
    if name.endswith(TEMPLATE_SUFFIX) or Path(name).is_file():
        return not name.endswith(SWEEP_SUFFIX)
    return name not in shipped_files(SWEEP_SUFFIX) and name in shipped_files(TEMPLATE_SUFFIX)


def sweep_of(
    source: str, template: Template, agent: AgentChoice, settings: Mapping[str, Sequence[str]], seed: int = 0
) -> Sweep:
    """A template's sweep by `--set` alone, one agent and seed; raises UserError."""
    axes = tuple(axis_of(template, name, *texts) for name, texts in sorted(settings.items()))
    sweep = Sweep(source, template, (agent,), axes, (seed,))
    validate(sweep)
    return sweep


def axis_of(template: Template, name: str, *texts: str, where: str = "--set") -> Axis:
    """The axis of `--set`: a variable's, or of named settings; raises UserError for neither."""
    if (named := find_named(template, name)) is not None:
        return narrow(named, ",".join(texts), where)
    try:
        return read_axis(template, name, texts, where)
    except UnknownVariableError as error:
        raise UnknownVariableError(f"{error}; a parameter of an agent is set by {_PARAMETER_OPTION}") from None
