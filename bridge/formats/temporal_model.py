"""How links vary in time: Castalia's temporal model, read from files or written from measurements.

1. A link's deviation from its mean path loss walks between levels. After a correlation time, the longest passed first,
   it is drawn from the distribution of that time and the last level.
2. After the coherence time the last level is forgotten: one distribution applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.system.errors import mistakes_at
from roambus.bridge.system.files import read_lines
from roambus.python_protocol.settings import read_number
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class Layer(NamedTuple):
    """Values in dB, and layer numbers of the same distribution."""

    values: tuple[float, ...]
    onward: tuple[int, ...] = ()


Distribution = tuple[Layer, ...]
"""Drawing begins in the first layer."""


@dataclass(frozen=True, slots=True)
class TemporalModel:
    """A file's parameters; levels ascend in steps of the resolution."""

    least_db: float
    resolution_db: float
    most_db: float
    correlation_times: tuple[SimTime, ...]
    """They descend."""
    coherence_time: SimTime
    distributions: tuple[Distribution, ...]
    """The coherence time's, then each correlation time's by level."""


def levels_between(least_db: float, resolution_db: float, most_db: float) -> int:
    """Return the number of levels between both ends, inclusive."""
    return round((most_db - least_db) / resolution_db) + 1


SIGNAL, CORRELATION, COHERENCE = "Signal variability (dB)", "Correlation times (msec)", "Coherence time (msec)"
HEADS = (SIGNAL, CORRELATION, COHERENCE)
MOST_LEVELS, MOST_TIMES, MOST_ELEMENTS = 1000, 20, 5_000_000

_LETTER = re.compile(r"[A-Za-z]")
_LAYER = re.compile(r"\s*([A-Za-z])\s*=(.*)", re.DOTALL)


def read_temporal_model(path: Path) -> TemporalModel:
    """Read a file; raise UserError with file and line, and OSError."""
    reader = _Reader()
    for position, text in read_lines(path, "%"):
        with mistakes_at(f"{path}:{position}"):
            reader.take(text)
    with mistakes_at(path):
        return reader.model()


class _Reader:
    """Takes lines one by one; the three heads precede the distributions, in any order."""

    def __init__(self) -> None:
        self._heads: dict[str, list[float]] = {}
        self._found: dict[tuple[float, int] | None, Distribution] = {}
        """By correlation time and level; the coherence time's by None."""
        self._elements = 0

    def take(self, text: str) -> None:
        head, colon, rest = text.partition(":")
        if not colon:
            raise ValueError("a line is a name or a time, a colon, and what belongs to it")
        if len(self._heads) < len(HEADS):
            self._take_head(head.strip(), rest)
        else:
            self._take_distribution(head, rest)

    def _take_head(self, name: str, rest: str) -> None:
        if name not in HEADS or name in self._heads:
            raise ValueError(f"{name[:40]!r} is not one of the three heads, each once: {'; '.join(HEADS)}")
        separator = ":" if name == SIGNAL else ","
        numbers = [read_number(part.strip()) for part in rest.split(separator)]
        _check_head(name, numbers)
        self._heads[name] = numbers

    def _take_distribution(self, head: str, rest: str) -> None:
        place = self._place([read_number(part.strip()) for part in head.split(",")])
        distribution = _read_distribution(rest)
        self._elements += sum(len(layer.values) + len(layer.onward) for layer in distribution)
        if self._elements > MOST_ELEMENTS:
            raise ValueError(f"there are more than {MOST_ELEMENTS} values")
        if self._found.setdefault(place, distribution) is not distribution:
            raise ValueError(f"{head.strip()} has a distribution already")

    def _place(self, numbers: list[float]) -> tuple[float, int] | None:
        """Return the place of the distribution with these first numbers."""
        if numbers == self._heads[COHERENCE]:
            return None
        if len(numbers) != 2 or numbers[0] not in self._heads[CORRELATION]:
            raise ValueError("a distribution begins with a correlation time and a level, or with the coherence time")
        least, resolution, _ = self._heads[SIGNAL]
        steps = (numbers[1] - least) / resolution
        place = numbers[0], round(steps)
        if abs(steps - round(steps)) > 1e-6 or not 0 <= place[1] < levels_between(*self._heads[SIGNAL]):
            raise ValueError(f"{numbers[1]:g} dB is not one of the levels")
        return place

    def model(self) -> TemporalModel:
        missing = [name for name in HEADS if name not in self._heads]
        if missing:
            raise ValueError(f"there is no line {missing[0]!r}")
        if None not in self._found:
            raise ValueError("the coherence time has no distribution")
        least, resolution, most = self._heads[SIGNAL]
        steps = list(product(self._heads[CORRELATION], range(levels_between(least, resolution, most))))
        for time, level in steps:
            if (time, level) not in self._found:
                raise ValueError(f"there is no distribution {time:g},{least + level * resolution:g}")
        *times, coherence = (round(ms * MILLISECOND) for name in HEADS[1:] for ms in self._heads[name])
        found = tuple(self._found[place] for place in (None, *steps))
        return TemporalModel(least, resolution, most, tuple(times), coherence, found)


def _check_head(name: str, numbers: Sequence[float]) -> None:
    """Raise ValueError for numbers that make no model.

    Correlation times descend: the walk uses the longest passed first.
    """
    if name == SIGNAL:
        if len(numbers) != 3 or numbers[1] <= 0 or numbers[0] >= numbers[2]:
            raise ValueError(f"{SIGNAL} is least:resolution:most, such as -31:1:11")
        if levels_between(*numbers) > MOST_LEVELS:
            raise ValueError(f"there are more than {MOST_LEVELS} levels")
    elif min(numbers) < 0.001 or max(numbers) > 1e9:
        raise ValueError(f"{name} is from 0.001 to 1e9")
    elif len(numbers) > MOST_TIMES or list(numbers) != sorted(set(numbers), reverse=True):
        raise ValueError(f"{CORRELATION} descend, and are at most {MOST_TIMES}")
    elif name == COHERENCE and len(numbers) != 1:
        raise ValueError(f"{COHERENCE} is one time")


def _read_distribution(text: str) -> Distribution:
    """Read layers between semicolons; draws begin at the first, others are named."""
    parts = [part for part in text.split(";") if part.strip()]
    named = [_LAYER.fullmatch(part) for part in parts]
    names = {match[1]: place for place, match in enumerate(named) if match}
    if len(names) < sum(match is not None for match in named):
        raise ValueError("two layers have one name")
    layers = tuple(
        _read_layer((match[2] if match else part).split(), names) for part, match in zip(parts, named, strict=True)
    )
    if not layers or not all(_ends(layers)):
        raise ValueError("a distribution needs values, and each of its layers must lead to some")
    return layers


def _read_layer(words: Sequence[str], names: dict[str, int]) -> Layer:
    letters = [word for word in words if _LETTER.fullmatch(word)]
    for letter in letters:
        if letter not in names:
            raise ValueError(f"there is no layer {letter}")
    values = tuple(read_number(word) for word in words if not _LETTER.fullmatch(word))
    return Layer(values, tuple(names[letter] for letter in letters))


def _ends(layers: Distribution) -> Iterator[bool]:
    """Return whether each layer leads to a value, found backwards in rounds."""
    ending = {place for place, layer in enumerate(layers) if layer.values}
    for _ in layers:
        ending |= {place for place, layer in enumerate(layers) if ending.intersection(layer.onward)}
    return (place in ending for place in range(len(layers)))
