"""How a transcript writes the fields of a message: "SUB f1 s3 t=4 h=1".

A notation is a text with the names of fields in braces, as `str.format` has them: "{filter} {subscriber}
t={timestamp}". The type of a field tells how its value is shown. A word that comes out empty is left out, which is
what becomes of a bit that is not set; one that is set is shown by the name of its field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from roambus.python_protocol.messages.fields import FieldType, Names

NOBODY = "-"
"""In place of a value, such as a node, where there is none."""


class Notation:
    """The notation of one class; raises ValueError if it names a field that the class does not have."""

    def __init__(self, kinds: Mapping[str, FieldType | None], text: str) -> None:
        """`kinds` has the type of each field, and None for those that are bits."""
        self._kinds = kinds
        self._words = [list(_pieces(word)) for word in text.split()]
        for name in (name for word in self._words for _, name in word if name is not None):
            if name not in kinds:
                raise ValueError(f"the notation {text!r} names {name}, which is no field; there is {', '.join(kinds)}")

    def show(self, record: Any, names: Names) -> str:
        """The fields of a record."""
        words = (self._word(word, record, names) for word in self._words)
        return " ".join(filter(None, words))

    def _word(self, word: list[tuple[str, str | None]], record: Any, names: Names) -> str:
        return "".join(literal + (self._value(name, record, names) if name else "") for literal, name in word)

    def _value(self, name: str, record: Any, names: Names) -> str:
        value, kind = getattr(record, name), self._kinds[name]
        if kind is None:
            return name if value else ""
        return NOBODY if value is None else kind.show(value, names)


def plain_notation(kinds: Mapping[str, FieldType | None]) -> str:
    """Every field as "name=value", the bits by their names, in the order of the fields."""
    return " ".join(f"{{{name}}}" if kind is None else f"{name}={{{name}}}" for name, kind in kinds.items())


def _pieces(word: str) -> Iterator[tuple[str, str | None]]:
    for literal, name, _, _ in Formatter().parse(word):
        yield literal, name
