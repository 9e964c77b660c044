"""Sweeps in TOML files.

template = "thesis"              a template's name, or a path beside the sweep
seeds = 10                       seeds 0 to 9
backend = "ideal"                unless the command line names another one; left out: radio
measure = ["mine.py"]            files and packages of metrics
[set]                            variables that stay the same, and named settings: config = "C8"
[axes]
speed = [2, 4]                   a variable and its values
config.C2 = { brokers = 2, side = 35 }     a zipped axis: each name sets several variables
agent.buffer = [5, 10]           a parameter of every agent that has it; mft.buffer, of the agent mft
[agents]
mft = { title = "MFT-PubSub" }   an agent by its name, and its name for readers
variant = { use = "mft", parameters = { sticky_parent = false } }

Every mistake is a UserError that names file and key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from roambus.bridge.backends.registry import DEFAULT, backend_names
from roambus.bridge.errors import UserError
from roambus.experiments.shipped import SWEEP_SUFFIX, find_file, shipped_study
from roambus.experiments.sweeps.named_settings import find_named
from roambus.experiments.sweeps.sweep import AgentChoice, Axis, Sweep, narrow, seed_range, validate
from roambus.experiments.sweeps.tables import axes_of_table, check_words, read_content, scalar, table, template_of
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain
from roambus.spark.metrics.extra import check_reference

_KEYS = ("template", "seeds", "backend", "measure", "set", "axes", "agents")


def read_sweep(name: str) -> Sweep:
    """The sweep of that path or shipped name; raises UserError naming file and key."""
    path = find_file("sweep", SWEEP_SUFFIX, name)
    sweep = _build(path, read_content(path))
    validate(sweep)
    return sweep


def _build(path: Path, content: Mapping[str, Any]) -> Sweep:
    check_words(str(path), "key", content, _KEYS)
    backend = str(content.get("backend", DEFAULT))
    check_words(str(path), "backend", [backend], backend_names())
    template = template_of(path, content)
    return Sweep(
        source=str(path),
        template=template,
        agents=tuple(_agent(path, *item) for item in table(path, "agents", content).items()),
        axes=tuple(_with_named(path, template, axis) for axis in axes_of_table(path, content)),
        seeds=seed_range(str(path), content.get("seeds", 1)),
        backend=backend,
        fixed=_fixed(path, template, table(path, "set", content)),
        name=path.stem,
        study=shipped_study(path),
        measure=tuple(_measure(path, content.get("measure", []))),
    )


def _fixed(path: Path, template: Path, settings: Mapping[str, Any]) -> dict[str, Scalar]:
    """The variables under [set], named settings expanded. Raises UserError for one set twice."""
    fixed: dict[str, Scalar] = {}
    for name, value in settings.items():
        given = scalar(path, f"set.{name}", value)
        named = find_named(template, name)
        chosen: Mapping[str, Scalar] = {name: given}
        if named is not None:
            (chosen,) = narrow(named, plain(given), f"{path}: set").values.values()
        if twice := fixed.keys() & chosen.keys():
            raise UserError(f"{path}: set.{name} sets {min(twice)}, which is set there already")
        fixed |= chosen
    return fixed


def _with_named(path: Path, template: Path, axis: Axis) -> Axis:
    """The axis, or the zipped axis that a list of named settings means; raises UserError."""
    named = None if axis.zipped or axis.owner else find_named(template, axis.name)
    return axis if named is None else narrow(named, ",".join(axis.values), f"{path}: axes")


def _measure(path: Path, named: object) -> Iterator[str]:
    """Yield packages by name and files by path, those beside the sweep first; raises UserError."""
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise UserError(f"{path}: measure: give a list of files and packages of metrics")
    for one in named:
        beside = path.parent / one
        found = str(beside) if one.endswith(".py") and beside.is_file() else one
        check_reference(f"{path}: measure", found)
        yield found


def _agent(path: Path, label: str, options: object) -> AgentChoice:
    """Read an agent; sorted parameters, so that their order changes no run."""
    if not isinstance(options, dict):
        raise UserError(f"{path}: agents.{label}: write {label} = {{}}, or with use and parameters in the braces")
    check_words(f"{path}: agents.{label}", "key", options, ("use", "parameters", "title"))
    where = f"agents.{label}.parameters"
    parameters = table(path, "parameters", options).items()
    texts = sorted((name, plain(scalar(path, f"{where}.{name}", value))) for name, value in parameters)
    use = str(options.get("use", label))
    beside = str(path.parent / use)  # an agent's file may lie beside the sweep
    is_file = Path(beside.partition(".py:")[0].removesuffix(".py") + ".py").is_file()
    return AgentChoice(label, beside if is_file else use, tuple(texts), str(options.get("title", "")))
