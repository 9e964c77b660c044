"""A run's log: its time and memory, the versions that made it, and remarks for the user.

What a run was made with is the version of roambus, where that was checked out, when, and on what kind of machine. It is
no part of the run's identity, and the machine's name is left out. Remarks are about a recording that does not say how
the links were. The log of a run that failed has its error instead.
"""

from __future__ import annotations

import platform
import re
import traceback
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.process import cores
from roambus.bridge.recordings import EVERY_CHANNEL, gaps
from roambus.bridge.runs.layout import LOG_FILE
from roambus.bridge.scenario.definition import Scenario

_CHECKOUT = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LINE = re.compile(r"^made by (?P<code>roambus .+) on (?P<date>\d{4}-\d\d-\d\d) \d\d:\d\d UTC: (?P<machine>.+)$", re.M)
_MARK = "note: "
"""Such a line of the log is a remark."""


def log_of(scenario: Scenario, who: str, used: str, remarks: Sequence[str] = ()) -> str:
    """The log of a run that is complete: `who` is its agent and seed, `used` the time and memory that it took.

    What is remarked on its scenario stands before further `remarks`.
    """
    notes = "".join(f"{_MARK}{remark}\n" for remark in (*_remarks(scenario), *remarks))
    return f"{who}: complete in {used}\n{maker_line()}\n{notes}"


def log_of_failure(error: Exception) -> str:
    """The log of a run that ended so: a mistake of the user's needs no traceback."""
    text = f"{error}\n" if isinstance(error, UserError) else "".join(traceback.format_exception(error))
    return f"error: {error}\n\n{text}" if isinstance(error, RoambusError) else text


# What made it


class Maker(NamedTuple):
    """What a log says of how its run was made: version and commit, date and machine."""

    code: str
    date: str
    machine: str


def maker_line() -> str:
    """The line for a run that ends now."""
    machine = f"{platform.system()} {platform.machine()}, {cores()} cores"
    python = f"Python {platform.python_version()}"
    return f"made by {version_of_code()} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {machine}, {python}"


def maker_of(trace: Path) -> Maker | None:
    """What the log beside a trace says of how its run was made; None if it says nothing, or is not there."""
    log = trace.with_name(LOG_FILE)
    found = _LINE.search(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else None
    return Maker(found["code"], found["date"], found["machine"]) if found else None


@cache
def version_of_code() -> str:
    """The version of roambus, and the commit if this is a repository."""
    try:
        name = f"roambus {version('roambus')}"
    except PackageNotFoundError:  # a checkout that nobody has installed
        name = "roambus"
    commit = commit_of_code()
    return f"{name}, commit {commit[:12]}" if commit else name


COMMIT_FILE = "commit"
"""Holds the commit where the code has been sent to, without its repository."""


def commit_of_code() -> str:
    """The commit that this code is of; empty if nobody can tell."""
    sent = _CHECKOUT / COMMIT_FILE
    return sent.read_text().strip() if sent.is_file() else _commit(_CHECKOUT)


def _commit(folder: Path) -> str:
    """The commit that is checked out in a folder, read from git's own files; empty if there is none.

    A worktree's folder is named in a file, and a branch may be packed: both are git's documented layout of a
    repository.
    """
    try:
        place = folder / ".git"
        if place.is_file():  # of a further worktree: it names the folder
            place = folder / place.read_text().removeprefix("gitdir:").strip()
        head = (place / "HEAD").read_text().strip()
        return _resolved(place, head.removeprefix("ref:").strip()) if head.startswith("ref:") else head
    except (OSError, UnicodeDecodeError):
        return ""


def _resolved(place: Path, reference: str) -> str:
    """The commit of a branch, whose file git removes when it packs all branches into one."""
    shared = place / "commondir"
    common = place / shared.read_text().strip() if shared.is_file() else place
    if (file := common / reference).is_file():
        found = _COMMIT.match(file.read_text())
    else:
        packed = rf"^{_COMMIT.pattern}(?= {re.escape(reference)}$)"
        found = re.search(packed, (common / "packed-refs").read_text(), re.M)
    return found[0] if found else ""


# Remarks


def _remarks(scenario: Scenario) -> Iterator[str]:
    """Whole sentences, each of which names the file that it is about."""
    links = scenario.measured
    if links is None:
        return
    choice = links.choice(len(scenario.nodes), scenario.time_limit)
    name = Path(links.recording.name).name
    channel = int(choice.rows["channel"][0])
    named = "the mean over all channels" if channel == EVERY_CHANNEL else f"channel {channel}"
    yield f"{name}: the links are those of {named}"
    if lines := links.recording.left_out:
        told = f"{len(lines)} rows tell of a node that hears itself, the first in line {lines[0]}"
        yield f"{name}: {told}: they are left out"
    yield from (f"{name}: {gap}" for gap in gaps(choice))


def remarks_in(log: str) -> list[str]:
    """The remarks in the text of a run's log."""
    return [line.removeprefix(_MARK) for line in log.splitlines() if line.startswith(_MARK)]
