"""The syntax of OMNeT++ ini files: lines, sections, comments, and patterns (the first match wins).

Castalia gets the same file, so it is read exactly as by OMNeT++. Lines ending in a backslash continue; `#` begins a
comment outside quotes.

Source: OMNeT++ simulation manual, chapter "Configuring Simulations" (file syntax, wildcard patterns).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from roambus.bridge.errors import UserError

_CONTENT = re.compile(r'(?:[^"#]|"(?:[^"\\]|\\.)*")*')
_WILDCARDS = re.compile(
    r"\*\*|\*|\?|\{(?P<low>\d*)\.\.(?P<high>\d*)\}|\{(?P<set>\^?\}?[^}]*)\}|\[(?P<first>\d*)\.\.(?P<last>\d*)\]"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A key with wildcards, ready to match full paths."""

    text: str
    regex: re.Pattern[str]
    ranges: tuple[tuple[int, int], ...]

    def matches(self, path: str) -> bool:
        """Whether the key matches `path`."""
        match = self.regex.fullmatch(path)
        return match is not None and all(
            low <= int(number) <= high for number, (low, high) in zip(match.groups(), self.ranges, strict=True)
        )


def compile_pattern(text: str) -> Pattern:
    """Compile `*`, `**`, `?`, `{a-z}`, `{3..5}` and `[3..5]`; all else is literal."""
    parts: list[str] = []
    ranges: list[tuple[int, int]] = []
    end = 0
    for match in _WILDCARDS.finditer(text):
        parts += [re.escape(text[end : match.start()]), _translate(match, ranges)]
        end = match.end()
    return Pattern(text, re.compile("".join(parts) + re.escape(text[end:])), tuple(ranges))


_SIMPLE = {"**": ".*", "*": r"[^.]*", "?": r"[^.]"}


def _translate(match: re.Match[str], ranges: list[tuple[int, int]]) -> str:
    """The wildcard as a regular expression, with any number for a range, which `matches` compares."""
    if match[0] in _SIMPLE:
        return _SIMPLE[match[0]]
    if (text := match["set"]) is not None:
        members = re.sub(r"[\\\]\[^]", r"\\\g<0>", text.removeprefix("^"))
        return f"[{'^' if text.startswith('^') else ''}{members}]"
    brackets = match[0][0] == "["
    low, high = (match["first"], match["last"]) if brackets else (match["low"], match["high"])
    ranges.append((int(low or 0), int(high or 2**31)))
    return r"\[(\d++)\]" if brackets else r"(\d++)"


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key = value` of the file, with its first line."""

    line: int
    pattern: Pattern
    value: str

    @property
    def key(self) -> str:
        """The key as written."""
        return self.pattern.text


@dataclass(slots=True)
class Ini:
    """The entries of a file, in its order.

    Matching thousands of nodes' keys is slow, so entries are indexed by their key's last name, seldom a wildcard.
    """

    path: Path
    entries: list[Entry]
    _by_name: dict[str | None, list[tuple[int, Entry]]] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {}
        for numbered in enumerate(self.entries):
            self._by_name.setdefault(_last_name(numbered[1].key), []).append(numbered)

    def find(self, path: str) -> Entry | None:
        """The first entry that matches `path`, as in OMNeT++."""
        candidates = [*self._by_name.get(_last_name(path), ()), *self._by_name.get(None, ())]
        matching = (numbered for numbered in candidates if numbered[1].pattern.matches(path))
        return min(matching, key=itemgetter(0), default=(0, None))[1]

    def error(self, entry: Entry, problem: str) -> UserError:
        """A UserError that names file, line and key."""
        return UserError(f"{self.path}:{entry.line}: {entry.key}: {problem}")


def _last_name(key: str) -> str | None:
    """The word after the last dot; None if wildcards hide it."""
    name = key.rpartition(".")[2]
    return None if "{" in key or "?" in name or "*" in name else name


def parse_ini(text: str, path: Path) -> Ini:
    """Read the text of the file `path`; raises UserError naming file and line."""
    entries: list[Entry] = []
    for number, line in _logical_lines(text):
        content = _without_comment(path, number, line)
        if content.startswith("[") and content != "[General]":
            raise UserError(f"{path}:{number}: section {content}: a rendered ini has the section [General] alone")
        if content and not content.startswith("["):
            entries.append(_read_entry(path, number, content))
    return Ini(path, entries)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Join lines at trailing backslashes; the number is the first line's."""
    start, joined = 0, ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        start = start or number
        if line.endswith("\\"):
            joined += line[:-1]
            continue
        yield start, joined + line
        start, joined = 0, ""
    if joined:
        yield start, joined


def _without_comment(path: Path, number: int, line: str) -> str:
    match = _CONTENT.match(line)
    content = match[0] if match else ""
    if line[len(content) :].startswith('"'):  # whatever else ends the content begins a comment
        raise UserError(f"{path}:{number}: a string does not end: {line.strip()}")
    return content.strip()


def _read_entry(path: Path, number: int, content: str) -> Entry:
    key, equals, value = (part.strip() for part in content.partition("="))
    if content.split(maxsplit=1)[0] == "include":
        remedy = "roambus has the defaults of Parameters/Castalia.ini; copy what else you need of the file here"
        raise UserError(f"{path}:{number}: {content}: a rendered ini is one file: remove this line: {remedy}")
    if not (key and equals and value):
        raise UserError(f"{path}:{number}: {content!r} is not of the form key = value")
    if "${" in value:
        raise UserError(f"{path}:{number}: {key}: iteration variables belong in a sweep, not in a rendered ini")
    return Entry(number, compile_pattern(key), value)
