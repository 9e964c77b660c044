"""Strangers' text on the terminal: names of folders, keys and axes can hold escape sequences, which would act there."""

from __future__ import annotations

_KEPT = "\n\t"


def escaped(text: object) -> str:
    """Return the text with its control characters written out, except for ends of lines and tabs."""
    words = str(text)
    if words.isprintable():
        return words
    return "".join(letter if letter in _KEPT or not _acts(letter) else _written(letter) for letter in words)


def _acts(letter: str) -> bool:
    """Whether it is of a control or format category; surrogates stand for bytes of names that are no text."""
    return (
        not letter.isprintable() and not letter.isspace() and not "\ud800" <= letter <= "\udfff"
    ) or letter in _BREAKS


def _written(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


_BREAKS = "\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
"""Spaces that move the cursor, or end lines in some terminals."""
