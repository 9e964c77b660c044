"""The channel: path loss between places, and the cells of a field.

Places are nodes where all are static, cells of the field where nodes are mobile. Of a large field only pairs of places
in reach of each other are kept, so memory grows with its area, not with the square. docs/radio.md, "Path loss", has
the model.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from roambus.bridge.backends.radio.pairs import Indices, Places, count_pairs, pairs_within
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.channel import ChannelSettings

MOST_IN_A_TABLE = 2048
"""With up to so many places every pair has an entry, in 32 MiB at most, so that nodes in reach are found fastest."""
MOST_PLACES, MOST_WAYS = 2**17, 2**26
"""So many places take a minute to look at; so many ways from place to place take 768 MiB."""
DRAWS_AT_ONCE = 2**16


class PathLoss(NamedTuple):
    """The ways from each of n places on which the strongest transmitter is heard, in compressed rows.

    Up to MOST_IN_A_TABLE places it is a whole table, with infinite losses: way `starts[p] + q` leads from p to q.
    """

    starts: Indices
    """index[n + 1]: the ways from place p are `starts[p]` to `starts[p + 1]`"""
    towards: NDArray[np.int32]
    """place[way], ascending within a row; a place is in its own row; empty if this is a whole table"""
    loss_db: NDArray[np.float64]
    """dB[way]"""


class _Ways(NamedTuple):
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    loss_db: NDArray[np.float64]


def path_loss(places: Places, channel: ChannelSettings, loudest_dbm: float, random: np.random.Generator) -> PathLoss:
    """Draws log-normal shadowing once a pair; raises UserError for more ways than memory is meant for.

    First the shadowing of all pairs in reach is drawn, row by row, and then the difference of their directions. Pairs
    are taken in blocks: the second draws come from a copy of the generator that has the first behind it.
    """
    _check_size("are more", len(places), MOST_PLACES, len(places))
    own = np.arange(len(places), dtype=np.int32)
    found = [_Ways(own, own, np.zeros(len(places)))]
    ways = 0
    reach = reach_m(channel)
    jitters = _advanced(random, count_pairs(reach, places))
    for first, second, distance in pairs_within(reach, places):
        mean, jitter = _draw_pairs(distance, channel, random, jitters)
        for sources, targets, loss_db in ((first, second, mean + jitter), (second, first, mean - jitter)):
            heard = np.flatnonzero(loudest_dbm - loss_db >= channel.signal_delivery_threshold_dbm)
            found.append(_Ways(_shorter(sources[heard]), _shorter(targets[heard]), loss_db[heard]))
            ways += len(found[-1].loss_db)
        _check_size("hear each other on more ways", ways, MOST_WAYS, len(places))
    return _table(found, len(places)) if len(places) <= MOST_IN_A_TABLE else _rows(found, len(places))


def _advanced(random: np.random.Generator, draws: int) -> np.random.Generator:
    """The generator as it will be after so many draws."""
    later = copy.deepcopy(random)
    for start in range(0, draws, DRAWS_AT_ONCE):
        later.standard_normal(min(DRAWS_AT_ONCE, draws - start))
    return later


def _draw_pairs(
    distance: NDArray[np.float64],
    channel: ChannelSettings,
    shadowings: np.random.Generator,
    jitters: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shadowing = channel.sigma_db * shadowings.standard_normal(len(distance))
    jitter = channel.bidirectional_sigma_db / 2 * jitters.standard_normal(len(distance))
    at_contact = distance < channel.d0_m / 10
    ratio = np.where(at_contact, 1.0, distance / channel.d0_m)
    mean = channel.pl_d0_db + 10 * channel.path_loss_exponent * np.log10(ratio) + shadowing
    return np.where(at_contact, 0.0, mean), np.where(at_contact, 0.0, jitter)


def _shorter(places: Indices) -> NDArray[np.int32]:
    return places.astype(np.int32)


def _check_size(what: str, count: int, most: int, places: int) -> None:
    if count > most:
        raise UserError(
            f"{places} nodes or cells {what} than the radio's {most}: "
            "make SN.wirelessChannel.xCellSize and yCellSize larger, or the field smaller"
        )


def _table(found: list[_Ways], places: int) -> PathLoss:
    table = np.full((places, places), np.inf)
    for ways in found:
        table[ways.sources, ways.targets] = ways.loss_db
    return PathLoss(places * np.arange(places + 1), np.zeros(0, np.int32), table.ravel())


def _rows(found: list[_Ways], places: int) -> PathLoss:
    sources, targets, losses = (np.concatenate(columns) for columns in zip(*found, strict=True))
    found.clear()  # of the largest fields it is a gigabyte
    table = coo_array((losses, (sources, targets)), shape=(places, places)).tocsr()
    return PathLoss(table.indptr.astype(np.int64), table.indices, table.data)


def reach_m(channel: ChannelSettings) -> float:
    """The distance beyond which no pair is connected, whatever its shadowing: three sigmas in its favour."""
    budget = channel.max_tx_power_dbm - channel.signal_delivery_threshold_dbm - channel.pl_d0_db + 3 * channel.sigma_db
    return float(channel.d0_m * 10 ** (budget / (10 * channel.path_loss_exponent)))


class Cells:
    """The cells of a field, numbered row by row."""

    def __init__(self, field_m: tuple[float, float], channel: ChannelSettings) -> None:
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
