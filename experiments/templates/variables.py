"""The variables of a template, declared in TOML in a comment at its head.

    {#- variables
    brokers = { default = 2, at_least = 0, meaning = "Nodes that are brokers." }
    sigma = { key = "SN.wirelessChannel.sigma" }
    mobility = { default = "static", choices = ["static", "line"], meaning = "How nodes move." }
    mac = { key = "SN.node[*].Communication.MACProtocolName", others = "one of Castalia's" }
    time_out = { optional = true, type = "time", meaning = "The agent's own time-out." }
    -#}

A variable for a key of the ini takes all its words from the key; with `others` a text beyond the key's choices is
left to the back-end. Other variables have a default, are `optional`, or must be set;
the default gives the type. A user's template may declare nothing; then every name that it uses can be set.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from roambus.bridge.formats.ini.lookup import KEYS
from roambus.bridge.keys import string
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.settings import KINDS, Kind, Range, Setting, kind_of, unknown

Scalar = int | float | str | bool

_HEAD = re.compile(r"\{#-?\s*variables\b(?P<toml>.*?)-?#\}", re.DOTALL)
_BOUNDS = ("at_least", "at_most", "above")
_OF_ANY = ("default", "optional", "meaning")
_OF_KEYS, _OF_OTHERS = ("key", "others", *_OF_ANY), ("type", "unit", *_BOUNDS, "choices", *_OF_ANY)
"""The words of a variable for a key, and of any other."""


def parse_scalar(text: str, variable: Setting | None = None) -> Scalar:
    """Read 3, 2.5, true, false; else a text, and always one for a text variable."""
    if variable is not None and variable.kind.types == (str,):
        return text
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text == "true" if text in ("true", "false") else text


def declared_variables(text: str, file: Path) -> dict[str, Setting] | None:
    """Return the variables at the head of a template's text, or None if it declares nothing; raise UserError."""
    if (head := _HEAD.search(text)) is None:
        return None
    try:
        table = tomllib.loads(head["toml"]).items()
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file}: the variables at its head: {error}") from None
    return {name: _variable(f"{file}: variable {name}", name, about) for name, about in table}


def check_value(variable: Setting, value: Scalar, where: str) -> None:
    """Raise UserError beginning with `where` for an invalid value."""
    try:
        variable.read_given(value)
    except ValueError as error:
        raise UserError(f"{where}: {variable.name}: {error}. {variable.meaning}") from None


def _variable(where: str, name: str, about: object) -> Setting:
    if not isinstance(about, dict):
        raise UserError(f"{where}: write {name} = {{ default = ..., meaning = ... }}")
    words = _OF_KEYS if "key" in about else _OF_OTHERS
    for word in about:
        if word not in words:
            raise UserError(f"{where}: {unknown('word', word, dict.fromkeys(words))}")
    made = _passed_on(where, name, about) if "key" in about else _own(where, name, about)
    if made.default is not None:
        check_value(made, made.default, f"{where}: its default")
    return made


def _passed_on(where: str, name: str, about: Mapping[str, Any]) -> Setting:
    key = next((key for key in KEYS if key.name == about["key"]), None)
    if key is None:
        raise UserError(f"{where}: {unknown('key', about['key'], {key.name: key for key in KEYS})}")
    if others := about.get("others"):
        meant = f"{about.get('meaning', _sentence(key.meaning)).rstrip('.')}: {', '.join(key.choices)}, or {others}."
        key, about = replace(key, choices=()), {**about, "meaning": meant}
    default, meaning = key.default, _sentence(key.meaning)
    if default is not None:
        default = None if about.get("optional") else string(default) if default[0] == '"' else parse_scalar(default)
    return replace(key, name=name, default=about.get("default", default), meaning=about.get("meaning", meaning))


def _sentence(meaning: str) -> str:
    return f"{meaning[0].upper()}{meaning[1:]}."


def _own(where: str, name: str, about: Mapping[str, Any]) -> Setting:
    kind = _kind(where, about)
    for word in _BOUNDS:
        if word in about and not kind.takes(about[word]):
            raise UserError(f"{where}: {word} is not a {kind.name}")
    within = Range(**{word: kind.read(kind.write(about[word])) for word in _BOUNDS if word in about})
    meaning, unit, choices = about.get("meaning", ""), about.get("unit", ""), tuple(about.get("choices", ()))
    return Setting(name, kind, about.get("default"), meaning, unit, within, choices)


def _kind(where: str, about: Mapping[str, Any]) -> Kind:
    examples = [example for example in (about.get("default"), *about.get("choices", ())) if example is not None]
    kind = KINDS.get(about["type"]) if "type" in about else kind_of(examples[0]) if examples else None
    if kind is None or kind not in KINDS.values():
        raise UserError(f"{where}: its type is one of {', '.join(KINDS)}")
    return kind
