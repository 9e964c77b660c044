"""A film: everything the page shows of a run, as a header of texts and columns of integers.

A browser must hold and search up to a million rows. So each text stands once in the header, and rows have its number
(0: none). A time is the ns since the previous row; a place is in mm. Columns are written plane by plane, lowest bytes
first, which compresses well. A trace can be damaged: backward
times, unknown nodes and invalid places are refused. `page/film.js` reads films.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.schema import BYTES, DETAIL, EVENT, HOPS, MESSAGE_TYPE, NODE, NOTIFICATION_ID, PEER, TIME_S
from roambus.extensions.viewer.observations import Observations, Snapshot, Source, carried, is_over_radio
from roambus.extensions.viewer.scene import (
    BELIEF_ORIGIN_M,
    DRAWN_SIDE_M,
    Place,
    believed_places,
    drawn_links,
    drawn_places,
    match_arrivals,
    moved_places,
)
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.roles import BROADCAST, format_roles
from roambus.python_protocol.simtime import SECOND
from roambus.python_protocol.trace_rows import DELIVER, ENERGY, MOVE, RADIO, RECEIVE, ROLE, SEND

Column = NDArray[np.int64]
"""Values from 0 to below 2**53, exact as a JavaScript number."""

MAX_BYTES = 7
"""Of a value: seven bytes hold every number below 2**53."""
_LENGTH = Struct("<I")
_LEVEL = 6
"""gzip's highest level takes five times as long for 2 % less."""


_NO_HAPPENINGS = (MOVE, ROLE, ENERGY, RADIO)
"""Rows that the page has in its header, or as places."""
_MILLIMETRES = 1000
"""In a metre; a place is drawn some pixels wide."""


@dataclass(frozen=True, slots=True)
class Film:
    """A JSON header and columns; `page/film.js` reads them."""

    header: Mapping[str, Any]
    columns: Mapping[str, Column]

    def packed(self) -> bytes:
        """Return the packed film; the header's `columns` has name, length and bytes of a value."""
        planes = {name: _planes(column) for name, column in self.columns.items()}
        layout = [[name, len(column), planes[name].shape[0]] for name, column in self.columns.items()]
        text = json.dumps({**self.header, "columns": layout}, separators=(",", ":"), allow_nan=False).encode()
        content = b"".join((_LENGTH.pack(len(text)), text, *(plane.tobytes() for plane in planes.values())))
        return gzip.compress(content, _LEVEL, mtime=0)  # without a time equal films are equal bytes


def make_film(
    source: Source, table: pa.Table, observations: Observations | None = None, names: Names | None = None
) -> Film:
    """Return the film of a run from its trace or `observe`; raise UserError for a damaged trace."""
    names = names or Names()
    scenario, nodes = source.scenario, _count_nodes(table, source.scenario)
    rows = table.filter(pc.invert(pc.is_in(table[EVENT], pa.array(_NO_HAPPENINGS))))
    events = columns_of_events(rows, nodes, observations)
    moves = moved_places(table)
    places = moves or drawn_places(nodes, scenario)
    # Width and height in metres that hold these places, where no scenario says how large the field is.
    drawn_field = [max(DRAWN_SIDE_M, *(place[axis] for place in places)) for axis in (2, 3)]
    links = drawn_links(scenario, over_radio=is_over_radio(table))
    header = {
        "title": source.title,
        "agent": scenario.agent if scenario else "",
        "end": scenario.time_limit / SECOND if scenario else pc.max(table[TIME_S]).as_py() or 0.0,
        "field": list(scenario.field_m) if scenario is not None and moves else drawn_field,
        "placed": bool(moves),
        "names": [names.node(node) for node in range(nodes)],
        "roles": _roles(table, nodes, scenario),
        "receipts": RECEIVE in events.texts["kinds"],
        "links": {
            "kind": links.kind,
            "reach": links.reach_m,
            "given": links.given,
            "cells": links.cells,
            "partitions": [[at / SECOND, groups] for at, groups in links.partitions],
        },
        "recorded": observations is not None,
        "beliefOrigin": BELIEF_ORIGIN_M,
    }
    columns = {
        **events.columns,
        **_place_columns("place", places, nodes),
        **_place_columns("belief", list(believed_places(scenario, moves)), nodes),
        **_columns(
            ("linkTime", "linkA", "linkB", "linkUp"),
            [(change.at, change.a, change.b, change.up) for change in links.changes],
        ),
    }
    film = Film({**header, **events.texts}, columns)
    if observations is not None:
        film = _with_observations(film, observations, names)
    notifications = [names.notification_id(number) for number in film.header["notifications"]]
    return Film({**film.header, "notifications": notifications}, film.columns)


def _count_nodes(table: pa.Table, scenario: Scenario | None) -> int:
    """Return the number of nodes, of the scenario or the trace, within the limit."""
    if scenario is not None:
        return len(scenario.nodes)
    greatest = pc.max(table[NODE]).as_py()
    if greatest is None:
        raise UserError("the trace is empty, and there is no run.ini beside it to say what nodes there are")
    return min(int(greatest) + 1, BROADCAST)


def _roles(table: pa.Table, nodes: int, scenario: Scenario | None) -> list[str]:
    """Return each node's roles by the scenario, else by the trace."""
    if scenario is not None:
        return [format_roles(node.roles) for node in scenario.nodes]
    rows = table.filter(pc.equal(table[EVENT], ROLE)).select([NODE, DETAIL]).to_pylist()
    roles = {row[NODE]: row[DETAIL] or "" for row in rows}
    return [roles.get(node, "") for node in range(nodes)]


def _place_columns(kind: str, places: Sequence[Place], nodes: int) -> dict[str, Column]:
    """Return place columns (ns, node, mm, mm); raise UserError for impossible ones."""
    if any(not (isfinite(p.x) and isfinite(p.y) and 0 <= p.x < 1e9 and 0 <= p.y < 1e9) for p in places):
        raise UserError("the trace has a node out of any field; make the run again")
    if any(not 0 <= place.node < nodes for place in places):
        raise UserError(f"the trace moves a node that is not in the run, 0 to {nodes - 1}; make the run again")
    return _columns(
        [f"{kind}{name}" for name in ("Time", "Node", "X", "Y")],
        [(at * SECOND, node, x * _MILLIMETRES, y * _MILLIMETRES) for at, node, x, y in places],
    )


def _with_observations(film: Film, observations: Observations, names: Names) -> Film:
    """Add the text of each content, its notifications, and the listings."""
    texts = [message.describe(names) for message in observations.contents]
    carried_by = [carried(message) for message in observations.contents]
    # Messages can carry notifications of which no row of the trace tells.
    known = {text: number for number, text in enumerate(film.header["notifications"])}
    flat = [known.setdefault(str(notification), len(known)) for several in carried_by for notification in several]
    tables = tables_of(observations.snapshots)
    columns = {"carries": _integers(map(len, carried_by)), "carried": _integers(flat), **tables.columns}
    header = {**film.header, "texts": texts, "notifications": list(known), "tables": tables.texts}
    return Film(header, {**film.columns, **columns})


class Coded(NamedTuple):
    """Texts, and each row's text number from 1; 0: none."""

    numbers: Column
    texts: list[str]


class EventColumns(NamedTuple):
    """`columns` has a value for each row, `texts` their coded texts."""

    columns: dict[str, Column]
    texts: dict[str, list[str]]


def columns_of_events(rows: pa.Table, nodes: int, observations: Observations | None = None) -> EventColumns:
    """Return rows in time order; the observations' `hops` numbers sends and receives. Raise UserError.

    The columns: `wait` since the previous row (ns), `kind`, `node`, `peer`, `type`, `note`, `detail`, `size` (bytes),
    `hops` (plus one; 0: null), `content`, and `origin`: rows from a receive back to its send (0: unknown).
    """
    events, types, notes, details = (_coded(rows[name]) for name in (EVENT, MESSAGE_TYPE, NOTIFICATION_ID, DETAIL))
    names = np.array(["", *events.texts])[events.numbers]
    # Without observations equal messages cannot be told from others of their type, which is the best guess there is.
    contents = types.numbers if observations is None else _contents(rows, names, observations)
    node, peer = _nodes(rows[NODE], nodes), _nodes(rows[PEER], nodes)
    arrival_rows = zip(*(column.tolist() for column in (names, node, peer, contents)), strict=True)
    columns = {
        "wait": _waits(rows[TIME_S]),
        "kind": events.numbers - 1,
        "node": node - 1,
        "peer": peer,
        "type": types.numbers,
        "note": notes.numbers,
        "detail": details.numbers,
        "size": _numbers(rows[BYTES], 0),
        "hops": np.where(names == DELIVER, _numbers(rows[HOPS], -1) + 1, 0),
        "content": np.zeros_like(node) if observations is None else contents,
        "origin": _integers(match_arrivals(arrival_rows)),
    }
    texts = {"kinds": events.texts, "types": types.texts, "notifications": notes.texts, "details": details.texts}
    return EventColumns(columns, texts)


def _coded(column: pa.ChunkedArray) -> Coded:
    """Return a column's texts in first order, and each row's number."""
    encoded = column.combine_chunks().dictionary_encode()
    numbers = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return Coded(numbers + 1, encoded.dictionary.to_pylist())


def _numbers(column: pa.ChunkedArray, null: int) -> Column:
    """Return the column with values below the null's replaced by it."""
    values: Column = pc.fill_null(column.cast(pa.int64()), null).to_numpy()
    return np.maximum(values, null)


def _nodes(column: pa.ChunkedArray, nodes: int) -> Column:
    """Number nodes from 1; 0 is none or all."""
    values = _numbers(column, -1)
    values = np.where(values == BROADCAST, -1, values)
    least = pc.min(column).as_py()
    if (least is not None and least < 0) or values.max(initial=-1) >= nodes:
        raise UserError(f"the trace names a node that is not in the run, 0 to {nodes - 1}; make the run again")
    return values + 1


def _waits(column: pa.ChunkedArray) -> Column:
    """Return the ns from row to row; raise UserError for a backward time."""
    seconds: NDArray[np.float64] = column.to_numpy()
    if not (np.isfinite(seconds).all() and (seconds >= 0).all() and (np.diff(seconds) >= 0).all()):
        raise UserError("the trace's rows are not in the order of time; make the run again")
    times = np.round(seconds * SECOND).astype(np.int64)
    return np.diff(times, prepend=0)


def _contents(rows: pa.Table, names: NDArray[np.str_], observations: Observations) -> Column:
    """Return each row's content number from 1; 0: none."""
    which = _numbers(rows[HOPS], 0)
    contents = np.zeros(len(which), np.int64)
    for event, known in ((SEND, observations.sent), (RECEIVE, observations.heard)):
        these = names == event
        contents[these] = np.array(known, np.int64)[which[these]] + 1
    return contents


class Tables(NamedTuple):
    """Listings for the header and their columns.

    `listings` are [name, number of its head]; heads and rows are lists of texts. The columns: time (ns), node and
    listing of each look; each listing's row count; and row numbers.
    """

    texts: dict[str, Any]
    columns: dict[str, Column]


def tables_of(snapshots: Iterable[Snapshot]) -> Tables:
    """Return the observed tables in time order."""
    heads: dict[tuple[str, ...], int] = {}
    rows: dict[tuple[str, ...], int] = {}
    listings: dict[tuple[str, int, tuple[int, ...]], int] = {}
    seen = []
    for time, node, name, listing in snapshots:
        numbers = tuple(rows.setdefault(row, len(rows)) for row in listing.rows)
        head = heads.setdefault(listing.head, len(heads))
        seen.append((time, node, listings.setdefault((name, head, numbers), len(listings))))
    columns = {
        **_columns(("lookTime", "lookNode", "lookListing"), seen),
        "lists": _integers(len(numbers) for *_, numbers in listings),
        "listed": _integers(number for *_, numbers in listings for number in numbers),
    }
    return Tables(
        {"listings": [listing[:2] for listing in listings], "heads": list(heads), "rows": list(rows)}, columns
    )


def _columns(names: Sequence[str], rows: Iterable[Sequence[float]]) -> dict[str, Column]:
    """Return a column for each name from rounded numbers."""
    table = np.array([[round(value) for value in row] for row in rows], np.int64).reshape(-1, len(names))
    return dict(zip(names, table.T, strict=True))


def _integers(values: Iterable[int]) -> Column:
    return np.fromiter(values, np.int64)


def _planes(column: Column) -> NDArray[np.uint8]:
    """Return the column as byte planes, lowest first."""
    greatest = int(column.max(initial=0))
    size = max(1, (greatest.bit_length() + 7) // 8)
    if column.min(initial=0) < 0 or size > MAX_BYTES:
        raise ValueError(f"{greatest} or a value below 0 in a column")
    return column.astype("<u8").view(np.uint8).reshape(len(column), 8)[:, :size].T
