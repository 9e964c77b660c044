"""Settings: one way to declare the parameters of agents, the keys of the ini and the variables of templates.

Reading, checking, documentation, completion and sweeps follow from the declaration. A kind reads a text in two steps:
`read` gives a value in the text's unit, for the range; `convert` the program's value, whole nanoseconds for a time. A
wrong value is a ValueError with its requirement; the caller adds name and place.

An agent's parameters are a subclass of `Parameters`, a frozen dataclass, with fields such as `ttl: int = parameter(8,
at_least=1, at_most=255, unit="hops", source="reasoned", doc="radio hops")`.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass
from functools import wraps
from typing import Any, ClassVar, TypeVar, dataclass_transform

from roambus.python_protocol.simtime import format_time, parse_time

_DECLARED = "setting"
"""The setting's key in a field's metadata."""
NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Range:
    """The bounds of a setting in its own unit; None: no bound."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None

    def holds(self, value: float) -> bool:
        """Whether the value keeps every bound; nan none."""
        return (
            not math.isnan(value)
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
            and (self.above is None or value > self.above)
        )


ANY = Range()


def plain(value: Any) -> str:
    """Return a value as on the command line, truth values in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_seconds(value: Any) -> str:
    """A time with its unit; a number counts seconds."""
    return value if isinstance(value, str) else f"{value}s"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: its reader, name, and types in other formats."""

    name: str
    read: Callable[[str], Any]
    convert: Callable[[Any], Any] = lambda value: value
    unit: str = ""
    types: tuple[type, ...] = (str,)
    """The types of such a value in a TOML file or template."""
    write: Callable[[Any], str] = plain
    """Writes a value as `read` reads it."""
    is_time: bool = False
    """Whether it is a time that is written with its unit."""

    def show(self, value: Any) -> str:
        """A value or bound as written."""
        if self.is_time:
            return format_time(round(value))
        return f"{value:.12g}" if isinstance(value, float) else plain(value)

    def takes(self, value: object) -> bool:
        """Whether a TOML or template value is of this kind; True is no number."""
        return isinstance(value, self.types) and (bool in self.types or not isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class Setting:
    """A declared setting; the default is a text, or None for none."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    unit: str = ""
    within: Range = ANY
    choices: tuple[Any, ...] = ()
    source: str = ""

    def read(self, text: str) -> Any:
        """Read `text`; raise ValueError for an unreadable or impossible value."""
        value = self.kind.read(text)
        self.check(value, text)
        return self.kind.convert(value)

    def check(self, value: Any, text: str | None = None) -> None:
        """Raise ValueError with `text` for a value outside range or choices."""
        if self.choices and value not in self.choices:
            problem = "is not known here"
        elif not all(map(self.within.holds, _numbers(value))):
            problem = "is out of range"
        else:
            return
        shown = self.kind.show(value) if text is None else text
        raise ValueError(f"{shown} {problem}: it must be {self.range_text() or self.takes}")

    def read_given(self, value: Any) -> Any:
        """Read a typed value of a TOML file or a template."""
        if not self.kind.takes(value):
            if self._is_quoted(value):
                raise ValueError(f'"{value}" is a text, not {self.takes}: write {value} without quotes')
            raise ValueError(f"{plain(value)} is not {self.takes}")
        return self.read(self.kind.write(value))

    def _is_quoted(self, value: object) -> bool:
        """Whether it is the text of such a value."""
        with suppress(ValueError):
            return isinstance(value, str) and self.kind.takes(json.loads(value))
        return False

    @property
    def measure(self) -> str:
        """Its unit, or that of its kind."""
        return self.unit or self.kind.unit

    def range_text(self) -> str:
        """The range in words, such as "above 0 ms", "from 0 to 1" or "on or off"; or empty."""
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
        """Its values in words: "a whole number, at least 1"."""
        if self.choices:
            return self.range_text()
        if self.kind.is_time:
            name = "time, in seconds or with its unit"
        else:
            name = f"{self.kind.name} ({self.measure})" if self.measure and self.within == ANY else self.kind.name
        return ", ".join(filter(None, (f"a {name}", self.range_text())))


def _numbers(value: Any) -> list[float]:
    """Return the numbers bounded by the range: both ends of a drawn value, none of a text."""
    return [number for number in (value if isinstance(value, tuple) else (value,)) if isinstance(number, int | float)]


# Settings that are fields of a class


def setting_field(setting: Setting, **default: Any) -> Any:
    """Declare a dataclass field by the setting, with arguments for `dataclasses.field`."""
    return dataclasses.field(**default, metadata={_DECLARED: setting})


_KNOWN: dict[Any, Mapping[str, Setting]] = {}
"""Earlier results: each of many nodes has its settings."""


def settings_of(owner: type[Any]) -> Mapping[str, Setting]:
    """Return a dataclass's settings by field; a nameless one takes the field's name."""
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
    """Read 3, -95.0 or 1e-5."""
    if re.fullmatch(NUMBER_PATTERN, text) is None:
        raise ValueError(f"{text} is not a number without unit, such as 4 or -95.0")
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is too large to be a number here")
    return value


def read_whole(text: str) -> int:
    """Read 32 or -95."""
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
    """Return the kind of a value's type; a type without a kind reads its texts itself."""
    # The kinds stand in an order in which a whole number comes before a number, and a text before a time.
    known = next((kind for kind in KINDS.values() if kind.takes(value)), None)
    return known or Kind(type(value).__name__, type(value), types=(type(value),))


MOST_NAMES, MOST_NEAR, MOST_LISTED = 12, 5, 20
"""Up to this many names are listed in full; of more, near ones or the first."""
_NEAR, _SHORT = 0.65, 2
"""Names are near from this ratio of difflib on: "nodes" and "roles" have 0.6. No word is looked up if it is short."""
_DIGITS, _WORD = re.compile(r"\d+"), re.compile(r"\w+")


def unknown(kind: str, name: str, known: Mapping[str, object], lister: str = "") -> str:
    """Return a line for an unknown name: the nearest, and those that exist, or the command `lister`."""
    is_long = len(known) > MOST_NAMES
    containing = [other for other in sorted(known) if name in other] if is_long and len(name) > _SHORT else []
    close = list(dict.fromkeys([*near(name, known), *containing]))[:MOST_NEAR]
    hint = f"did you mean {close[0]!r}? " if close else ""
    if is_long:
        close = list(dict.fromkeys([*close, *_speaking_of(name, known)]))[:MOST_NEAR]
        if close:
            return f"unknown {kind} {name!r}: {hint}there is {', '.join(close)} and {len(known) - len(close)} others"
    listed, more = sorted(known)[:MOST_LISTED], len(known) - MOST_LISTED
    others = f" and {more} others" + (f" ({lister})" if lister else "") if more > 0 else ""
    return f"unknown {kind} {name!r}: {hint}there is {', '.join(listed) or 'none'}{others}"


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return the names of which `name` may be a misspelling, the nearest first; C64 is not C4 misspelt."""
    close = difflib.get_close_matches(name, list(known), n=MOST_NEAR, cutoff=_NEAR)
    letters = _DIGITS.sub("", name)
    return [candidate for candidate in close if candidate == name or _DIGITS.sub("", candidate) != letters]


def _speaking_of(name: str, known: Mapping[str, object]) -> list[str]:
    """Return the settings whose meaning has the word, those that begin with it first."""
    words = {other: _WORD.findall(getattr(about, "meaning", "").lower()) for other, about in known.items()}
    found = [other for other in sorted(known) if name.lower() in words[other] and len(name) > _SHORT]
    return sorted(found, key=lambda other: words[other].index(name.lower()) > 0)


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
    """Declare a parameter: unit ("s" for a SimTime), source of the default, meaning, and bounds.

    The bounds of a SimTime are in ns. A value is at least `at_least`, at most `at_most`, greater than `above`; a text
    is one of any choices.
    """
    kind, within = TIME if unit == "s" else kind_of(default), Range(at_least, at_most, above)
    written = format_time(default) if kind is TIME else default
    return setting_field(Setting("", kind, written, doc, unit, within, tuple(choices), source), default=default)


@dataclass_transform(frozen_default=True)
class Parameters:
    """Base of every agent's parameters, and their class for an agent without any."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Each `profile`'s defaults of other parameters."""

    def __init_subclass__(cls, **about: Any) -> None:
        """Make the subclass a frozen dataclass, without slots, so that several can be inherited.

        Raise TypeError for a parameter without a type.
        """
        super().__init_subclass__(**about)
        _check_types(cls)
        dataclass(frozen=True)(cls)
        _imply(cls)

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values that the given ones imply, here the profile's; given ones override them.

        Bounded values are within their bounds. A subclass with dependent values overrides this.
        """
        return cls.profiles.get(given.get("profile", getattr(cls, "profile", "")), {})

    def __post_init__(self) -> None:
        """Raise ValueError for a value outside its bounds; a subclass adds dependencies."""
        _check_given(type(self), vars(self))


dataclass(frozen=True)(Parameters)


def _check_types(parameters: type[Parameters]) -> None:
    annotated = vars(parameters).get("__annotations__", {})
    for name, declared in vars(parameters).items():
        if isinstance(declared, Field) and name not in annotated:
            setting = declared.metadata.get(_DECLARED)
            type_name = "SimTime" if setting and setting.kind.is_time else type(declared.default).__name__
            raise TypeError(f"parameter {name} has no type: write {name}: {type_name} = parameter(...)")


def _imply(parameters: type[Parameters]) -> None:
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
    try:
        return does(value)
    except ValueError as error:
        raise ValueError(f"parameter {name}: {error}") from None


def parameter_settings(parameters: type[Any]) -> Mapping[str, Setting]:
    """Return each field's setting by name; an undeclared one has its default's kind and no bounds."""
    fields = dataclasses.fields(parameters)
    bare = {field.name: Setting(field.name, kind_of(field.default), field.default, "") for field in fields}
    return {**bare, **settings_of(parameters)}


def describe_parameters(parameters: type[Any]) -> list[tuple[str, str, str, str, str]]:
    """Return (name, default as a user writes it, unit, source, meaning) of each field."""
    return [
        (setting.name, plain(setting.default), setting.unit, setting.source, setting.meaning)
        for setting in parameter_settings(parameters).values()
    ]


def format_parameters(parameters: Any) -> dict[str, str]:
    """Every parameter with its value, for `parse_parameters`."""
    values = ((setting, getattr(parameters, name)) for name, setting in parameter_settings(type(parameters)).items())
    return {setting.name: format_time(value) if setting.kind.is_time else plain(value) for setting, value in values}


def parse_parameters(parameters: type[P], values: Mapping[str, str]) -> P:
    """Fill the dataclass from texts; raise ValueError for an unknown name or unreadable value."""
    settings = parameter_settings(parameters)
    # All names before any value: a name that is mistyped explains why the value of another one looks wrong.
    for name in values:
        if name not in settings:
            raise ValueError(unknown("parameter", name, settings, "roambus show AGENT"))
    return parameters(**{name: _named(settings[name].read, name, text) for name, text in values.items()})
