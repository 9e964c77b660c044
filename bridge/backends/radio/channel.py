"""The channel: a table of the path losses between places, the cells of a field, and recorded losses.

Model: docs/reference/radio.md, "Path loss" and "Measured links", as in Castalia's WirelessChannel. Places are static
nodes, or cells of the field if nodes are mobile. `propagation` has the laws; a pair's loss does not change with time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from roambus.bridge.backend import Course
from roambus.bridge.backends.radio.propagation.interface import Decibels, Pairs
from roambus.bridge.backends.radio.propagation.registry import model_of
from roambus.bridge.backends.radio.state import CHANGE, MOVE, Measured
from roambus.bridge.formats.recordings import at_first, later
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.paths import Path, positions, turn
from roambus.bridge.mobility.static import Static
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.ideal import MeasuredLinks
from roambus.bridge.scenario.propagation import Propagation
from roambus.bridge.scenario.radio import ChannelSettings, GivenLosses
from roambus.bridge.system.code import errors_of
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

Places = NDArray[np.float64]
"""metres[n, 2]"""
Metres = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_AT_ONCE = 2048
"""Up to this many places, trying all pairs in blocks beats squares."""
PAIRS_AT_ONCE = 2**16
"""Pairs of places that fit into the processor's cache."""
CLOSE_AT_ONCE = 32
"""The most close places handled at once."""
CLOSE = 0.25
"""Square side, and spread of places handled at once, as shares of the reach."""
MOST_SQUARES_ACROSS = 1024

MOST_IN_A_TABLE = 2048
"""Up to this, a table of all pairs (32 MiB) is fastest."""
MOST_PLACES, MOST_WAYS = 2**17, 2**26
"""Limits of places (a minute's search) and of paths between them (768 MiB)."""

NO_LIMIT_DBM = -300.0
"""Every signal reaches a radio and is received, as recorded."""


class Ground(NamedTuple):
    """The places of a run, and the signals whose ways count."""

    places: Places
    """nodes, or the corners of cells"""
    loudest_dbm: float
    threshold_dbm: float
    middle_m: tuple[float, float] = (0.0, 0.0)
    """from a corner to the middle of its cell"""


class PathLoss(NamedTuple):
    """Ways from n places within the strongest transmitter's reach, in compressed rows.

    Up to MOST_IN_A_TABLE places a whole table, partly infinite: way `starts[p] + q` leads from p to q.
    """

    starts: Indices
    """index[n + 1]: place p has the ways `starts[p]` to `starts[p + 1]`"""
    towards: NDArray[np.int32]
    """place[way], ascending per row, which includes its own place; empty for a whole table"""
    loss_db: NDArray[np.float64]
    """dB[way]"""


_Ways = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Sources, targets, and dB"""


def path_loss(
    law: Propagation,
    ground: Ground,
    random: np.random.Generator,
    given: GivenLosses | None = None,
) -> PathLoss:
    """Compute the loss of each pair within reach; raise UserError for too many ways, or losses that are no numbers.

    Given losses replace or extend the law's, however weak.
    """
    places = ground.places
    _check_size("are more", len(places), MOST_PLACES, len(places))
    own = np.arange(len(places), dtype=np.int32)
    found: list[_Ways] = [(own, own, np.zeros(len(places)))]
    ways = 0
    for first, second, there, back in _losses(law, ground, random):
        for sources, targets, loss_db in ((first, second, there), (second, first, back)):
            heard = np.flatnonzero(ground.loudest_dbm - loss_db >= ground.threshold_dbm)
            found.append((sources[heard].astype(np.int32), targets[heard].astype(np.int32), loss_db[heard]))
            ways += len(heard)
        _check_size("hear each other on more ways", ways, MOST_WAYS, len(places))
    if given is not None:
        found = _replaced(found, given, len(places))
    return _table(found, len(places)) if len(places) <= MOST_IN_A_TABLE else _rows(found, len(places))


def _losses(
    law: Propagation, ground: Ground, random: np.random.Generator
) -> Iterator[tuple[Indices, Indices, Decibels, Decibels]]:
    """Yield blocks of pairs: first, second, dB there, and dB back."""
    model, places = model_of(law), ground.places
    middles = places + ground.middle_m
    with errors_of(law.MODULE, f"the path loss {law.MODULE}"):
        reach = _reach(law, ground)
        draw = model.draws(law, random, count_pairs(reach, places))
        for first, second, distance in pairs_within(reach, places):
            pairs = Pairs(middles, first, second, distance)
            more, apart = draw(pairs)
            mean = model.mean_db(law, pairs) + more
            there, back = mean + apart, mean - apart
            _check_losses(law, pairs, there + back)
            yield first, second, there, back


def _reach(law: Propagation, ground: Ground) -> float:
    """Return the distance within which ways are sought; refuse one that would silently leave all out."""
    reach = model_of(law).reach_m(law, ground.loudest_dbm, ground.threshold_dbm)
    if not reach >= 0:
        raise UserError(f"{law.MODULE}: reach_m returns {reach}: it must be metres, from 0 to infinity")
    return min(reach, _diagonal(ground.places))


def _check_losses(law: Propagation, pairs: Pairs, sums: Decibels) -> None:
    """Refuse losses of another number, and no numbers: NaN would silently be no way, and -inf drown all others."""
    if np.shape(sums) != pairs.distance_m.shape:
        raise UserError(f"{law.MODULE}: for {len(pairs.distance_m)} pairs it has losses of the shape {np.shape(sums)}")
    if sums.dtype.kind == "c":
        raise UserError(f"{law.MODULE}: its losses are complex numbers")
    wrong = ~(sums > -np.inf)
    if wrong.any():
        (x1, y1), (x2, y2) = (ends[wrong][0].tolist() for ends in (pairs.start_m, pairs.end_m))
        raise UserError(f"{law.MODULE}: from ({x1:g}, {y1:g}) to ({x2:g}, {y2:g}) m the path loss is no number")


def _diagonal(places: Places) -> float:
    """Return a distance within which all places are."""
    return math.hypot(*np.ptp(places, axis=0)) * (1 + 1e-9) + 1e-9


def _replaced(found: list[_Ways], given: GivenLosses, places: int) -> list[_Ways]:
    """Return the ways not given, then the given ones."""
    sources, targets = (np.array(ends, np.int32) for ends in (given.sources, given.targets))
    codes = sources.astype(np.int64) * places + targets
    kept = []
    for drawn in found:
        is_drawn = ~np.isin(drawn[0].astype(np.int64) * places + drawn[1], codes)
        kept.append((drawn[0][is_drawn], drawn[1][is_drawn], drawn[2][is_drawn]))
    return [*kept, (sources, targets, np.array(given.losses_db))]


def _check_size(what: str, count: int, most: int, places: int) -> None:
    if count > most:
        raise UserError(
            f"{places} nodes or cells {what} than the radio's {most}: "
            "make SN.wirelessChannel.xCellSize and yCellSize larger, or the field smaller"
        )


def _table(found: list[_Ways], places: int) -> PathLoss:
    table = np.full((places, places), np.inf)
    for sources, targets, loss_db in found:
        table[sources, targets] = loss_db
    return PathLoss(places * np.arange(places + 1), np.zeros(0, np.int32), table.ravel())


def _rows(found: list[_Ways], places: int) -> PathLoss:
    sources, targets, losses = (np.concatenate(columns) for columns in zip(*found, strict=True))
    found.clear()  # of the largest fields it is a gigabyte
    table = coo_array((losses, (sources, targets)), shape=(places, places)).tocsr()
    return PathLoss(table.indptr.astype(np.int64), table.indices, table.data)


class Cells:
    """The cells of a field, numbered row by row."""

    def __init__(self, field_m: tuple[float, float], channel: ChannelSettings) -> None:
        self._field = np.array(field_m)
        self._size = np.array([channel.x_cell_m, channel.y_cell_m])
        self._counts = np.ceil(self._field / self._size).astype(np.int64)

    @property
    def middle_m(self) -> tuple[float, float]:
        """From a cell's corner to its middle."""
        width, height = self._size.tolist()
        return width / 2, height / 2

    def corners(self) -> Places:
        """Metres[cell, 2]: each cell's corner nearest to the origin."""
        y, x = np.divmod(np.arange(self._counts.prod()), self._counts[0])
        return np.asarray(np.column_stack([x, y]) * self._size, np.float64)

    def holding(self, places: Places) -> NDArray[np.int64]:
        """Return each place's cell, in equal parts like Castalia, even if cells do not fit."""
        index = np.floor(places / self._field * self._counts).astype(np.int64)
        index = np.where((index - 1) * self._size >= places, index - 1, np.minimum(index, self._counts - 1))
        cells: NDArray[np.int64] = index[:, 1] * self._counts[0] + index[:, 0]
        return cells


def cell_changes(
    mobilities: Sequence[Mobility], paths: Sequence[Path], cells: Cells, time_limit: SimTime
) -> NDArray[np.void]:
    """Return MOVE[m] by (time, node): first sightings in a new cell."""
    changes = [
        _changes_of(node, mobility, points, cells, time_limit)
        for node, (mobility, points) in enumerate(zip(mobilities, paths, strict=True))
    ]
    moves = np.concatenate(changes) if changes else np.zeros(0, MOVE)
    return moves[np.lexsort((moves["node"], moves["time"]))]


def _changes_of(node: int, mobility: Mobility, points: Path, cells: Cells, time_limit: SimTime) -> NDArray[np.void]:
    if isinstance(mobility, Static) or len(points) == 1:
        return np.zeros(0, MOVE)
    times = np.arange(0, time_limit, mobility.update_interval)
    seen_in = cells.holding(positions(points, times / SECOND))
    return _sightings(node, times[1:], seen_in)


def _sightings(node: NodeId, times: NDArray[np.int64], seen_in: NDArray[np.int64]) -> NDArray[np.void]:
    """Return MOVE[m] of a node that was seen in the first cell before these times, and then in a cell at each."""
    new = np.flatnonzero(np.diff(seen_in))
    moves = np.zeros(len(new), MOVE)
    moves["time"], moves["node"], moves["cell"] = times[new], node, seen_in[new + 1]
    return moves


class Steering:
    """The cells of nodes that their agents move.

    A node is seen at the same instants as by a movement file: the multiples of its interval.
    """

    def __init__(self, nodes: Mapping[NodeId, Steered], cells: Cells, time_limit: SimTime) -> None:
        self._nodes, self._cells, self._limit = nodes, cells, time_limit

    def follow(self, course: Course, moves: NDArray[Any], done: int, seen_in: int) -> NDArray[Any]:
        """Return MOVE[m] with the course in place of the rest of the node's way.

        `done` of the moves have happened, and by the last of its own the node is `seen_in` a cell.
        """
        pending = moves[done:]
        kept = pending[(pending["node"] != course.node) | (pending["time"] <= course.at)]
        before = kept["cell"][kept["node"] == course.node]
        new = self._sightings(course, int(before[-1]) if len(before) else seen_in)
        later = np.concatenate([kept, new])
        # Both are in order, which this sort makes use of; at one instant the order of nodes has no effect.
        return np.concatenate([moves[:done], later[np.argsort(later["time"], kind="stable")]])

    def _sightings(self, course: Course, seen_in: int) -> NDArray[np.void]:
        """Return MOVE[m] after the course has begun: up to the first instant at which the node is there."""
        interval, path = self._nodes[course.node].update_interval, list[WayPoint]()
        turn(path, course)
        first = (course.at // interval + 1) * interval
        times = np.arange(first, min(course.until + interval, self._limit), interval)
        return _sightings(course.node, times, np.append(seen_in, self._cells.holding(positions(path, times / SECOND))))


def recorded_ground(links: MeasuredLinks, nodes: int, time_limit: SimTime) -> tuple[PathLoss, Measured]:
    """Return all ways between nodes at the start, their delivery, and the changes of both."""
    excerpt = links.excerpt(nodes, time_limit)  # each node is a place of its own, so that a way is a recorded link
    loss, delivery = np.full((nodes * nodes), np.inf), np.zeros(nodes * nodes)
    loss.reshape(nodes, nodes)[np.diag_indices(nodes)] = 0.0
    way, power = excerpt.links, links.recording.power_dbm
    begin = at_first(excerpt)
    loss[way[begin]], delivery[way[begin]] = _recorded_loss(excerpt.rows[begin], power), excerpt.rows["delivery"][begin]
    rows, times = later(excerpt)
    changes = np.zeros(len(rows), CHANGE)
    changes["time"], changes["way"] = times, way[rows]
    changes["loss_db"] = _recorded_loss(excerpt.rows[rows], power)
    changes["delivery"] = excerpt.rows["delivery"][rows]
    starts = nodes * np.arange(nodes + 1)
    return PathLoss(starts, np.zeros(0, np.int32), loss), Measured(delivery, changes)


def _recorded_loss(rows: NDArray[Any], power_dbm: float) -> NDArray[np.float64]:
    """dB[row]; infinite where nothing was heard."""
    loss: NDArray[np.float64] = np.nan_to_num(power_dbm - rows["rssi_dbm"], nan=np.inf)
    return loss


def pairs_within(reach: float, places: Places) -> Iterator[tuple[Indices, Indices, Metres]]:
    """Yield blocks of pairs within `reach` metres: first, second, and metres between.

    Pairs are in lexical order, with first < second.
    """
    for first, second, dx, dy, near in _blocks(reach, places):
        i, j = np.nonzero(near)
        yield first[i], second[j], np.hypot(dx[near], dy[near])


def count_pairs(reach: float, places: Places) -> int:
    """How many pairs there are."""
    return sum(int(np.count_nonzero(near)) for *_, near in _blocks(reach, places))


def _blocks(reach: float, places: Places) -> Iterator[tuple[Indices, Indices, Metres, Metres, NDArray[np.bool_]]]:
    """Yield places in a row, others, x and y distances, and the mask of pairs."""
    x, y = places.T.copy()
    for first, second in _candidates(reach, places):
        dx, dy = x[second] - x[first, np.newaxis], y[second] - y[first, np.newaxis]
        near = (dx * dx + dy * dy <= reach * reach) & (second > first[:, np.newaxis])
        yield first, second, dx, dy, near


def _candidates(reach: float, places: Places) -> Iterator[tuple[Indices, Indices]]:
    """Yield places in a row, and later ones possibly in reach, ascending."""
    count = len(places)
    if count <= MOST_AT_ONCE:
        rows = max(1, PAIRS_AT_ONCE // count)
        for start in range(0, count, rows):
            yield np.arange(start, min(start + rows, count)), np.arange(start, count)
        return
    squares, start = Squares(places, CLOSE * reach), 0
    while start < count:
        following = places[start : start + CLOSE_AT_ONCE]
        far = (np.abs(following - places[start]) > CLOSE * reach).any(axis=1)
        end = start + (int(far.argmax()) if far.any() else len(following))
        near = squares.around(places[start:end], reach)
        yield np.arange(start, end), np.sort(near[near >= start])
        start = end


class Squares:
    """Places by squares of at least `side` metres, in bounded number.

    Importing SciPy's tree takes longer than most searches.
    """

    def __init__(self, places: Places, side: float) -> None:
        self._low = places.min(axis=0)
        self._side = max(side, float(np.ptp(places, axis=0).max()) / MOST_SQUARES_ACROSS)
        column, row = self._square(places).T
        self._columns, self._rows = int(column.max()) + 1, int(row.max()) + 1
        number = row * self._columns + column
        self._by_square = np.argsort(number, kind="stable")
        self._starts = np.searchsorted(number[self._by_square], np.arange(self._columns * self._rows + 1))

    def around(self, places: Places, distance: float) -> Indices:
        """Return places in squares within the distance of the box around `places`."""
        left, bottom = np.maximum(self._square(places.min(axis=0) - distance), 0).tolist()
        right, top = self._square(places.max(axis=0) + distance).tolist()
        right, top = min(right, self._columns - 1), min(top, self._rows - 1)
        rows = range(bottom * self._columns, (top + 1) * self._columns, self._columns)
        spans = [(self._starts[row + left], self._starts[row + right + 1]) for row in rows]
        return np.concatenate([self._by_square[start:end] for start, end in spans])

    def _square(self, places: Places) -> Indices:
        square: Indices = np.floor((places - self._low) / self._side).astype(np.int64)
        return square
