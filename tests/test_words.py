"""Pages, messages and docstrings say who does what, in words of today."""

import re
from pathlib import Path

from tests.support.places import ROOT

ROUNDABOUT = re.compile(
    r"\b(mend(s|ed|ing)?|to the letter|take[sn]? on|thawed|reckon\w*|work(s|ed)? off|none of ours|lest|for want of|"
    r"in vain|by hand of|unto|aught|come[s]? to the same|is told of)\b",
    re.IGNORECASE,
)
"""Words that a reader has to translate: for most of them English has a verb that says who does it."""
WRITTEN = (".md", ".py", ".j2", ".toml", ".html", ".js")
FOLDERS = ("docs", "bridge", "experiments", "python_protocol", "roambus/commands", "roambus/testing", "spark")


def written() -> list[Path]:
    return [
        ROOT / "README.md",
        *(one for folder in FOLDERS for one in (ROOT / folder).rglob("*") if one.suffix in WRITTEN),
    ]


def test_no_roundabout_words() -> None:
    """Whoever wants one of them finds a plain one, such as correct, exactly, accept, compute or without success."""
    found = [
        f"{file.relative_to(ROOT)}:{number}: {match[0]}"
        for file in written()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for match in ROUNDABOUT.finditer(line)
    ]
    assert found == []
