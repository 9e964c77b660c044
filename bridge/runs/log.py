"""A run's log: its time and memory, the versions that made it, and remarks for the user.

It names roambus' version and checkout, the date, and the kind of machine, not its name; none is part of the run's
identity. Remarks warn of recordings without the links' quality. A failed run's log has its error.
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

from roambus.bridge.formats.recordings import EVERY_CHANNEL, gaps
from roambus.bridge.runs.layout import LOG_FILE
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.process import cores

_CHECKOUT = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LINE = re.compile(r"^made by (?P<code>roambus .+) on (?P<date>\d{4}-\d\d-\d\d) \d\d:\d\d UTC: (?P<machine>.+)$", re.M)
_CPU = re.compile(r": complete in [\d.]+ s, ([\d.]+) s of CPU")
NOTHING_PUBLISHED = "nothing was published"
_MARK = "note: "
"""Marks a remark in the log."""


def log_of(scenario: Scenario, who: str, used: str, remarks: Sequence[str] = ()) -> str:
    """The log of a complete run: `who` is agent and seed, `used` time and memory.

    Remarks on the scenario precede further `remarks`.
    """
    notes = "".join(f"{_MARK}{remark}\n" for remark in (*_remarks(scenario), *remarks))
    return f"{who}: complete in {used}\n{maker_line()}\n{notes}"


def log_of_failure(error: Exception) -> str:
    """The log of a failed run; a user's mistake needs no traceback."""
    text = f"{error}\n" if isinstance(error, UserError) else "".join(traceback.format_exception(error))
    return f"error: {error}\n\n{text}" if isinstance(error, RoambusError) else text


# What made it


class Maker(NamedTuple):
    """Version, commit, date and machine that made a run."""

    code: str
    date: str
    machine: str


def maker_line() -> str:
    """The line for a run that ends now."""
    machine = f"{platform.system()} {platform.machine()}, {cores()} cores"
    python = f"Python {platform.python_version()}"
    return f"made by {version_of_code()} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {machine}, {python}"


def maker_of(trace: Path) -> Maker | None:
    """The maker in the log beside a trace; None if absent."""
    log = trace.with_name(LOG_FILE)
    found = _LINE.search(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else None
    return Maker(found["code"], found["date"], found["machine"]) if found else None


def cpu_seconds(log: Path) -> float:
    """The CPU time in a complete run's log; 0 if absent."""
    found = _CPU.search(log.read_text(encoding="utf-8", errors="replace"))
    return float(found[1]) if found else 0.0


@cache
def version_of_code() -> str:
    """The version of roambus, with the commit in a repository."""
    try:
        name = f"roambus {version('roambus')}"
    except PackageNotFoundError:  # a checkout that nobody has installed
        name = "roambus"
    commit = commit_of_code()
    return f"{name}, commit {commit[:12]}" if commit else name


COMMIT_FILE = "commit"
"""Holds the commit of code copied without its repository."""


def commit_of_code() -> str:
    """The commit of this code; empty if unknown."""
    sent = _CHECKOUT / COMMIT_FILE
    return sent.read_text().strip() if sent.is_file() else _commit(_CHECKOUT)


def _commit(folder: Path) -> str:
    """A folder's checked-out commit, read from git's files; empty if there is none.

    Worktree files and packed branches are git's documented layout.
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
    workload, links = scenario.workload, scenario.measured
    if not (workload.subscriptions or workload.publications or workload.commands):
        yield "no node subscribes or publishes: set Application.roles, filter and publishInterval for traffic"
    if passing := scenario.ideal.passing:
        yield f"{passing} contacts end when they begin: they are left out"
    if links is None:
        return
    excerpt = links.excerpt(len(scenario.nodes), scenario.time_limit)
    name = Path(links.recording.name).name
    channel = int(excerpt.rows["channel"][0])
    named = "the mean over all channels" if channel == EVERY_CHANNEL else f"channel {channel}"
    yield f"{name}: the links are those of {named}"
    if lines := links.recording.left_out:
        remark = f"{len(lines)} rows tell of a node that hears itself, the first in line {lines[0]}"
        yield f"{name}: {remark}: they are left out"
    yield from (f"{name}: {gap}" for gap in gaps(excerpt))


def remarks_in(log: str) -> list[str]:
    """The remarks in the text of a run's log."""
    return [line.removeprefix(_MARK) for line in log.splitlines() if line.startswith(_MARK)]
