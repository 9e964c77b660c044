"""These are the findings of `roambus doctor`, one for each thing that it looks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Status(Enum):
    """Says whether a thing is there and works."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Result:
    """Holds what was found, in a line, and what to do about it unless it is ok."""

    status: Status
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Joins a result with the name of what was looked for."""

    what: str
    result: Result

    def __str__(self) -> str:
        return f"{self.what} is {self.result.status.value} ({self.result.found}): {self.result.advice}"

    @property
    def is_ok(self) -> bool:
        """Says whether nothing need be done."""
        return self.result.status is Status.OK


def ok(found: str) -> Result:
    """Says that the thing is there and works."""
    return Result(Status.OK, found)


def missing(found: str, advice: str) -> Result:
    """Says that the thing is not there."""
    return Result(Status.MISSING, found, advice)


def broken(found: str, advice: str) -> Result:
    """Says that the thing is there and does not work."""
    return Result(Status.BROKEN, found, advice)


class Check(NamedTuple):
    """What is looked for, how, and the advice if looking for it fails."""

    what: str
    check: Callable[[], Result]
    repair: str


def look_at(checks: Iterable[Check], tell: Callable[[str], object] = str) -> list[Finding]:
    """Returns what the checks find; `tell` is told before each of them what is looked at."""
    found = []
    for one in checks:
        tell(one.what)
        found.append(look(*one))
    return found


def look(what: str, check: Callable[[], Result], repair: str) -> Finding:
    """Returns what the check finds; whatever it raises is a finding, too, with `repair` as the advice."""
    try:
        return Finding(what, check())
    except Exception as error:  # anything can be broken, and the rest is still worth looking at
        return Finding(what, broken(f"{type(error).__name__}: {error}", repair))
