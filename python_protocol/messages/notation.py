"""How transcripts write messages: "SUB f1 s3 t=4 h=1".

A notation has field names in braces: "{filter} {subscriber} t={timestamp}". An empty word is left out, such as an unset
bit; a set one shows its field's name. A question mark also leaves out zero, empty or None: "stay={stay}?". The word
"..." stands for all other fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any, NamedTuple, Self

from roambus.python_protocol.messages.fields import NOBODY, FieldType, Names

OTHERS = "..."
"""The word for all other fields; the default notation."""


class Notation:
    """The notation of one class; raises ValueError if it names no field."""

    def __init__(self, kinds: Mapping[str, FieldType | None], text: str) -> None:
        """`kinds` has the type of each field, None for bits."""
        self._kinds = kinds
        named = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        for name in named:
            if name not in kinds:
                raise ValueError(
                    f"the notation {text!r} names {name}, which is not a field; there is {', '.join(kinds)}"
                )
        others = " ".join(_plain(name, kind) for name, kind in kinds.items() if name not in named)
        words = " ".join(others if word == OTHERS else word for word in text.split())
        self._words = [_Word.of(word) for word in words.split()]

    def show(self, record: Any, names: Names) -> str:
        """The fields of a record."""
        return " ".join(filter(None, (self._word(word, record, names) for word in self._words)))

    def _word(self, word: _Word, record: Any, names: Names) -> str:
        if word.is_optional and not any(getattr(record, name) for _, name in word.pieces if name):
            return ""
        return "".join(literal + (self._value(name, record, names) if name else "") for literal, name in word.pieces)

    def _value(self, name: str, record: Any, names: Names) -> str:
        value, kind = getattr(record, name), self._kinds[name]
        if kind is None:
            return name if value else ""
        return NOBODY if value is None else kind.show(value, names)


class _Word(NamedTuple):
    """A word of a notation: literal texts, each with any field behind it."""

    pieces: tuple[tuple[str, str | None], ...]
    is_optional: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """The word that this text is."""
        pieces = ((literal, name) for literal, name, _, _ in Formatter().parse(text.removesuffix("?")))
        return cls(tuple(pieces), text.endswith("?"))


def _plain(name: str, kind: FieldType | None) -> str:
    """Return the word of an unnamed field: "name=value", a message in parentheses, a bit's name."""
    if kind is None:
        return f"{{{name}}}"
    return f"{name}=({{{name}}})" if getattr(kind, "holds_message", False) else f"{name}={{{name}}}"
