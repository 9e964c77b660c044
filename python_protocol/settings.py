"""Settings: one way to declare parameters, keys and variables.

A setting is declared once, and everything else about it is made from that declaration: what reads it, what checks it,
what documents and completes it, and what sweeps it. Parameters of agents, keys of the ini and variables of templates
are three uses of it; they differ only in how their texts are written, which is the matter of their kinds.

- A setting has a name, a kind, a default, a unit, a range or choices, a meaning, and the source of its default.
- A kind reads a text in two steps. `read` makes a value in the unit in which the text is written; on that value the
  range is checked. `convert` makes of it what the program works with, which for times is whole nanoseconds.
- A range is told in the unit of the value, and always in the same words. The bounds of a time that is written with its
  unit are in nanoseconds, as such a time is.
- A value that no text stands for, because a program made it or a TOML file holds it, is held to the same range.
- Whatever is wrong with a value is a ValueError that has the value and what it must be. Who catches it adds the name,
  and the place where the value stands.

Parameters of agents: a class an agent, whose fields say everything that is to be known of a parameter.

    class GossipParameters(Parameters):
        ttl: int = parameter(8, at_least=1, at_most=255, unit="hops", source="reasoned", doc="radio hops of a
        notification")

A subclass of `Parameters` becomes a frozen dataclass. Its bounds hold wherever it is made, `parse_parameters` makes
one from the texts of an ini file or of the command line, and help and documentation are made from the same
declaration (`roambus.python_protocol.settings`).
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass
from functools import wraps
from typing import Any, ClassVar, TypeVar, dataclass_transform

from roambus.python_protocol.vocabulary import format_time, parse_time

_DECLARED = "setting"
"""The word in the metadata of a field under which its setting stands."""
NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a setting may have, each bound in the setting's own unit; None means that there is no bound."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None

    def holds(self, value: float) -> bool:
        """Whether the value keeps every bound; nan, which is not a number, keeps none."""
        return (
            not math.isnan(value)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
            and (self.above is None or value > self.above)
        )


ANY = Range()


def plain(value: Any) -> str:
    """A value as the command line has it: truth values in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_seconds(value: Any) -> str:
    """A time with its unit, which a number lacks: it counts seconds."""
    return value if isinstance(value, str) else f"{value}s"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: how it is read, what it is called, and how a file of another format may hold it."""

    name: str
    read: Callable[[str], Any]
    convert: Callable[[Any], Any] = lambda value: value
    unit: str = ""
    types: tuple[type, ...] = (str,)
    """What a value in a TOML file or in a template can be."""
    write: Callable[[Any], str] = plain
    """Makes of such a value the text that `read` reads."""
    is_time: bool = False
    """Whether it is a time that is written with its unit."""

    def show(self, value: Any) -> str:
        """A value, or a bound, as one writes it."""
        if self.is_time:
            return format_time(round(value))
        return f"{value:.12g}" if isinstance(value, float) else plain(value)

    def takes(self, value: object) -> bool:
        """Whether a value in a TOML file or in a template is of this kind; True is not a number."""
        return isinstance(value, self.types) and (bool in self.types or not isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared of a setting; the default is as one writes it, and None if there is none."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    unit: str = ""
    within: Range = ANY
    choices: tuple[Any, ...] = ()
    source: str = ""

    def read(self, text: str) -> Any:
        """The value that `text` stands for; raises ValueError for one that cannot be read, or that it cannot have."""
        value = self.kind.read(text)
        self.check(value, text)
        return self.kind.convert(value)

    def check(self, value: Any, text: str | None = None) -> None:
        """Raises ValueError, which shows `text`, unless the value is within the range and one of the choices."""
        if self.choices and value not in self.choices:
            problem = "is not known here"
        elif not all(map(self.within.holds, _numbers(value))):
            problem = "is out of range"
        else:
            return
        shown = self.kind.show(value) if text is None else text
        raise ValueError(f"{shown} {problem}: it must be {self.range_text() or self.takes}")

    def read_given(self, value: Any) -> Any:
        """As `read`, from a value in a TOML file or in a template, which has a type already."""
        if not self.kind.takes(value):
            raise ValueError(f"{plain(value)} is not {self.takes}")
        return self.read(self.kind.write(value))

    @property
    def measure(self) -> str:
        """Its unit, which is that of its kind if it has none of its own."""
        return self.unit or self.kind.unit

    def range_text(self) -> str:
        """The range in words, such as "above 0 ms", "from 0 to 1" or "on or off"; empty if there is none."""
        if self.choices:
            *others, last = map(plain, self.choices)
            return f"{', '.join(others)} or {last}" if others else last
        low, high = self.within.at_least, self.within.at_most
        words = [
            f"{word} {self.kind.show(bound)}"
            for word, bound in (("at least", low), ("above", self.within.above), ("at most", high))
            if bound is not None
        ]
        if low is not None and high is not None:
            words = [f"from {self.kind.show(low)} to {self.kind.show(high)}"]
        return f"{' and '.join(words)} {'' if self.kind.is_time else self.measure}".strip() if words else ""

    @property
    def takes(self) -> str:
        """What it can be set to, in words: "a whole number, at least 1"."""
        if self.choices:
            return self.range_text()
        if self.kind.is_time:
            name = "time, in seconds or with its unit"
        else:
            name = f"{self.kind.name} ({self.measure})" if self.measure and self.within == ANY else self.kind.name
        return ", ".join(filter(None, (f"a {name}", self.range_text())))


def _numbers(value: Any) -> list[float]:
    """What of a value its range is about: both ends of one that is drawn, and nothing of a text."""
    return [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int | float)]


# Settings that are fields of a class


def setting_field(setting: Setting, **default: Any) -> Any:
    """A field of a dataclass that is declared by the setting, with what `dataclasses.field` is to know besides."""
    return dataclasses.field(**default, metadata={_DECLARED: setting})


_KNOWN: dict[Any, Mapping[str, Setting]] = {}
"""Earlier results, because the settings of a node are made for each of many nodes."""


def settings_of(owner: type[Any]) -> Mapping[str, Setting]:
    """The settings that the fields of a dataclass declare, by the names of the fields; without a name it is that."""
    if owner not in _KNOWN:
        declared = {field.name: field.metadata.get(_DECLARED) for field in dataclasses.fields(owner)}
        _KNOWN[owner] = {
            name: setting if setting.name else dataclasses.replace(setting, name=name)
            for name, setting in declared.items()
            if setting is not None
        }
    return _KNOWN[owner]


# Kinds, as the command line writes their values


def read_number(text: str) -> float:
    """Reads 3, -95.0 or 1e-5."""
    if re.fullmatch(NUMBER_PATTERN, text) is None:
        raise ValueError(f"{text} is not a number without unit, such as 4 or -95.0")
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is too large to be a number here")
    return value


def read_whole(text: str) -> int:
    """Reads 32 or -95."""
    if re.fullmatch(r"-?\d+", text) is None:
        raise ValueError(f"{text} is not a whole number such as 32")
    return int(text)


def _read_truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"{text!r} is neither true nor false")
    return word in _TRUE


WHOLE = Kind("whole number", read_whole, types=(int,))
NUMBER = Kind("number", read_number, types=(int, float))
TEXT = Kind("text", str)
TRUTH = Kind("truth value", _read_truth, types=(bool,))
TIME = Kind("time", parse_time, types=(str, int, float), write=in_seconds, is_time=True)
KINDS = {kind.name: kind for kind in (WHOLE, NUMBER, TEXT, TRUTH, TIME)}


def kind_of(value: Any) -> Kind:
    """The kind of a value, by its type; a type that has no kind here reads its texts itself."""
    # The kinds stand in an order in which a whole number comes before a number, and a text before a time.
    known = next((kind for kind in KINDS.values() if kind.takes(value)), None)
    return known or Kind(type(value).__name__, type(value), types=(type(value),))


MOST_NAMES, MOST_NEAR, MOST_LISTED = 12, 5, 20
"""Up to the first number of names all are listed; of more, only so many near ones, and if none is near, so many."""


def unknown(kind: str, name: str, known: Mapping[str, object], lister: str = "") -> str:
    """One line for a name that is not known: what is meant, perhaps, and what there is, or what is near it.

    `lister` is the command that lists all of them.
    """
    close = difflib.get_close_matches(name, known, n=MOST_NEAR)
    if len(known) > MOST_NAMES:
        containing = [one for one in sorted(known) if len(name) > 2 and name in one]
        close = list(dict.fromkeys([*close, *containing]))[:MOST_NEAR]
        if close:
            others = f"there is {', '.join(close)} and {len(known) - len(close)} others"
            return f"unknown {kind} {name!r}: did you mean {close[0]!r}? {others}"
    hint = f"did you mean {close[0]!r}? " if close else ""
    listed, more = sorted(known)[:MOST_LISTED], len(known) - MOST_LISTED
    others = f" and {more} others" + (f" ({lister})" if lister else "") if more > 0 else ""
    return f"unknown {kind} {name!r}: {hint}there is {', '.join(listed) or 'none'}{others}"


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
    # Around the constructor, and not in `__post_init__`: there a value that was given can no longer be told from a
    # default, and what a profile implies must not replace what was given.
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
    # All names before any value: a name that is mistyped explains why the value of another one looks wrong.
    for name in values:
        if name not in settings:
            raise ValueError(unknown("parameter", name, settings, "roambus show AGENT"))
    return parameters(**{name: _named(settings[name].read, name, text) for name, text in values.items()})
