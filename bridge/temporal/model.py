"""The temporal model of Castalia: how far a link is from its mean path loss, as a walk between levels.

After a correlation time the deviation is drawn from a distribution that belongs to that time and to the level at which
the link was; the longest correlation time that has passed is used first, and then the next. After the coherence time or
more a link has forgotten where it was: there is one distribution for that.

A distribution is a set of layers. One of the elements of a layer is drawn, each as likely as the others: a value in dB,
or another layer to draw from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from roambus.python_protocol.simtime import SimTime


class Layer(NamedTuple):
    """Values in dB, and the numbers of layers of the same distribution."""

    values: tuple[float, ...]
    onward: tuple[int, ...] = ()


Distribution = tuple[Layer, ...]
"""Drawing begins in the first layer."""


@dataclass(frozen=True, slots=True)
class TemporalModel:
    """The parameters of a file. Levels are from least to most, in steps of the resolution."""

    least_db: float
    resolution_db: float
    most_db: float
    correlation_times: tuple[SimTime, ...]
    """They descend."""
    coherence_time: SimTime
    distributions: tuple[Distribution, ...]
    """That of the coherence time, and then those of each correlation time, in the order of levels."""

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return levels_between(self.least_db, self.resolution_db, self.most_db)


def levels_between(least_db: float, resolution_db: float, most_db: float) -> int:
    """How many levels there are in steps of the resolution, both ends included."""
    return round((most_db - least_db) / resolution_db) + 1
