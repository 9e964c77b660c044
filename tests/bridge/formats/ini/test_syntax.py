"""The syntax of ini files: lines, patterns, and the first match."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.formats.ini.syntax import compile_pattern, parse_ini
from roambus.bridge.system.errors import UserError

FILE = Path("run.ini")


def entries(text: str) -> list[tuple[int, str, str]]:
    return [(entry.line, entry.key, entry.value) for entry in parse_ini(text, FILE).entries]


def test_comments_and_blank_lines_are_skipped() -> None:
    """A # begins a comment, but not within a string."""
    assert entries('# a\n\n[General]\na = "x # y" # z\n') == [(4, "a", '"x # y"')]


def test_a_backslash_continues_a_line() -> None:
    """The entry has the number of its first line, and later entries keep theirs."""
    assert entries('a = "x \\\ny"\nb = 1') == [(1, "a", '"x y"'), (3, "b", "1")]


def test_only_line_feeds_end_lines() -> None:
    """Other separators of Unicode belong to the text; carriage returns are dropped."""
    assert entries('a = "x\u2028y"\r\nb = 1') == [(1, "a", '"x\u2028y"'), (2, "b", "1")]


def test_a_continued_last_line_counts() -> None:
    """A file may end in the middle of a continued line."""
    assert entries("a = 1\\") == [(1, "a", "1")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\n[Config X]", r"run.ini:2: section \[Config X\]"),
        ("a = 1\nb", "run.ini:2: 'b' is not of the form key = value"),
        ("a =", "run.ini:1: 'a =' is not of the form"),
        ('a = "x', "run.ini:1: a string does not end"),
        ("include other.ini", "run.ini:1: include other.ini: a rendered ini is one file"),
        ("a = ${x=1,2}", "run.ini:1: a: iteration variables"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, message: str) -> None:
    """Sections, includes and iteration variables have no place in a rendered ini."""
    with pytest.raises(UserError, match=message):
        parse_ini(text, FILE)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("SN.node[*].X", "SN.node[12].X", True),
        ("SN.node[*].X", "SN.node[12].Y.X", False),
        ("SN.*.X", "SN.node[12].X", True),
        ("SN.node[0..3].X", "SN.node[3].X", True),
        ("SN.node[0..3].X", "SN.node[4].X", False),
        ("SN.node[2..].X", "SN.node[40].X", True),
        ("SN.node[..2].X", "SN.node[3].X", False),
        ("SN.node{1..2}", "SN.node2", True),
        ("SN.node{1..2}", "SN.node12", False),
        ("**.X", "SN.node[12].Communication.X", True),
        ("**.X", "SN.X2", False),
        ("SN.fiel?_x", "SN.field_x", True),
        ("SN.fiel?_x", "SN.fiel._x", False),
        ("SN.{a-f}ield", "SN.field", True),
        ("SN.{^a-f}ield", "SN.field", False),
        ("SN.node[1].X", "SN.node[1].X", True),
        ("SN.node[1].X", "SN.node1.X", False),
    ],
)
def test_wildcards_match_as_in_omnetpp(pattern: str, path: str, matches: bool) -> None:
    """* and ? stop at dots, ** does not, [a..b] and {a..b} are ranges of numbers, {a-z} is a set."""
    assert compile_pattern(pattern).matches(path) is matches


def test_the_first_match_wins() -> None:
    """A later entry does not count, however precise it is."""
    ini = parse_ini("SN.node[0].X = 1\n**.X = 2\nSN.node[1].X = 3", FILE)
    found = [ini.find(f"SN.node[{node}].X") for node in (0, 1)]
    assert [entry.value for entry in found if entry] == ["1", "2"]
    assert ini.find("SN.node[0].Y") is None


@given(st.lists(st.sampled_from(["SN.a.X", "SN.*.X", "**.X", "**", "SN.a.*", "SN.a.{W-Y}", "SN.b.X"]), max_size=6))
def test_the_index_finds_what_a_linear_search_finds(keys: list[str]) -> None:
    """Looking keys up by their last name changes nothing about the order."""
    ini = parse_ini("\n".join(f"{key} = {number}" for number, key in enumerate(keys)), FILE)
    linear = next((entry for entry in ini.entries if entry.pattern.matches("SN.a.X")), None)
    assert ini.find("SN.a.X") is linear


def test_an_include_is_refused_with_the_remedy() -> None:
    """Every ini of Castalia's begins with one."""
    with pytest.raises(UserError, match=r"run.ini:1: include ../Parameters/Castalia.ini: .*_castalia.ini.j2"):
        parse_ini("include ../Parameters/Castalia.ini\n[General]\nnetwork = SN\n", Path("run.ini"))


def test_all_lines_that_cannot_be_read_are_reported_at_once() -> None:
    """Of the sections only the first is told, and the lines below it are not read."""
    text = "include A.ini\n[General]\na = ${x=1,2}\nb\n[Config X]\nc\n[Config Y]\nd"
    with pytest.raises(UserError) as error:
        parse_ini(text, FILE)
    assert [line.split(": ")[0] for line in str(error.value).split("\n")] == [
        f"run.ini:{line}" for line in (1, 3, 4, 5)
    ]


@pytest.mark.parametrize(
    ("value", "first"),
    [("${nodes=28,56}", "28"), ("${1..9 step 2}", "1"), ("${repetition}", "0"), ('"${p=-10,-5}dBm"', '"-10dBm"')],
)
def test_a_variable_has_its_first_value_where_mistakes_are_collected(value: str, first: str) -> None:
    """The other keys are checked as if it were written."""
    mistakes: list[str] = []
    assert parse_ini(f"a = {value}", FILE, mistakes).entries[0].value == first
    assert len(mistakes) == 1
