"""The syntax of OMNeT++ ini files: lines, sections, comments, and patterns (the first match wins).

Castalia gets the same file, so it is read exactly as by OMNeT++. Lines ending in a backslash continue; `#` begins a
comment outside quotes.

Source: OMNeT++ simulation manual, chapter "Configuring Simulations" (file syntax, wildcard patterns).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from pathlib import Path

from roambus.bridge.system.errors import UserError

_CONTENT = re.compile(r'(?:[^"#]|"(?:[^"\\]|\\.)*")*')
_WILDCARDS = re.compile(
    r"\*\*|\*|\?|\{(?P<low>\d*)\.\.(?P<high>\d*)\}|\{(?P<set>\^?\}?[^}]*)\}|\[(?P<first>\d*)\.\.(?P<last>\d*)\]"
)


_VARIABLE = re.compile(r"\$\{(?:\s*\w+\s*=(?P<values>[^}]*)|(?P<plain>[^}]*))\}")


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


@lru_cache(maxsize=1024)
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
    used: set[int] = field(init=False)
    """The lines of entries that were the first match of a path."""
    _by_name: dict[str | None, list[tuple[int, Entry]]] = field(init=False)

    def __post_init__(self) -> None:
        self.used, self._by_name = set(), {}
        for numbered in enumerate(self.entries):
            self._by_name.setdefault(_last_name(numbered[1].key), []).append(numbered)

    def find(self, path: str) -> Entry | None:
        """The first entry that matches `path`, as in OMNeT++."""
        candidates = [*self._by_name.get(_last_name(path), ()), *self._by_name.get(None, ())]
        matching = (numbered for numbered in candidates if numbered[1].pattern.matches(path))
        _, entry = min(matching, key=itemgetter(0), default=(0, None))
        if entry is not None:
            self.used.add(entry.line)
        return entry

    def covering(self, entry: Entry, paths: Iterable[str]) -> Entry | None:
        """The earlier entry that matches all of these paths that `entry` matches, and further ones."""
        all_paths = list(paths)
        own = [path for path in all_paths if entry.pattern.matches(path)]
        for earlier in self.entries[: self.entries.index(entry)]:
            if own and all(map(earlier.pattern.matches, own)):
                return earlier if sum(map(earlier.pattern.matches, all_paths)) > len(own) else None
        return None

    def error(self, entry: Entry, problem: str) -> UserError:
        """A UserError that names file, line and key."""
        return UserError(f"{self.path}:{entry.line}: {entry.key}: {problem}")


def _last_name(key: str) -> str | None:
    """The word after the last dot; None if wildcards hide it."""
    name = key.rpartition(".")[2]
    return None if "{" in key or "?" in name or "*" in name else name


def parse_ini(text: str, path: Path, mistakes: list[str] | None = None) -> Ini:
    """Read the text of the file `path`; raises UserError naming file and lines.

    With `mistakes` adds a line for each to them instead, and reads on: each variable has its first value then.
    """
    found: list[str] = []
    entries = list(_entries(text, path, found))
    if mistakes is not None:
        mistakes += found
    elif found:
        raise UserError("\n".join(found))
    return Ini(path, entries)


def _entries(text: str, path: Path, mistakes: list[str]) -> Iterator[Entry]:
    is_general, sections = True, 0
    for number, line in logical_lines(text):
        content, is_whole = without_comment(line)
        if not is_whole:
            mistakes.append(f"{path}:{number}: a string does not end: {line.strip()}")
        elif content.startswith("["):
            is_general = content == "[General]"
            sections += not is_general
            if not is_general and sections == 1:
                mistakes.append(f"{path}:{number}: section {content}: {_SECTION}")
        elif content.split(maxsplit=1)[:1] == ["include"]:
            mistakes.append(f"{path}:{number}: {content}: {_remedy(content)}")
        elif content and is_general:
            yield from _read_entry(path, number, content, mistakes)


_SECTION = (
    "a rendered ini has the section [General] alone: move the lines of the section that you want to the top of "
    "[General], where the first line for a key counts, and leave out this and the others"
)
_DEFAULTS = "Castalia.ini"
_INSTEAD = 'network = SN, below it seed-set = {{ seed }}, and below it {% include "_castalia.ini.j2" %}'


def _remedy(include: str) -> str:
    instead = _INSTEAD if include.endswith(_DEFAULTS) else "the lines of that file"
    return f"a rendered ini is one file: write here {instead}"


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
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


def without_comment(line: str) -> tuple[str, bool]:
    """The line without its comment, and whether its last string ends."""
    match = _CONTENT.match(line)
    content = match[0] if match else ""
    return content.strip(), not line[len(content) :].startswith('"')  # whatever else ends the content begins a comment


def _read_entry(path: Path, number: int, content: str, mistakes: list[str]) -> Iterator[Entry]:
    key, equals, value = (part.strip() for part in content.partition("="))
    if not (key and equals and value):
        mistakes.append(f"{path}:{number}: {content!r} is not of the form key = value")
        return
    if "${" in value:
        variables = "iteration variables belong in a sweep, not in a rendered ini: write one value"
        mistakes.append(f"{path}:{number}: {key}: {variables}")
        value = _VARIABLE.sub(_first_value, value)
    yield Entry(number, compile_pattern(key), value)


def _first_value(variable: re.Match[str]) -> str:
    """The first value of `${name=1,2}` or `${1..9 step 2}`; 0 for a name alone, such as `${repetition}`."""
    values = variable["values"] or variable["plain"]
    return re.split(r",|\.\.", values)[0].strip() if variable["values"] or re.search("[,.]", values) else "0"
