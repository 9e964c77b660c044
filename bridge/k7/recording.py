"""What a K7 file says: a row for each burst that a node has sent and another one has heard, or should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EVERY_CHANNEL = -1
"""The channel of a row that is the mean over all channels."""

ROW = np.dtype(
    [
        ("at", "i8"),  # ns since the first row
        ("source", "i8"),  # index in `Recording.ids`
        ("target", "i8"),
        ("channel", "i8"),
        ("rssi_dbm", "f8"),  # the mean over what was heard; NaN if nothing was
        ("delivery", "f8"),  # from 0 to 1
        ("sent", "i8"),  # frames
    ]
)


@dataclass(frozen=True, eq=False)
class Recording:
    """The rows of a file in the order of time, and what its header says; nodes are numbered in the order of ids."""

    name: str
    """The file, for messages."""
    location: str
    power_dbm: float
    """What the nodes sent with."""
    start: str
    """When the first row was recorded, as the file writes it."""
    ids: tuple[int, ...]
    """The ids of the nodes in the file, ascending."""
    rows: NDArray[Any]
    """ROW[row]"""
    left_out: tuple[int, ...] = ()
    """The lines that tell of a node which hears itself, as some public recordings have them; they are no links."""

    @property
    def channels(self) -> list[int]:
        """The channels that there are rows of, ascending; EVERY_CHANNEL comes first."""
        found: list[int] = np.unique(self.rows["channel"]).tolist()
        return found

    @property
    def lasting(self) -> int:
        """The ns from the first row to the last."""
        return int(self.rows["at"][-1])
