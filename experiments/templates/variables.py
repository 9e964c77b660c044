"""What can be set in a template: its variables, which a comment at its head declares in TOML.

    {#- variables
    brokers = { default = 2, at_least = 0, meaning = "Nodes that are brokers." }
    speed = { default = 2, type = "number", unit = "m/s", above = 0, meaning = "Speed of every node." }
    mobility = { default = "static", choices = ["static", "line"], meaning = "How nodes move." }
    time_out = { optional = true, type = "text", meaning = "The agent's own time-out, unless this is set." }
    -#}

These, and those that the parts which it includes declare, are all that can be set then. A variable has a default, or is
`optional` and then not defined unless it is set, or has to be set. It takes values of its `type`, which is that of the
default unless it is said. Templates of users' own may leave the declaration out: then every name that they use can be
set, to anything.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from roambus.bridge.errors import UserError
from roambus.bridge.texts import read_text
from roambus.python_protocol.settings import unknown

Scalar = int | float | str | bool
_HEAD = re.compile(r"\{#-?\s*variables\b(?P<toml>.*?)-?#\}", re.DOTALL)
WHOLE, NUMBER, TEXT, TRUTH = "whole number", "number", "text", "truth value"
_TYPES: dict[str, tuple[type, ...]] = {WHOLE: (int,), NUMBER: (int, float), TEXT: (str,), TRUTH: (bool,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable of a template, as its declaration has it."""

    name: str
    meaning: str
    type: str
    default: Scalar | None = None
    optional: bool = False
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    choices: tuple[Scalar, ...] = ()

    @property
    def takes(self) -> str:
        """What it can be set to, for messages: "a whole number, at least 1"."""
        if self.choices:
            return " or ".join(filter(None, (", ".join(map(shown, self.choices[:-1])), shown(self.choices[-1]))))
        bounds = (("above", self.above), ("at least", self.at_least), ("at most", self.at_most))
        limits = [f"{text} {bound:g}" for text, bound in bounds if bound is not None]
        return ", ".join([f"a {self.type}" + (f" ({self.unit})" if self.unit else ""), *limits])

    def accepts(self, value: Scalar) -> bool:
        """Whether it can be set to the value."""
        if self.choices:
            return value in self.choices
        return _is_of_type(value, self.type) and (isinstance(value, str) or self._is_within(value))

    def _is_within(self, value: float) -> bool:
        return (
            math.isfinite(value)
            and (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )


def shown(value: Scalar) -> str:
    """A value as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def declared_variables(template: Path) -> dict[str, Variable] | None:
    """The variables that the file itself declares, without the parts that it includes; None if it declares nothing.

    Raises UserError.
    """
    return _declared_in(read_text(template), str(template))


@lru_cache(maxsize=64)
def _declared_in(text: str, template: str) -> dict[str, Variable] | None:
    """As `declared_variables`, from the text: a sweep renders the same template for each of its runs."""
    head = _HEAD.search(text)
    if head is None:
        return None
    try:
        table = tomllib.loads(head["toml"])
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{template}: the variables at its head: {error}") from None
    return {name: _variable(f"{template}: variable {name}", name, about) for name, about in table.items()}


def check_value(variable: Variable, value: Scalar, where: str) -> None:
    """Raises UserError, which begins with `where`, for a value that the variable does not take."""
    if not variable.accepts(value):
        raise UserError(f"{where}: {variable.name} takes {variable.takes}, not {shown(value)}. {variable.meaning}")


_KEYS = tuple(field.name for field in fields(Variable) if field.name != "name")


def _variable(where: str, name: str, about: object) -> Variable:
    if not isinstance(about, dict):
        raise UserError(f"{where}: write {name} = {{ default = ..., meaning = ... }}")
    for key in about:
        if key not in _KEYS:
            raise UserError(f"{where}: {unknown('key', key, dict.fromkeys(_KEYS))}")
    _check_bounds(where, about)
    made = Variable(name=name, **{"meaning": "", **about, "type": _type(where, about), "choices": _choices(about)})
    if made.default is not None and not made.accepts(made.default):
        raise UserError(f"{where}: its default {shown(made.default)} is not {made.takes}")
    return made


def _check_bounds(where: str, about: Mapping[str, Any]) -> None:
    for key in ("at_least", "at_most", "above"):
        if not _is_of_type(about.get(key, 0), NUMBER):
            raise UserError(f"{where}: {key} is no number")


def _type(where: str, about: Mapping[str, Any]) -> str:
    name = about.get("type")
    if name is None:
        examples = [about.get("default"), *about.get("choices", ())]
        name = next((kind for one in examples for kind in _TYPES if _is_of_type(one, kind)), None)
    if name not in _TYPES:
        raise UserError(f"{where}: its type is one of {', '.join(_TYPES)}")
    return str(name)


def _choices(about: Mapping[str, Any]) -> tuple[Scalar, ...]:
    return tuple(about.get("choices", ()))


def _is_of_type(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == TRUTH or not isinstance(value, bool))
