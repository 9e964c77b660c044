"""The channel: path loss between places, and the cells of a field.

Places are nodes where all are static, cells of the field where nodes are mobile. Of a large field only pairs of places
in reach of each other are kept, so memory grows with its area, not with the square. docs/radio.md, "Path loss", has
the model.

Finds the pairs of places in reach of each other, by the squares of the plane in which they lie.

Pairs come in lexical order, for so their shadowing is drawn. A few places that are close to each other are taken at
once: only what lies in the squares around them is looked at, so that the work grows with the pairs that are found.

The arithmetic of powers: they are added by steps in dB, and tell the bit errors of PSK.

docs/radio.md, "Reception" and "Interference", has the model. Powers are dBm, ratios dB.

Makes path losses of a recording: each is such that the recorded strength arrives.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.special import erfc

from roambus.bridge.backends.radio.heap import compiled
from roambus.bridge.backends.radio.state import CHANGE, Measured
from roambus.bridge.errors import UserError
from roambus.bridge.recordings import at_first, later
from roambus.bridge.scenario.ideal import MeasuredLinks
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.python_protocol.simtime import SimTime

Places = NDArray[np.float64]
"""metres[n, 2]"""
Indices = NDArray[np.int64]

MOST_AT_ONCE = 2048
"""Among so many places all are looked at, in blocks of PAIRS_AT_ONCE, which is faster than squares."""
PAIRS_AT_ONCE = 2**16
"""So many pairs of places are looked at in one go, for they fit in the processor's cache."""
CLOSE_AT_ONCE = 32
"""So many places that are close to each other are taken at once at most."""
CLOSE = 0.25
"""Of the reach: the side of a square, and how far apart places are that are taken at once."""
MOST_SQUARES_ACROSS = 1024


class Pairs(NamedTuple):
    """Pairs of places, in lexical order."""

    first: Indices
    second: Indices
    distance: NDArray[np.float64]
    """Metres"""


class _Block(NamedTuple):
    """Places in a row, others, and which of them make pairs."""

    first: Indices
    second: Indices
    dx: NDArray[np.float64]
    dy: NDArray[np.float64]
    near: NDArray[np.bool_]


def pairs_within(reach: float, places: Places) -> Iterator[Pairs]:
    """Blocks of pairs (first, second), first < second, of places that are `reach` metres apart at most."""
    for block in _blocks(reach, places):
        i, j = np.nonzero(block.near)
        yield Pairs(block.first[i], block.second[j], np.hypot(block.dx[block.near], block.dy[block.near]))


def count_pairs(reach: float, places: Places) -> int:
    """How many pairs there are."""
    return sum(int(np.count_nonzero(block.near)) for block in _blocks(reach, places))


def _blocks(reach: float, places: Places) -> Iterator[_Block]:
    x, y = places.T.copy()
    for first, second in _candidates(reach, places):
        dx, dy = x[second] - x[first, np.newaxis], y[second] - y[first, np.newaxis]
        near = (dx * dx + dy * dy <= reach * reach) & (second > first[:, np.newaxis])
        yield _Block(first, second, dx, dy, near)


def _candidates(reach: float, places: Places) -> Iterator[tuple[Indices, Indices]]:
    """Places in a row, and ascending all that may be in reach of one of them and do not come before them."""
    count = len(places)
    if count <= MOST_AT_ONCE:
        rows = max(1, PAIRS_AT_ONCE // count)
        for start in range(0, count, rows):
            yield np.arange(start, min(start + rows, count)), np.arange(start, count)
        return
    squares, start = Squares(places, CLOSE * reach), 0
    while start < count:
        end = start + _close_to_the_first(places[start : start + CLOSE_AT_ONCE], CLOSE * reach)
        near = squares.around(places[start:end], reach)
        yield np.arange(start, end), np.sort(near[near >= start])
        start = end


def _close_to_the_first(places: Places, distance: float) -> int:
    """How many places from the first on are so close to it."""
    far = (np.abs(places - places[0]) > distance).any(axis=1)
    return int(far.argmax()) if far.any() else len(places)


class Squares:
    """Places by squares of the plane, with sides of `side` metres, or longer where that would be too many squares."""

    def __init__(self, places: Places, side: float) -> None:
        self._low = places.min(axis=0)
        self._side = max(side, float(np.ptp(places, axis=0).max()) / MOST_SQUARES_ACROSS)
        column, row = self._square(places).T
        self._columns, self._rows = int(column.max()) + 1, int(row.max()) + 1
        number = row * self._columns + column
        self._by_square = np.argsort(number, kind="stable")
        self._starts = np.searchsorted(number[self._by_square], np.arange(self._columns * self._rows + 1))

    def around(self, places: Places, distance: float) -> Indices:
        """Those in the squares that lie within the distance of the box around `places`."""
        left, bottom = np.maximum(self._square(places.min(axis=0) - distance), 0).tolist()
        right, top = self._square(places.max(axis=0) + distance).tolist()
        right, top = min(right, self._columns - 1), min(top, self._rows - 1)
        spans = [(self._starts[row + left], self._starts[row + right + 1]) for row in self._row_starts(bottom, top)]
        return np.concatenate([self._by_square[start:end] for start, end in spans])

    def _row_starts(self, bottom: int, top: int) -> range:
        return range(bottom * self._columns, (top + 1) * self._columns, self._columns)

    def _square(self, places: Places) -> Indices:
        square: Indices = np.floor((places - self._low) / self._side).astype(np.int64)
        return square


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


NOTHING_DBM = -200.0
"""This is less than any power that can be added to it."""

SHARES = 16
SHARE_DB: NDArray[np.float64] = np.array([-100.0] + [10 * math.log10(k / SHARES) for k in range(1, SHARES + 1)])
"""`SHARE_DB[k]`: what k sixteenths of the averaging time take off a power; less than one counts as nothing."""

STEP_DB: NDArray[np.float64] = np.array([3.0, 3.0, 2.5, 2.0, 1.5, 1.5, 1.0, 1.0, 0.0])
"""`STEP_DB[k]`: what the weaker of two signals adds to the stronger, k dB (rounded up) above it."""
MOST_STEPS = len(STEP_DB) - 1

LOWEST_DB, HIGHEST_DB, STEPS_PER_DB = -40.0, 15.5, 64


def bit_error_rate(snr_db: NDArray[np.float64]) -> NDArray[np.float64]:
    """BER of PSK at a signal-to-noise ratio that is already corrected by noise bandwidth / data rate."""
    rate: NDArray[np.float64] = 0.5 * erfc(np.sqrt(10 ** (snr_db / 10)))
    return rate


def _loss_table() -> NDArray[np.float64]:
    steps = round((HIGHEST_DB - LOWEST_DB) * STEPS_PER_DB)
    loss: NDArray[np.float64] = -np.log1p(-bit_error_rate(LOWEST_DB + np.arange(steps + 2) / STEPS_PER_DB))
    return loss


LOSS = _loss_table()
"""-ln(1 - BER) at LOWEST_DB, and every 1 / STEPS_PER_DB from there; above HIGHEST_DB, 1 - BER is 1 in a double."""


@compiled
def add_dbm(a: float, b: float) -> float:
    """The power of two signals together, by steps on their difference."""
    steps = min(math.ceil(abs(a - b)), MOST_STEPS)
    total: float = max(a, b) + STEP_DB[steps]
    return total


@compiled
def loss_per_bit(snr_db: float) -> float:
    """-ln(1 - BER), interpolated: a frame's survival is exact to 1e-4; `snr_db` is corrected as in bit_error_rate."""
    place = (max(snr_db, LOWEST_DB) - LOWEST_DB) * STEPS_PER_DB
    index = int(place)
    part = place - index
    loss: float = LOSS[index] + part * (LOSS[index + 1] - LOSS[index])
    return loss


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
