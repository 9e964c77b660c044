"""The syntax of OMNeT++ ini files: lines, sections, comments, and key patterns of which the first match wins.

Source: OMNeT++ simulation manual, chapter "Configuring Simulations" (file syntax, wildcard patterns).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.errors import UserError

_CONTENT = re.compile(r'(?:[^"#]|"(?:[^"\\]|\\.)*")*')
_WILDCARDS = re.compile(
    r"(?P<any>\*\*)|(?P<part>\*)|(?P<char>\?)|\{(?P<low>\d*)\.\.(?P<high>\d*)\}|\{(?P<set>\^?\}?[^}]*)\}"
    r"|\[(?P<first>\d*)\.\.(?P<last>\d*)\]"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A key with wildcards, ready to match full paths."""

    text: str
    regex: re.Pattern[str]
    ranges: tuple[tuple[int, int], ...]

    def matches(self, path: str) -> bool:
        """Whether `path` is one of those that the key names."""
        match = self.regex.fullmatch(path)
        return match is not None and all(
            low <= int(number) <= high for number, (low, high) in zip(match.groups(), self.ranges, strict=True)
        )


def compile_pattern(text: str) -> Pattern:
    """Reads `*`, `**`, `?`, `{a-z}`, `{3..5}` and `[3..5]`; everything else stands for itself."""
    parts: list[str] = []
    ranges: list[tuple[int, int]] = []
    end = 0
    for match in _WILDCARDS.finditer(text):
        parts += [re.escape(text[end : match.start()]), _translate(match, ranges)]
        end = match.end()
    return Pattern(text, re.compile("".join(parts) + re.escape(text[end:])), tuple(ranges))


def _translate(match: re.Match[str], ranges: list[tuple[int, int]]) -> str:
    groups = match.groupdict()
    if groups["any"]:
        return ".*"
    if groups["part"]:
        return r"[^.]*"
    if groups["char"]:
        return r"[^.]"
    if groups["set"] is not None:
        return _translate_set(groups["set"])
    brackets = match[0][0] == "["
    low, high = (groups["first"], groups["last"]) if brackets else (groups["low"], groups["high"])
    ranges.append((int(low or 0), int(high or 2**31)))
    return r"\[(\d++)\]" if brackets else r"(\d++)"


def _translate_set(text: str) -> str:
    negated = text.startswith("^")
    members = re.sub(r"[\\\]\[^]", r"\\\g<0>", text[negated:])
    return f"[{'^' if negated else ''}{members}]"


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key = value` of the file, and the line on which it begins."""

    line: int
    pattern: Pattern
    value: str

    @property
    def key(self) -> str:
        """The key as it is written."""
        return self.pattern.text


@dataclass(slots=True)
class Ini:
    """The entries of a file, in its order."""

    path: Path
    entries: list[Entry]
    _by_name: dict[str | None, list[tuple[int, Entry]]] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {}
        for numbered in enumerate(self.entries):
            self._by_name.setdefault(_last_name(numbered[1].key), []).append(numbered)

    def find(self, path: str) -> Entry | None:
        """The entry that sets `path`: the first that matches, as in OMNeT++."""
        candidates = [*self._by_name.get(_last_name(path), ()), *self._by_name.get(None, ())]
        matching = (numbered for numbered in candidates if numbered[1].pattern.matches(path))
        first = min(matching, key=lambda numbered: numbered[0], default=None)
        return first[1] if first else None

    def error(self, entry: Entry, problem: str) -> UserError:
        """A UserError that names file, line and key."""
        return UserError(f"{self.path}:{entry.line}: {entry.key}: {problem}")


def _last_name(key: str) -> str | None:
    """The word after the last dot; None means that wildcards make it unknown."""
    name = key.rpartition(".")[2]
    return None if "{" in key or "?" in name or "*" in name else name


def parse_ini(text: str, path: Path) -> Ini:
    """Reads the text of the file `path`; raises UserError naming file and line."""
    entries: list[Entry] = []
    for number, line in _logical_lines(text):
        content = _without_comment(path, number, line)
        if content.startswith("["):
            _check_section(path, number, content)
        elif content:
            entries.append(_read_entry(path, number, content))
    return Ini(path, entries)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Joins lines that end in a backslash with the next; the number is that of the first."""
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
    if line[len(content) :].startswith('"'):
        raise UserError(f"{path}:{number}: a string does not end: {line.strip()}")
    return content.strip()


def _check_section(path: Path, number: int, content: str) -> None:
    if content != "[General]":
        raise UserError(f"{path}:{number}: section {content}: a rendered ini has the section [General] alone")


def _read_entry(path: Path, number: int, content: str) -> Entry:
    key, equals, value = (part.strip() for part in content.partition("="))
    if not (key and equals and value):
        raise UserError(f"{path}:{number}: {content!r} is not of the form key = value")
    if "${" in value:
        raise UserError(f"{path}:{number}: {key}: iteration variables stand in a sweep, not in a rendered ini")
    return Entry(number, compile_pattern(key), value)
