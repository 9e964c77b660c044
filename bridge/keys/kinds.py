"""The kinds of values that keys have: how each is read, and what it is called in the docs.

A kind reads a text in two steps. `parse` makes a value in the unit of the ini, on which a key checks its range;
`convert` makes of it what the program works with, which for times is whole nanoseconds. Castalia's own parameters are
plain numbers in units that their names do not tell, such as ms; OMNeT++ refuses a unit there, and so do these kinds.
Parameters of our own modules, and OMNeT++'s options, are written with their unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roambus.bridge.keys import values
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: `name` stands in the docs, `has_unit` says that it is a time written with its unit."""

    name: str
    parse: Callable[[str], Any]
    convert: Callable[[Any], Any] = _same
    unit: str = ""
    has_unit: bool = False


def _in_units_of(unit: SimTime) -> Callable[[float], SimTime]:
    """Converts numbers to times; a number above 0 never becomes 0."""

    def convert(number: float) -> SimTime:
        return max(values.check_length(round(number * unit)), int(number > 0))

    return convert


NUMBER = Kind("number", values.number)
WHOLE = Kind("whole number", values.integer)
TRUTH = Kind("true or false", values.boolean)
WORD = Kind("word without quotes", values.word)
TEXT = Kind("text", values.string)
FILE = Kind("file below the ini's folder", values.file_beside)
OPTIONAL_FILE = Kind("file below the ini's folder, or none", values.optional_file_beside)
COORDINATE = Kind("number, or uniform(a, b)", values.coordinate, unit="m")
POWER = Kind("text with a number", values.power, unit="dBm")
SECONDS = Kind("number", values.number, _in_units_of(SECOND), unit="s")
MILLISECONDS = Kind("number", values.number, _in_units_of(MILLISECOND), unit="ms")
TIME = Kind("time with its unit", values.duration, has_unit=True)
