"""The channel: path loss between places, and who hears whom.

Places are nodes where all are static, cells of the field where nodes are mobile. Source: the design, section 7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bridge.backends.radio.compiled import compiled
from bridge.backends.radio.state import State
from bridge.errors import UserError
from bridge.scenario import ChannelParameters

OUT_OF_REACH_DB = np.inf
MOST_PLACES = 8192
"""So many places make a path loss matrix of 512 MiB."""

Places = NDArray[np.float64]
"""metres[n, 2]"""


def path_loss(places: Places, channel: ChannelParameters, random: np.random.Generator) -> NDArray[np.float64]:
    """dB[n, n] from row to column: log-normal shadowing, drawn once a pair; OUT_OF_REACH_DB beyond the reach."""
    if len(places) > MOST_PLACES:
        raise UserError(
            f"{len(places)} nodes or cells are more than the radio's {MOST_PLACES}: "
            "make SN.wirelessChannel.xCellSize and yCellSize larger, or the field smaller"
        )
    count = len(places)
    first, second = np.triu_indices(count, k=1)
    distance = np.hypot(*(places[second] - places[first]).T)
    mean, jitter = _draw_pairs(distance, channel, random)
    losses: NDArray[np.float64] = np.zeros((count, count))
    losses[first, second] = mean + jitter
    losses[second, first] = mean - jitter
    return losses


def _draw_pairs(
    distance: NDArray[np.float64], channel: ChannelParameters, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shadowing = channel.sigma_db * random.standard_normal(len(distance))
    jitter = channel.bidirectional_sigma_db / 2 * random.standard_normal(len(distance))
    at_contact = distance < channel.d0_m / 10
    ratio = np.where(at_contact, 1.0, distance / channel.d0_m)
    mean = channel.pl_d0_db + 10 * channel.path_loss_exponent * np.log10(ratio) + shadowing
    mean[distance > reach_m(channel)] = OUT_OF_REACH_DB
    return np.where(at_contact, 0.0, mean), np.where(at_contact, 0.0, jitter)


def reach_m(channel: ChannelParameters) -> float:
    """The distance beyond which no pair is connected, whatever its shadowing: three sigmas in its favour."""
    budget = channel.max_tx_power_dbm - channel.signal_delivery_threshold_dbm - channel.pl_d0_db + 3 * channel.sigma_db
    return float(channel.d0_m * 10 ** (budget / (10 * channel.path_loss_exponent)))


class Cells:
    """The cells of a field, numbered row by row."""

    def __init__(self, field_m: tuple[float, float], channel: ChannelParameters) -> None:
        self._field = np.array(field_m)
        self._size = np.array([channel.x_cell_m, channel.y_cell_m])
        self._counts = np.ceil(self._field / self._size).astype(np.int64)

    def corners(self) -> Places:
        """Metres[cell, 2]: the corner of each cell that is nearest to the origin."""
        y, x = np.divmod(np.arange(self._counts.prod()), self._counts[0])
        corners: Places = np.column_stack([x, y]) * self._size
        return corners

    def holding(self, places: Places) -> NDArray[np.int64]:
        """The cell of each place. Like Castalia it divides the field in equal parts, even where cells do not fit in."""
        index = np.floor(places / self._field * self._counts).astype(np.int64)
        index = np.where((index - 1) * self._size >= places, index - 1, np.minimum(index, self._counts - 1))
        cells: NDArray[np.int64] = index[:, 1] * self._counts[0] + index[:, 0]
        return cells


@compiled
def refresh_reach(s: State, sender: int) -> None:
    """Finds who hears `sender`, unless no node has moved since it was last found."""
    node, run = s.nodes[sender], s.run[0]
    if node.moves_seen == s.run[0].moves:
        return
    node.moves_seen = s.run[0].moves
    node.reached = 0
    for receiver in range(len(s.nodes)):
        power = node.tx_power - s.path_loss[node.cell, s.nodes[receiver].cell]
        if receiver != sender and power >= run.delivery_threshold:
            link = s.links[sender, node.reached]
            link.receiver = receiver
            link.power = power
            node.reached += 1


@compiled
def apply_moves(s: State, now: int) -> None:
    """Puts the nodes in the cells where they are at `now`."""
    run = s.run[0]
    while run.moves < len(s.moves) and s.moves[run.moves].time <= now:
        move = s.moves[run.moves]
        s.nodes[move.node].cell = move.cell
        run.moves += 1
