"""All limits on input, each with its reason and the way to raise it.

A value beyond a limit is refused before use, with advice. Environment variables raise most limits; some follow from
formats. Limits catch typing mistakes, such as seeds 0..10^9, and foreign sweeps, and do not estimate this machine.
Sizes of files and messages are limited where they are read.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

from roambus.bridge.system.errors import UserError

PREFIX = "ROAMBUS_MAX_"


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of something; the environment can set another up to `ceiling`."""

    name: str
    what: str
    usual: float
    unit: str
    reason: str
    ceiling: float = math.inf

    @property
    def variable(self) -> str:
        """The environment variable that raises it."""
        return f"{PREFIX}{self.name}"

    @property
    def most(self) -> float:
        """Return this process's limit; raise UserError for no number in the environment."""
        text = os.environ.get(self.variable)
        if text is None:
            return self.usual
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not value > 0:
            raise UserError(f"{self.variable}: {text!r} is not a number above 0")
        return min(value, self.ceiling)

    def check(self, value: float) -> None:
        """Raise ValueError with advice for a larger value, or NaN."""
        if not value <= self.most:
            limit = f"{_number(self.most)} {self.unit}".rstrip()
            raise ValueError(
                f"{self.what} {_number(value)}, above the limit of {limit}: {self.reason}; {self.way_to_raise()}"
            )

    def way_to_raise(self) -> str:
        """Return advice to raise the limit."""
        if self.most >= self.ceiling:
            return "more is not possible"
        return f"to raise it, set the environment variable {self.variable}"


def _number(value: float) -> str:
    # Python refuses to write out integers of more than 4,300 digits, and nobody would read them.
    if isinstance(value, int) and value.bit_length() > 64:
        return f"about 2^{value.bit_length() - 1}"
    return f"{value:,}" if isinstance(value, int) or (value.is_integer() and value < 1e15) else f"{value:g}"


RUNS = Limit(
    "RUNS",
    "the number of runs is",
    1_000_000,
    "runs",
    "agents, values of the axes and seeds multiply, and every run is planned before the first one starts",
)
NODES = Limit(
    "NODES",
    "the number of nodes is",
    10_000,
    "nodes",
    "time and memory of a run grow with its nodes, and have been measured up to 1,040",
    65_534,
)
LINKS = Limit(
    "LINKS",
    "the number of links is",
    100_000,
    "links",
    "a transcript shows every message to a reader, and is made for small networks",
)
IDEAL_LINKS = Limit(
    "IDEAL_LINKS",
    "the number of ideal links is",
    2_000_000,
    "links",
    "where every pair of nodes is linked, links grow with the square of the nodes, and all are known at the start",
)
DURATION = Limit(
    "SECONDS",
    "the simulated time is",
    10_000_000,
    "s",
    "that is 116 days, and agents that do something every second would keep a run going for weeks",
    1e9,
)
WORKERS = Limit("WORKERS", "the number of processes is", 1024, "processes", "each takes some 100 MiB of memory")
TRACE_ROWS = Limit(
    "TRACE_ROWS",
    "the number of rows of a trace is",
    20_000_000,
    "rows",
    "rows that are equal take almost no place in a file, and more than 100 bytes each in memory",
)
TEMPLATE_MEMORY = Limit(
    "TEMPLATE_MIB",
    "the memory of a template is",
    1024,
    "MiB",
    "a line of a template can ask for any number of letters",
)
TEMPLATE_TIME = Limit(
    "TEMPLATE_SECONDS",
    "the time to render a template is",
    60,
    "s",
    "loops in loops of a template can go on for ever",
)
TRACE_LISTED = replace(
    TRACE_ROWS,
    what="what the rows of a trace list is",
    unit="nodes and notifications",
    reason="metrics make a row of each, and the same long list takes almost no place in a file",
)
"""Follows the row limit: listed nodes and rows cost equal memory."""
