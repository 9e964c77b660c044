"""Reads sweeps from TOML; every mistake is a UserError that names file and key.

template = "thesis"              a name of ours, or a path beside the sweep
seeds = 10                       seeds 0 to 9
backend = "ideal"                unless the command line names another one; left out: radio
[set]                            variables of the template that stay the same
[axes]
speed = [2, 4]                   a variable and its values
config.C2 = { brokers = 2, side = 35 }     a zipped axis: each name sets several variables
[agents]
mft = {}                         an agent by its name
letter = { use = "mft", parameters = { sticky_parent = false } }
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roambus.bridge.backends import BACKENDS
from roambus.bridge.errors import UserError
from roambus.bridge.texts import read_text
from roambus.experiments.shipped import SWEEP_SUFFIX, find_file, shipped_study
from roambus.experiments.sweeps.sweep import AgentChoice, Axis, Sweep, plain_axis, seed_range, validate
from roambus.experiments.templates.render import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import plain, unknown

_MOST_DOTS = 50
_DEEP_KEY = re.compile(rf"(?:[\w-]+\s?\.\s?){{{_MOST_DOTS + 1}}}")
"""A sweep has keys of three dots; the time to read one grows with the square of its dots."""
_MOST_BITS = 64
"""An ini has no larger whole numbers."""


def read_sweep(name: str) -> Sweep:
    """The sweep of that path, or of that name among ours; raises UserError naming file and key."""
    path = find_file("sweep", SWEEP_SUFFIX, name)
    text = read_text(path)
    if _DEEP_KEY.search(text):
        raise UserError(f"{path}: a key of more than {_MOST_DOTS} dots goes too deep")
    try:
        content = tomllib.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: brackets in brackets go too deep") from None
    sweep = _build(path, content)
    validate(sweep)
    return sweep


_KEYS = ("template", "seeds", "backend", "set", "axes", "agents")


def _build(path: Path, content: Mapping[str, Any]) -> Sweep:
    for key in content:
        if key not in _KEYS:
            raise UserError(f"{path}: {unknown('key', key, dict.fromkeys(_KEYS))}")
    return Sweep(
        source=str(path),
        template=_template(path, content.get("template")),
        agents=tuple(_agent(path, *item) for item in _table(path, "agents", content).items()),
        axes=tuple(_axis(path, *item) for item in _table(path, "axes", content).items()),
        seeds=seed_range(str(path), content.get("seeds", 1)),
        backend=_backend(path, content.get("backend", BACKENDS[0])),
        fixed={name: _scalar(path, f"set.{name}", value) for name, value in _table(path, "set", content).items()},
        name=path.stem,
        study=shipped_study(path),
    )


def _backend(path: Path, name: object) -> str:
    if name not in BACKENDS:
        raise UserError(f"{path}: {unknown('backend', str(name), dict.fromkeys(BACKENDS))}")
    return str(name)


def _template(path: Path, name: object) -> Path:
    if not isinstance(name, str):
        raise UserError(f"{path}: template: give the name or the path of a template")
    beside = path.parent / name
    return beside if beside.is_file() else find_template(name)


def _table(path: Path, key: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise UserError(f"{path}: {key} is no table")
    return table


def _scalar(path: Path, key: str, value: object) -> Scalar:
    if not isinstance(value, int | float | str):
        raise UserError(f"{path}: {key}: {str(value)[:60]} is neither number, text nor truth value")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise UserError(f"{path}: {key}: a number of more than {_MOST_BITS} bits is too large")
    return value


def _agent(path: Path, label: str, options: object) -> AgentChoice:
    if not isinstance(options, dict):
        raise UserError(f"{path}: agents.{label}: write {label} = {{}}, or with use and parameters in the braces")
    for key in options:
        if key not in ("use", "parameters"):
            problem = unknown("key", key, {"use": None, "parameters": None})
            raise UserError(f"{path}: agents.{label}: {problem}")
    parameters = _table(path, "parameters", options)
    texts = {name: plain(_scalar(path, f"agents.{label}.parameters.{name}", v)) for name, v in parameters.items()}
    return AgentChoice(label, _reference(path, str(options.get("use", label))), tuple(sorted(texts.items())))


def _reference(path: Path, use: str) -> str:
    """An agent's file may lie beside the sweep."""
    beside = path.parent / use
    return str(beside) if Path(str(beside).partition(".py:")[0].removesuffix(".py") + ".py").is_file() else use


def _axis(path: Path, name: str, values: object) -> Axis:
    key = f"axes.{name}"
    if isinstance(values, list) and values:
        return plain_axis(name, [_scalar(path, key, value) for value in values])
    if not isinstance(values, dict) or not values:
        raise UserError(f"{path}: {key}: give a list of values, or names with the variables that each sets")
    zipped = {label: _zipped(path, f"{key}.{label}", variables) for label, variables in values.items()}
    if len({frozenset(variables) for variables in zipped.values()}) > 1:
        raise UserError(f"{path}: {key}: every name must set the same variables")
    return Axis(name, zipped, zipped=True)


def _zipped(path: Path, key: str, variables: object) -> Mapping[str, Scalar]:
    if not isinstance(variables, dict):
        raise UserError(f"{path}: {key}: give the variables that it sets, in braces")
    return {name: _scalar(path, f"{key}.{name}", value) for name, value in variables.items()}
