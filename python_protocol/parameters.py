"""Parameters of agents: a class an agent, whose fields say everything that is to be known of a parameter.

    class GossipParameters(Parameters):
        ttl: int = parameter(8, at_least=1, at_most=255, unit="hops", source="reasoned", doc="radio hops of a
        notification")

A subclass of `Parameters` becomes a frozen dataclass. Its bounds hold wherever it is made, `parse_parameters` makes
one from the texts of an ini file or of the command line, and help and documentation are made from the same
declaration.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass
from functools import wraps
from math import isnan
from typing import Any, ClassVar, TypeVar, dataclass_transform

from roambus.python_protocol.simtime import SimTime, format_time, parse_time

P = TypeVar("P")

_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def parameter(  # noqa: PLR0913  # all that is to be known of a parameter
    default: Any,
    *,
    unit: str = "",
    source: str = "",
    doc: str = "",
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    choices: Iterable[str] = (),
) -> Any:
    """A parameter with its unit ("s" for a SimTime), where its default comes from, what it does, and what it can be.

    The bounds of a SimTime are in nanoseconds, as its values are. A value has to be at least `at_least`, at most
    `at_most`, and greater than `above`; a text has to be one of the choices, if there are any.
    """
    bounds = Bounds(at_least, at_most, above, tuple(choices))
    return dataclasses.field(default=default, metadata={"unit": unit, "source": source, "doc": doc, "bounds": bounds})


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a value can be; None is no bound."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()

    def violation(self, value: Any, unit: str) -> str:
        """What is wrong with a value, to go after its text; empty if nothing is."""
        if self.choices and value not in self.choices:
            return f"is none of {', '.join(self.choices)}"
        if isinstance(value, float) and isnan(value):
            return "is not a number"
        for holds, words, bound in self._tests(value):
            if not holds:
                return f"is not {words} {_text_of(bound, unit)}"
        return ""

    def describe(self, unit: str) -> str:
        """The bounds in words, such as "at least 1, at most 255"; empty if there are none."""
        named = (("at least", self.at_least), ("greater than", self.above), ("at most", self.at_most))
        words = [f"{words} {_text_of(bound, unit)}" for words, bound in named if bound is not None]
        return ", ".join([*words, *([f"one of {', '.join(self.choices)}"] if self.choices else [])])

    def _tests(self, value: Any) -> Iterable[tuple[bool, str, float]]:
        if self.at_least is not None:
            yield value >= self.at_least, "at least", self.at_least
        if self.above is not None:
            yield value > self.above, "greater than", self.above
        if self.at_most is not None:
            yield value <= self.at_most, "at most", self.at_most


@dataclass_transform(frozen_default=True)
class Parameters:
    """Base of every agent's parameters; an agent that has nothing to set has this very class."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """What each value of a parameter `profile` stands for: values of parameters that are not set themselves."""

    def __init_subclass__(cls, **about: Any) -> None:
        """Makes the subclass a frozen dataclass (without slots, so that several can be inherited)."""
        super().__init_subclass__(**about)
        dataclass(frozen=True)(cls)
        _imply(cls)

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What else counts when this is given: the values of the profile. What is given itself counts more.

        Values that are given and have bounds are within them. A subclass whose values depend on others overrides this.
        """
        return cls.profiles.get(given.get("profile", getattr(cls, "profile", "")), {})

    def __post_init__(self) -> None:
        """Raises ValueError for a value outside its bounds; a subclass adds how its parameters depend on each other."""
        check_bounds(self)


dataclass(frozen=True)(Parameters)


def _imply(parameters: type[Parameters]) -> None:
    """Has a class made with what is given and what that implies."""
    make: Callable[..., None] = parameters.__init__
    names = [field.name for field in dataclasses.fields(parameters)]

    @wraps(make)
    def make_with_implied(self: Parameters, *values: Any, **named: Any) -> None:
        given = {**dict(zip(names, values, strict=False)), **named}
        _check_given(parameters, given)
        make(self, *values, **{**parameters.implied(given), **named})

    type.__setattr__(parameters, "__init__", make_with_implied)  # as the dataclass has set what it has made


def _check_given(parameters: type[Parameters], given: Mapping[str, Any]) -> None:
    for field in dataclasses.fields(parameters):
        if field.name in given:
            _check_value(field, given[field.name])


def check_bounds(parameters: Any) -> None:
    """Raises ValueError that names the first parameter whose value is outside its bounds, with value and bound."""
    for field in dataclasses.fields(parameters):
        _check_value(field, getattr(parameters, field.name))


def _check_value(field: Field[Any], value: Any) -> None:
    bounds, unit = field.metadata.get("bounds"), field.metadata.get("unit", "")
    if bounds is not None and (problem := bounds.violation(value, unit)):
        raise ValueError(f"parameter {field.name}: {_text_of(value, unit)} {problem}")


def _text_of(value: Any, unit: str) -> str:
    return format_time(SimTime(value)) if unit == "s" else str(value)


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


def format_parameters(parameters: Any) -> dict[str, str]:
    """Every parameter with its value, as `parse_parameters` reads them back."""
    return {one.name: format_value(one, getattr(parameters, one.name)) for one in dataclasses.fields(parameters)}


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
