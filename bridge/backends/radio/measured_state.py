"""The arrays of measured links: what each way delivers, and when that changes.

Where all nodes are static each is a place, so that a way is a link of the recording.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHANGE = np.dtype([("time", "i8"), ("way", "i8"), ("loss_db", "f8"), ("delivery", "f8")])
"""From `time` on a way is so."""


class Measured(NamedTuple):
    """Both arrays are empty if links are modelled."""

    delivery: NDArray[np.float64]
    """share[way] of the frames that arrive without interference"""
    changes: NDArray[Any]
    """CHANGE[change], by time"""


MODELLED = Measured(np.zeros(0), np.zeros(0, CHANGE))
"""No link is a measured one."""
