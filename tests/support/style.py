"""Finds sentences that break the style page of `docs/contributing.md`, in pages and docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LONGEST = 25
"""Words of a sentence at most."""
_BLOCKS = re.compile(r"^ *(```|~~~).*?^ *\1[^\n]*$|^( {4,}|\||<)[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
"""Code, tables and HTML of a page."""
_CODE = re.compile(r"``[^`]*``|`[^`]*`|\{[%{].*?[%}]\}")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+(?=[A-Z`\"'(*_])|\n\s*\n|\n(?=\s*(?:[-*#>]|\d+\.)\s)|\n(?=#)")
_CLAUSE = re.compile(
    r"^\W*(what|who|whoever|whatever|whom)\b"
    r"|\b(of|by|to|from|for|with|and|or|than|on|in|at|about|as|if|but|is|are|see|has|knows?|says?) "
    r"(what|who|whoever|whatever|whom)\b",
    re.IGNORECASE,
)
"""A clause that stands for a noun, at the beginning of a sentence or behind a preposition, a conjunction or a verb."""
_REFUSED = re.compile(r"^\W*(what|who|whoever|whatever)\b|\b(nobody|whoever|tells?|told|telling|lest)\b", re.IGNORECASE)


class Sentence(NamedTuple):
    """A sentence without its code, and the place of the text that it is in."""

    place: str
    text: str

    @property
    def words(self) -> int:
        """The number of its words."""
        return len(re.findall(r"[\w'-]*\w", self.text))

    @property
    def is_question(self) -> bool:
        """Whether it asks something."""
        return self.text.rstrip("\"')*_ ").endswith("?")

    def refused(self) -> str:
        """The words at which the sentence breaks a rule that is checked; empty if there are none."""
        found = None if self.is_question else _REFUSED.search(self.text)
        return found[0].strip() if found else ""

    def clauses(self) -> int:
        """The number of clauses with "what" or "who" that stand for a noun."""
        return 0 if self.is_question else sum(1 for _ in _CLAUSE.finditer(self.text))


def sentences_of(file: Path) -> Iterator[Sentence]:
    """The sentences of a page, or of the docstrings of a module."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        for line, docstring in _docstrings(ast.parse(text)):
            yield from _sentences(f"{file}:{line}", docstring)
    else:
        yield from _sentences(str(file), _BLOCKS.sub("\n\n", text))


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each docstring, also the one below an attribute, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, re.sub(r"(?m)^ {4,}", "", text)


def _sentences(place: str, text: str) -> Iterator[Sentence]:
    plain = _LINK.sub(r"\1", _CODE.sub("code", text))
    for part in _END.split(plain):
        if words := " ".join((part or "").split()).strip("#-*> "):
            yield Sentence(place, words)
