"""Parameters of agents: a class an agent, whose fields say everything that is to be known of a parameter.

    class GossipParameters(Parameters):
        ttl: int = parameter(8, at_least=1, at_most=255, unit="hops", source="reasoned", doc="radio hops of a
        notification")

A subclass of `Parameters` becomes a frozen dataclass. Its bounds hold wherever it is made, `parse_parameters` makes
one from the texts of an ini file or of the command line, and help and documentation are made from the same
declaration (`roambus.python_protocol.settings`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass
from functools import wraps
from typing import Any, ClassVar, TypeVar, dataclass_transform

from roambus.python_protocol.settings import TIME, Range, Setting, kind_of, plain, setting_field, settings_of, unknown
from roambus.python_protocol.vocabulary import format_time

P = TypeVar("P")


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
    kind, within = TIME if unit == "s" else kind_of(default), Range(at_least, at_most, above)
    written = format_time(default) if kind is TIME else default
    return setting_field(Setting("", kind, written, doc, unit, within, tuple(choices), source), default=default)


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
        _check_given(type(self), vars(self))


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
    for name, setting in settings_of(parameters).items():
        if name in given:
            _named(setting.check, name, given[name])


def _named(does: Callable[[Any], Any], name: str, value: Any) -> Any:
    """What is done with the value of a parameter; an error names the parameter."""
    try:
        return does(value)
    except ValueError as error:
        raise ValueError(f"parameter {name}: {error}") from None


def parameter_settings(parameters: type[Any]) -> Mapping[str, Setting]:
    """What each field declares, by its name; a field that says nothing has the kind of its default, and no bounds."""
    fields = dataclasses.fields(parameters)
    bare = {one.name: Setting(one.name, kind_of(one.default), one.default, "") for one in fields}
    return {**bare, **settings_of(parameters)}


def describe_parameters(parameters: type[Any]) -> list[tuple[str, str, str, str, str]]:
    """(name, default as a user would write it, unit, source, what it does) of each field."""
    return [
        (one.name, plain(one.default), one.unit, one.source, one.meaning)
        for one in parameter_settings(parameters).values()
    ]


def format_parameters(parameters: Any) -> dict[str, str]:
    """Every parameter with its value, as `parse_parameters` reads them back."""
    values = ((one, getattr(parameters, name)) for name, one in parameter_settings(type(parameters)).items())
    return {one.name: format_time(value) if one.kind.is_time else plain(value) for one, value in values}


def parse_parameters(parameters: type[P], values: Mapping[str, str]) -> P:
    """Fills the dataclass from texts; raises ValueError naming an unknown name or an unreadable value."""
    settings = parameter_settings(parameters)
    for name in values:
        if name not in settings:
            raise ValueError(unknown("parameter", name, settings))
    return parameters(**{name: _named(settings[name].read, name, text) for name, text in values.items()})
