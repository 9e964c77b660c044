"""Makes records of the scenario's settings for the compiled loop, so that nothing between has to name a field.

A record has a field for each number and truth value of a settings class, under the same name; whole numbers, truth
values and times have 64 bits. The compiled loop reads `run.mac.backoff_base` as Python reads
`scenario.mac.backoff_base`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, get_type_hints

import numpy as np

_CODES = {bool: "i8", int: "i8", float: "f8"}


def record_of(settings: type[Any]) -> np.dtype[np.void]:
    """The type of the record that holds the numbers of a settings class."""
    hints = get_type_hints(settings)
    return np.dtype([(name, _CODES[hints[name]]) for name in _names(settings) if hints[name] in _CODES])


def values_of(settings: Any) -> tuple[Any, ...]:
    """The numbers of an instance, in the order of its record."""
    names: tuple[str, ...] = record_of(type(settings)).names or ()
    return tuple(getattr(settings, name) for name in names)


def _names(settings: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(settings)]
