"""How narrow an interval is to be: its half width, in the unit of the metric or in per cent of the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

from roambus.bridge.errors import UserError


@dataclass(frozen=True, slots=True)
class Width:
    """Half of an interval's width: `number`, or with `relative` that share of the mean."""

    number: float
    relative: bool = False

    def at(self, mean: float) -> float:
        """The half width in the unit of the mean."""
        return self.number * abs(mean) if self.relative else self.number

    def __str__(self) -> str:
        return f"{100 * self.number:g} %" if self.relative else f"{self.number:g}"


def read_width(text: str) -> Width:
    """Reads 0.02, or 2%; raises UserError."""
    share = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UserError(f"--precision {text}: write a half width above 0, such as 0.02 or 2%")
    return Width(number / 100 if share else number, share)
