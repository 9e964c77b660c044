"""Matplotlib with its own settings, and with none of a file's, so that a figure is the same wherever it is drawn.

What is drawn with is imported from here, for Matplotlib must be imported first by `import_elsewhere`: it would read
settings from the working folder, which can be a stranger's.
"""

# ruff: noqa: E402  # what reads the settings comes before everything else of Matplotlib's
from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from roambus.bridge.process import import_elsewhere

mpl: Any = import_elsewhere("matplotlib")

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.offsetbox import DrawingArea
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

__all__ = [
    "Artist",
    "Axes",
    "DrawingArea",
    "ErrorbarContainer",
    "FixedLocator",
    "FuncFormatter",
    "Line2D",
    "LogLocator",
    "NullLocator",
    "Picture",
    "styled",
]

_NO_STYLE = {"backend", "backend_fallback", "interactive"}
"""Settings of programs with windows, which cannot always be set."""


def styled(style: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Has these settings, and Matplotlib's own for all others, hold in the block."""
    own = {name: value for name, value in mpl.rcParamsDefault.items() if name not in _NO_STYLE}
    context: AbstractContextManager[None] = mpl.rc_context({**own, **style})
    return context
