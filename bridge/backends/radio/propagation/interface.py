"""The interface of a path loss: pairs of places, the loss between them, and how it varies in time.

A path loss is a module that its settings class names. Its NumPy functions fill the table of losses before a run. A
compiled one can vary each way from frame to frame. `registry` has the rest for a module that leaves it out. The page
docs/guide/links.md builds one with walls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # settings may lie in the module that computes, and do not wait for Numba
    from roambus.bridge.backends.radio.state import State

Decibels = NDArray[np.float64]


class Pairs(NamedTuple):
    """Some pairs of places: nodes that stay, or middles of cells."""

    places: NDArray[np.float64]
    """metres[place, 2] of all places"""
    first: NDArray[np.int64]
    """place[pair]"""
    second: NDArray[np.int64]
    """place[pair], greater than the first"""
    distance_m: NDArray[np.float64]
    """metres[pair]"""

    @property
    def start_m(self) -> NDArray[np.float64]:
        """Metres[pair, 2] of the first places."""
        return self.places[self.first]

    @property
    def end_m(self) -> NDArray[np.float64]:
        """Metres[pair, 2] of the second places."""
        return self.places[self.second]


Draw = Callable[[Pairs], tuple[Decibels | float, Decibels | float]]
"""Draw dB[pair] that both directions lose more, and dB[pair] that the way there loses more and the way back less."""


class PathLossModel(Protocol):
    """A module that is a path loss; `law` has its settings."""

    def mean_db(self, law: Any, pairs: Pairs) -> Decibels:
        """Return dB[pair] without chance."""

    def draws(self, law: Any, random: np.random.Generator, pairs: int) -> Draw:
        """Return a function that draws shadowing for so many pairs, a block at a time, each pair once."""

    def reach_m(self, law: Any, loudest_dbm: float, threshold_dbm: float) -> float:
        """Return the distance beyond which no signal of `loudest_dbm` has the threshold; infinite if none is known."""

    def best_db(self, law: Any) -> float:
        """Return the most dB by which a way is ever better than its path loss, if `deviation` varies it."""


class Fading(Protocol):
    """A module that varies ways in time."""

    def deviation(self, s: State, way: int, now: int) -> float:
        """Return dB that the way is better than its path loss now; compiled, and called once for each frame and way.

        `s.variation.deviation[way]` still has the last value; `s.variation.seen[way]` is the function's own, 0 at
        first.
        """
