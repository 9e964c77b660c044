"""The tables of a sweep's TOML file, and the axes in them.

A sweep can be a stranger's, so slow files and values that no ini can hold are refused. Every mistake is a UserError
that names file and key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.files import read_text
from roambus.experiments.sweeps.sweep import Axis, plain_axis
from roambus.experiments.templates.render import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.settings import unknown

_MOST_DOTS = 50
_DEEP_KEY = re.compile(rf"(?:[\w-]+\s?\.\s?){{{_MOST_DOTS + 1}}}")
"""More dots than in any sweep's key (three); parsing time grows with their square."""
_MOST_BITS = 64
"""An ini has no larger whole numbers."""


def read_content(path: Path) -> Mapping[str, Any]:
    """Parse the file; raises UserError."""
    text = read_text(path)
    if _DEEP_KEY.search(text):  # before the slow part, which is parsing
        raise UserError(f"{path}: a key of more than {_MOST_DOTS} dots goes too deep")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: brackets in brackets go too deep") from None


def check_words(where: str, kind: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Raise UserError for an unknown word: ignoring it would make another sweep."""
    for word in words:
        if word not in known:
            raise UserError(f"{where}: {unknown(kind, word, dict.fromkeys(known))}")


def template_of(path: Path, content: Mapping[str, Any]) -> Path:
    """The template beside the sweep, or the shipped one; raises UserError."""
    name = content.get("template")
    if not isinstance(name, str):
        raise UserError(f"{path}: template: give the name or the path of a template")
    beside = path.parent / name
    return beside if beside.is_file() else find_template(name)


_TABLES = {
    "set": "[set] above lines such as brokers = 8",
    "axes": "[axes] above lines such as speed = [2, 4]",
    "agents": "[agents] above a line such as mft = {} for each agent",
    "parameters": "parameters = { rate = 2 }",
}
"""How each table is written."""


def table(path: Path, key: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of that key, or an empty one; raises UserError for anything else."""
    found = content.get(key, {})
    if not isinstance(found, dict):
        raise UserError(f"{path}: {key} is not a table: write {_TABLES[key]}")
    return found


def scalar(path: Path, key: str, value: object) -> Scalar:
    """The value, if an ini can hold it; raises UserError for dates, lists and long numbers."""
    if not isinstance(value, int | float | str):
        raise UserError(f"{path}: {key}: {_shown(value)} is neither number, text nor truth value")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise UserError(f"{path}: {key}: a number of more than {_MOST_BITS} bits is too large")
    return value


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else str(value)[:60]


def axes_of_table(path: Path, content: Mapping[str, Any]) -> Iterator[Axis]:
    """Yield the file's axes; a table of lists has one for each agent parameter. Raises UserError."""
    for name, values in table(path, "axes", content).items():
        if isinstance(values, dict) and any(isinstance(one, list) for one in values.values()):
            for parameter, listed in values.items():
                yield replace(_axis(path, parameter, listed, f"axes.{name}.{parameter}"), owner=name)
        else:
            yield _axis(path, name, values, f"axes.{name}")


def _axis(path: Path, name: str, values: object, key: str) -> Axis:
    if isinstance(values, list) and values:
        return plain_axis(name, [scalar(path, key, value) for value in values], f"{path}: {key}")
    if not isinstance(values, dict) or not values:
        raise UserError(f"{path}: {key}: give a list of values, or names with the variables that each sets")
    zipped = {}
    for label, variables in values.items():
        if not isinstance(variables, dict):
            raise UserError(f"{path}: {key}.{label}: give the variables that it sets, in braces")
        zipped[label] = {one: scalar(path, f"{key}.{label}.{one}", value) for one, value in variables.items()}
    # Else a variable would have the template's default at one point, and at another the axis' value, unseen.
    if len({frozenset(variables) for variables in zipped.values()}) > 1:
        raise UserError(f"{path}: {key}: every name must set the same variables")
    return Axis(name, zipped, zipped=True)
