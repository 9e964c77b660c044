"""What a run was made with: the version of roambus, where that was checked out, when, and on what kind of machine.

It is a line of the run's log, and no part of the run's identity. The machine's name is left out.
"""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

_CHECKOUT = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LINE = re.compile(r"^made by (?P<code>roambus .+) on (?P<date>\d{4}-\d\d-\d\d) \d\d:\d\d UTC: (?P<machine>.+)$", re.M)


class Maker(NamedTuple):
    """What a log says of how its run was made: version and commit, date and machine."""

    code: str
    date: str
    machine: str


def maker_line() -> str:
    """The line for a run that ends now."""
    return f"made by {version_of_code()} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {_machine()}"


def read_maker(log: str) -> Maker | None:
    """What the text of a log says; None if it says nothing, as those of earlier versions."""
    found = _LINE.search(log)
    return Maker(found["code"], found["date"], found["machine"]) if found else None


@cache
def version_of_code() -> str:
    """The version of roambus, and the commit if this is a repository."""
    try:
        name = f"roambus {version('roambus')}"
    except PackageNotFoundError:
        name = "roambus"
    commit = _commit(_CHECKOUT)
    return f"{name}, commit {commit[:12]}" if commit else name


def _commit(folder: Path) -> str:
    """The commit that is checked out in a folder, read from git's own files; empty if there is none."""
    try:
        place = folder / ".git"
        if place.is_file():  # of a further worktree: it names the folder
            place = folder / place.read_text().removeprefix("gitdir:").strip()
        head = (place / "HEAD").read_text().strip()
        return _resolved(place, head.removeprefix("ref:").strip()) if head.startswith("ref:") else head
    except (OSError, UnicodeDecodeError):
        return ""


def _resolved(place: Path, reference: str) -> str:
    shared = place / "commondir"
    common = place / shared.read_text().strip() if shared.is_file() else place
    file = common / reference
    packed = common / "packed-refs"
    text = file.read_text() if file.is_file() else packed.read_text() if packed.is_file() else ""
    line = next((line for line in text.splitlines() if file.is_file() or line.endswith(f" {reference}")), "")
    found = _COMMIT.match(line)
    return found[0] if found else ""


@cache
def _machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}"
