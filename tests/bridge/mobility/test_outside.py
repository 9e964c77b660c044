"""Ways of a package's mobility model are checked point by point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.outside import onward
from roambus.bridge.system.errors import UserError

FIELD = (50.0, 40.0)


@dataclass(frozen=True)
class Given(Mobility):
    """A package's model that yields what it is given."""

    points: tuple[Any, ...] = ()
    update_interval: int = 100

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[Any]:
        """Yield them."""
        yield from self.points


class Leaving(Given):
    """Ends Python."""

    def onward(self, start: WayPoint, field_m: tuple[float, float], random: np.random.Generator) -> Iterator[Any]:
        """Yield nothing."""
        yield from ()
        raise SystemExit(0)


def way(*points: Any, update_interval: int = 100) -> list[WayPoint]:
    """Return the way that is checked."""
    return list(onward(Given(points, update_interval), WayPoint(0.0, 1.0, 1.0), FIELD, np.random.default_rng(1)))


def test_a_way_in_the_field_is_as_the_model_has_it() -> None:
    """To its very border; numbers of NumPy are plain ones."""
    assert way((1, 0, 0), WayPoint(2.5, np.float64(50), 40.0)) == [WayPoint(1.0, 0.0, 0.0), WayPoint(2.5, 50.0, 40.0)]


@pytest.mark.parametrize(
    ("point", "problem"),
    [
        ((3.0, math.nan, 1.0), "at 3 s it is at (nan, 1), out of the field, 50 x 40 m"),
        ((3.0, 1.0, math.inf), "out of the field"),
        ((3.0, -1e-9, 1.0), "out of the field"),
        ((3.0, 50.1, 1.0), "out of the field"),
        ((3.0, 1.0, -1.0), "out of the field"),
        ((3.0, 1.0, 40.1), "out of the field"),
        ((2.0, 1.0, 1.0), "its way-point at 2 s does not come after that at 2 s"),
        ((math.nan, 1.0, 1.0), "its way-point at nan s does not come after"),
        (None, "raised TypeError"),
        ("abc", "raised ValueError"),
    ],
)
def test_a_point_to_which_no_node_goes_is_refused_with_the_model(point: object, problem: str) -> None:
    """Else the node would silently be elsewhere, or the way never end."""
    with pytest.raises(UserError) as refused:
        way((2.0, 2.0, 2.0), point)
    assert str(refused.value).startswith(f"the mobility model {__name__}.Given")
    assert problem in str(refused.value)


def test_a_model_does_not_end_the_command() -> None:
    """Its exit would be a success without results."""
    with pytest.raises(UserError, match="raised SystemExit: 0"):
        list(onward(Leaving(), WayPoint(0.0, 1.0, 1.0), FIELD, np.random.default_rng(1)))


def test_who_moves_has_an_interval_of_updates() -> None:
    """The channel never sees another move; who stays needs none."""
    assert way(update_interval=0) == []
    with pytest.raises(UserError, match=r"has no update_interval above 0 \(SN\.node\[\*\]"):
        way((2.0, 2.0, 2.0), update_interval=0)
