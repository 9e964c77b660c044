"""The style of figures: formats, size and colours, by `--format`, `--size` and `--style`.

The command line reads these options before it imports Matplotlib. Sizes suit a screen, a journal's column or page, and
a slide. Text stays text in SVG and PDF, for a journal's editor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from roambus.bridge.system.errors import UserError
from roambus.python_protocol.settings import unknown

FORMATS = ("png", "svg", "pdf")
SIZES = MappingProxyType({"screen": (6.4, 4.0), "column": (3.3, 2.5), "page": (7.2, 4.2), "slide": (10.0, 5.6)})
"""Width and height in inches: roambus' own, a journal's column and page width, a slide.

Panels share the width, each in this ratio of width to height; in a narrow figure they stand one below another.
"""
STYLES = ("colour", "grey", "slide")

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
_SIZE = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)x(\d{1,4}(?:\.\d{1,4})?)(in|cm|mm)?")
_LEAST, _MOST = 1.0, 40.0

_BASE: Mapping[str, Any] = {
    "svg.hashsalt": "roambus",
    "svg.fonttype": "none",  # text stays text, which can be searched and edited
    "pdf.fonttype": 42,
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.parse_math": False,
}
# A journal's least type size is mostly 7 points.
_SMALL = {
    "font.size": 8,
    **dict.fromkeys(("axes.titlesize", "axes.labelsize"), 8),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7),
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "errorbar.capsize": 2,
    "axes.linewidth": 0.6,
}
_LARGE = {
    "font.size": 17,
    "axes.titlesize": 17,
    "axes.titlepad": 12,
    "lines.linewidth": 2.5,
    "lines.markersize": 9,
    "errorbar.capsize": 5,
}
_USUAL = {"lines.linewidth": 1.5, "lines.markersize": 6, "errorbar.capsize": 3}
_NARROW = 5.0
"""In inches: a narrower figure has no room for line names beside its axes."""


@dataclass(frozen=True, slots=True)
class FigureStyle:
    """The written formats, the size in inches, the style's name, and the coloured agents."""

    formats: tuple[str, ...] = ("png", "svg")
    size: tuple[float, float] = SIZES["screen"]
    style: str = "colour"
    agents: tuple[str, ...] = ()
    """The results' agents in order: each has one colour in all figures of a folder."""

    @property
    def settings(self) -> dict[Any, Any]:
        """Matplotlib's rcParams for this style, over the user's."""
        return {**_BASE, **(_LARGE if self.style == "slide" else _SMALL if self.is_narrow else _USUAL)}

    @property
    def is_narrow(self) -> bool:
        """Whether line names stand below the axes, not beside them."""
        return self.size[0] < _NARROW

    @property
    def is_grey(self) -> bool:
        """Whether only marker and dash separate lines."""
        return self.style == "grey"


USUAL = FigureStyle()


def read_style(formats: str, size: str, style: str) -> FigureStyle:
    """The style of three options; raises UserError naming the option."""
    chosen = tuple(dict.fromkeys(formats.split(",")))
    for name in chosen:
        if name not in FORMATS:
            raise UserError(f"--format: {unknown('format', name, dict.fromkeys(FORMATS))}")
    if style not in STYLES:
        raise UserError(f"--style: {unknown('style', style, dict.fromkeys(STYLES))}")
    return FigureStyle(chosen, SIZES.get(size) or _inches(size), style)


def _inches(text: str) -> tuple[float, float]:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise UserError(f"--size: {text!r}: write WIDTHxHEIGHT, such as 3.3x2.5, 88x60mm, or one of {', '.join(SIZES)}")
    width, height = (float(number) * _UNITS[found[3] or "in"] for number in found.group(1, 2))
    if not all(_LEAST <= length <= _MOST for length in (width, height)):
        raise UserError(f"--size: {text}: a figure is {_LEAST:g} to {_MOST:g} inches wide and high")
    return width, height
