"""Findings: mistakes of an agent, each with the line that causes it if it is known."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PLACE = re.compile(r"\bat (\S+\.py:\d+)|\((\S+\.py:\d+)\)")


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake of an agent; `place` is "mine.py:12", or empty."""

    check: str
    problem: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {f'{self.place}: ' if self.place else ''}{self.problem}"


def of_error(check: str, error: BaseException) -> Finding:
    """Return an error's finding, if its text names the line."""
    text = str(error) or type(error).__name__
    match = _PLACE.search(text)
    return Finding(check, text, (match[1] or match[2]) if match else "")


def place_of_agent(thing: Any) -> str:
    """File and line of a class or function."""
    try:
        return f"{Path(inspect.getfile(thing)).name}:{inspect.getsourcelines(thing)[1]}"
    except (OSError, TypeError):
        return str(getattr(thing, "__module__", ""))
