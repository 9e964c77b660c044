"""Parameters of agents: one frozen dataclass an agent, each field with its unit and source.

`parameter()` declares a field; `parse_parameters` fills a dataclass from the texts of an ini file or command line.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from roambus.python_protocol.simtime import format_time, parse_time

P = TypeVar("P")

_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def parameter(default: Any, *, unit: str = "", source: str = "", doc: str = "") -> Any:
    """A dataclass field with its unit ("s" for a SimTime), where its default comes from, and what it does."""
    return dataclasses.field(default=default, metadata={"unit": unit, "source": source, "doc": doc})


def describe_parameters(parameters: type[Any]) -> list[tuple[str, str, str, str, str]]:
    """(name, default as a user would write it, unit, source, what it does) of each field."""
    return [_describe(field) for field in dataclasses.fields(parameters)]


def _describe(field: dataclasses.Field[Any]) -> tuple[str, str, str, str, str]:
    text = field.metadata
    default = format_value(field, field.default)
    return field.name, default, text.get("unit", ""), text.get("source", ""), text.get("doc", "")


def format_value(field: dataclasses.Field[Any], value: Any) -> str:
    """`value` as `parse_parameters` reads it back."""
    if field.metadata.get("unit") == "s":
        return format_time(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_parameters(parameters: type[P], values: Mapping[str, str]) -> P:
    """Fills the dataclass from texts; raises ValueError naming an unknown name or an unreadable value."""
    fields = {field.name: field for field in dataclasses.fields(parameters)}  # type: ignore[arg-type]  # P is a dataclass
    parsed: dict[str, Any] = {}
    for name, text in values.items():
        if name not in fields:
            raise ValueError(unknown("parameter", name, fields))
        parsed[name] = _parse_value(fields[name], text)
    return parameters(**parsed)


def _parse_value(field: dataclasses.Field[Any], text: str) -> Any:
    try:
        if field.metadata.get("unit") == "s":
            return parse_time(text)
        if isinstance(field.default, bool):
            return _parse_bool(text)
        kind: Any = type(field.default)
        return kind(text)
    except ValueError as error:
        raise ValueError(f"parameter {field.name}: {error}") from None


def _parse_bool(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"{text!r} is neither true nor false")
    return word in _TRUE


def unknown(kind: str, name: str, known: Mapping[str, object]) -> str:
    """One line for a name that is not known: what is meant, perhaps, and what there is."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {kind} {name!r}: {hint}there is {', '.join(sorted(known)) or 'none'}"
