"""Makes path losses of a recording: each is such that the recorded strength arrives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.channel import PathLoss
from roambus.bridge.backends.radio.measured_state import CHANGE, Measured
from roambus.bridge.k7.choice import at_first, later
from roambus.bridge.scenario.measured import MeasuredLinks
from roambus.python_protocol.simtime import SimTime

NO_LIMIT_DBM = -300.0
"""No signal is too weak to reach a radio, or to be received: what was recorded says so."""


def recorded_ground(links: MeasuredLinks, nodes: int, time_limit: SimTime) -> tuple[PathLoss, Measured]:
    """The ways between all pairs of nodes at the start of the run, what they deliver, and how both change."""
    choice = links.choice(nodes, time_limit)
    loss, delivery = np.full((nodes * nodes), np.inf), np.zeros(nodes * nodes)
    loss.reshape(nodes, nodes)[np.diag_indices(nodes)] = 0.0
    way, power = choice.links, links.recording.power_dbm
    begin = at_first(choice)
    loss[way[begin]], delivery[way[begin]] = _loss(choice.rows[begin], power), choice.rows["delivery"][begin]
    rows, times = later(choice)
    changes = np.zeros(len(rows), CHANGE)
    changes["time"], changes["way"] = times, way[rows]
    changes["loss_db"], changes["delivery"] = _loss(choice.rows[rows], power), choice.rows["delivery"][rows]
    starts = nodes * np.arange(nodes + 1)
    return PathLoss(starts, np.zeros(0, np.int32), loss), Measured(delivery, changes)


def _loss(rows: NDArray[Any], power_dbm: float) -> NDArray[np.float64]:
    """dB[row]; infinite where nothing was heard."""
    loss: NDArray[np.float64] = np.nan_to_num(power_dbm - rows["rssi_dbm"], nan=np.inf)
    return loss
