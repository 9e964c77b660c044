"""What `roambus doctor` finds out, one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """What became of one thing that was looked for."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, in a line, and what to do about it unless it is ok."""

    status: Status
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A result with the name of what was looked for."""

    what: str
    result: Result

    def __str__(self) -> str:
        return f"{self.what} is {self.result.status.value} ({self.result.found}): {self.result.advice}"

    @property
    def is_ok(self) -> bool:
        """Whether nothing need be done."""
        return self.result.status is Status.OK


def ok(found: str) -> Result:
    """It is there, and works."""
    return Result(Status.OK, found)


def missing(found: str, advice: str) -> Result:
    """It is not there."""
    return Result(Status.MISSING, found, advice)


def broken(found: str, advice: str) -> Result:
    """It is there, and does not work."""
    return Result(Status.BROKEN, found, advice)


def look(what: str, check: Callable[[], Result], repair: str) -> Finding:
    """The check's result; whatever it raises is one, too, with `repair` as the advice."""
    try:
        return Finding(what, check())
    except Exception as error:  # anything can be broken, and the rest is still worth looking at
        return Finding(what, broken(f"{type(error).__name__}: {error}", repair))
