"""Makes a run what the page wants: a row for each thing that happens, in columns of integers, and a header of texts.

Rows come from the trace, or from the agents run once more if more is to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.scenario import Scenario
from roambus.bridge.trace.schema import DETAIL, ENERGY, EVENT, MOVE, NODE, RADIO, RECEIVE, ROLE, TIME_S
from roambus.experiments.viewer.columns import Column, pack
from roambus.experiments.viewer.links import DrawnLinks, drawn_links
from roambus.experiments.viewer.overlay import EdgeChange, drawn_overlay
from roambus.experiments.viewer.places import DRAWN_SIDE_M, Place, drawn_places, moved_places
from roambus.experiments.viewer.rows import happenings_of
from roambus.experiments.viewer.source import Source
from roambus.experiments.viewer.tables import tables_of
from roambus.experiments.viewer.witness import Testimony, carried, is_over_radio
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import BROADCAST, format_roles
from roambus.python_protocol.simtime import SECOND

_NO_HAPPENINGS = (MOVE, ROLE, ENERGY, RADIO)
"""The rows of which the page has what it needs in its header, or as places."""
_MILLIMETRES = 1000


@dataclass(frozen=True, slots=True)
class Film:
    """A header that JSON can hold, and columns; `page/film.js` reads them back."""

    header: Mapping[str, Any]
    columns: Mapping[str, Column]

    def packed(self) -> bytes:
        """The film as the page reads it."""
        return pack(self.header, self.columns)


def make_film(source: Source, table: pa.Table, testimony: Testimony | None = None, names: Names | None = None) -> Film:
    """The film of a run from its trace, or from what `observe` returns; raises UserError for what no run leaves."""
    names = names or Names()
    scenario, nodes = source.scenario, _count_nodes(table, source.scenario)
    rows = table.filter(pc.invert(pc.is_in(table[EVENT], pa.array(_NO_HAPPENINGS))))
    happenings = happenings_of(rows, nodes, testimony)
    moves = moved_places(table)
    overlay = drawn_overlay(table, nodes)
    places = moves or drawn_places(nodes, scenario, overlay.circle)
    links = drawn_links(scenario, over_radio=is_over_radio(table))
    header = {
        "title": source.title,
        "agent": scenario.agent if scenario else "",
        "end": scenario.time_limit / SECOND if scenario else pc.max(table[TIME_S]).as_py() or 0.0,
        "field": _field(scenario if moves else None, places),
        "placed": bool(moves),
        "names": [names.node(node) for node in range(nodes)],
        "roles": _roles(table, nodes, scenario),
        "receipts": RECEIVE in happenings.texts["kinds"],
        "links": _described(links),
        "recorded": testimony is not None,
    }
    drawn = {**_place_columns(places, nodes), **_link_columns(links), **_edge_columns(overlay.changes)}
    columns = {**happenings.columns, **drawn}
    film = Film({**header, **happenings.texts}, columns)
    whole = film if testimony is None else _with_testimony(film, testimony, names)
    notifications = [names.notification_id(one) for one in whole.header["notifications"]]
    return Film({**whole.header, "notifications": notifications}, whole.columns)


def _count_nodes(table: pa.Table, scenario: Scenario | None) -> int:
    if scenario is not None:
        return len(scenario.nodes)
    greatest = pc.max(table[NODE]).as_py()
    if greatest is None:
        raise UserError("the trace is empty, and there is no run.ini beside it to say what nodes there are")
    return min(int(greatest) + 1, BROADCAST)


def _field(scenario: Scenario | None, places: Sequence[Place]) -> list[float]:
    """The width and height of the field in metres."""
    if scenario is not None:
        return list(scenario.field_m)
    return [max(DRAWN_SIDE_M, *(place[axis] for place in places)) for axis in (2, 3)]


def _roles(table: pa.Table, nodes: int, scenario: Scenario | None) -> list[str]:
    if scenario is not None:
        return [format_roles(node.roles) for node in scenario.nodes]
    rows = table.filter(pc.equal(table[EVENT], ROLE)).select([NODE, DETAIL]).to_pylist()
    told = {row[NODE]: row[DETAIL] or "" for row in rows}
    return [told.get(node, "") for node in range(nodes)]


def _described(links: DrawnLinks) -> dict[str, Any]:
    partitions = [[at / SECOND, groups] for at, groups in links.partitions]
    return {"kind": links.kind.value, "reach": links.reach_m, "partitions": partitions}


def _place_columns(places: Sequence[Place], nodes: int) -> dict[str, Column]:
    if any(not (isfinite(p.x) and isfinite(p.y) and 0 <= p.x < 1e9 and 0 <= p.y < 1e9) for p in places):
        raise UserError("the trace has a node out of any field; make the run again")
    if any(not 0 <= place.node < nodes for place in places):
        raise UserError(f"the trace moves a node that is none of the run's, 0 to {nodes - 1}; make the run again")
    return {
        "placeTime": _integers(place.time_s * SECOND for place in places),
        "placeNode": _integers(place.node for place in places),
        "placeX": _integers(place.x * _MILLIMETRES for place in places),
        "placeY": _integers(place.y * _MILLIMETRES for place in places),
    }


def _link_columns(links: DrawnLinks) -> dict[str, Column]:
    return {
        "linkTime": _integers(change.at for change in links.changes),
        "linkA": _integers(change.a for change in links.changes),
        "linkB": _integers(change.b for change in links.changes),
        "linkUp": _integers(change.up for change in links.changes),
    }


def _edge_columns(changes: Sequence[EdgeChange]) -> dict[str, Column]:
    return {
        "edgeTime": _integers(change.time_s * SECOND for change in changes),
        "edgeNode": _integers(change.edge.node for change in changes),
        "edgeOther": _integers(change.edge.other for change in changes),
        "edgeShortcut": _integers(change.edge.is_shortcut for change in changes),
        "edgeUp": _integers(change.up for change in changes),
    }


def _integers(values: Any) -> Column:
    return np.array([round(value) for value in values], np.int64)


def _with_testimony(film: Film, testimony: Testimony, names: Names) -> Film:
    """Adds the text of each content, how many notifications it carries, and which; and the listings."""
    texts = [message.describe(names) for message in testimony.contents]
    carried_by = [carried(message) for message in testimony.contents]
    known = {text: number for number, text in enumerate(film.header["notifications"])}
    flat = [known.setdefault(str(one), len(known)) for several in carried_by for one in several]
    tables = tables_of(testimony.looks)
    header = {"texts": texts, "notifications": list(known), "tables": tables.texts}
    columns = {"carries": _integers(map(len, carried_by)), "carried": _integers(flat), **tables.columns}
    return Film({**film.header, **header}, {**film.columns, **columns})
