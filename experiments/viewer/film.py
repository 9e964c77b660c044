"""Makes a run what the page wants: a row for each thing that happens, in columns of integers, and a header of texts.

Rows come from the trace, or from the agents run once more if more is to be seen.

Puts films and the page into one HTML file that needs nothing else.

Nothing that comes from a run can become code there. Films are base64 in data blocks, the page writes texts as texts,
and its policy lets run only the script whose hash it names, and load nothing from anywhere.

Makes columns of the happenings of a trace: texts become numbers, with 0 for a null where there can be one.

Writes a film: a header of JSON, and columns of unsigned integers, together compressed.

The bytes of a column are laid plane by plane, all lowest bytes first: neighbouring rows differ little, so that the
planes compress well. `page/film.js` reads it.

Makes columns of the agents' listings over time, with each text written once.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path
from struct import Struct
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.schema import BYTES, DETAIL, EVENT, HOPS, MESSAGE_TYPE, NODE, NOTIFICATION_ID, PEER, TIME_S
from roambus.experiments.page_policy import source_hash
from roambus.experiments.viewer.scene import (
    ANYBODY,
    DRAWN_SIDE_M,
    DrawnLinks,
    EdgeChange,
    Place,
    drawn_links,
    drawn_overlay,
    drawn_places,
    match_arrivals,
    moved_places,
)
from roambus.experiments.viewer.witness import Look, Source, Testimony, carried, is_over_radio
from roambus.python_protocol.actions import DELIVER, ENERGY, MOVE, RADIO, RECEIVE, ROLE, SEND
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, format_roles

Column = NDArray[np.int64]
"""Values of at least 0 and below 2**53, what a number of JavaScript holds exactly."""

MAX_BYTES = 7
_LENGTH = Struct("<I")
_LEVEL = 6
"""The level of gzip: the highest takes five times as long, for 2 % less."""


def pack(header: Mapping[str, Any], columns: Mapping[str, Column]) -> bytes:
    """Compresses header and columns; the header gets `columns`: name, length and bytes of a value of each."""
    planes = {name: _planes(column) for name, column in columns.items()}
    layout = [[name, len(column), planes[name].shape[0]] for name, column in columns.items()]
    text = json.dumps({**header, "columns": layout}, separators=(",", ":"), allow_nan=False).encode()
    content = b"".join((_LENGTH.pack(len(text)), text, *(plane.tobytes() for plane in planes.values())))
    return gzip.compress(content, _LEVEL, mtime=0)


def _planes(column: Column) -> NDArray[np.uint8]:
    """The column as planes of bytes, the lowest first."""
    greatest = int(column.max(initial=0))
    size = max(1, (greatest.bit_length() + 7) // 8)
    if column.min(initial=0) < 0 or size > MAX_BYTES:
        raise ValueError(f"{greatest} or a value below 0 in a column")
    return column.astype("<u8").view(np.uint8).reshape(len(column), 8)[:, :size].T


class Coded(NamedTuple):
    """Texts, and the number of each row's text, counted from 1; 0 where there is none."""

    numbers: Column
    texts: list[str]


class Happenings(NamedTuple):
    """`columns` has a value for each row, `texts` what their numbers stand for."""

    columns: dict[str, Column]
    texts: dict[str, list[str]]


def happenings_of(rows: pa.Table, nodes: int, testimony: Testimony | None = None) -> Happenings:
    """Rows in the order of time; with a testimony `hops` numbers sends and receives. Raises UserError.

    The columns: `wait` since the row before (ns), `kind`, `node`, `peer`, `type`, `note`, `detail`, `size` (bytes),
    `hops` (one more than there are, 0: null), `content`, and `origin`: how many rows before a receive its send is (0:
    unknown).
    """
    events, types = _coded(rows[EVENT]), _coded(rows[MESSAGE_TYPE])
    notes, details = _coded(rows[NOTIFICATION_ID]), _coded(rows[DETAIL])
    names = np.array(["", *events.texts])[events.numbers]
    contents = types.numbers if testimony is None else _contents(rows, names, testimony)
    node, peer = _nodes(rows[NODE], nodes), _nodes(rows[PEER], nodes)
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
        "content": np.zeros_like(node) if testimony is None else contents,
        "origin": _origins(names, node - 1, peer - 1, contents),
    }
    texts = {"kinds": events.texts, "types": types.texts, "notifications": notes.texts, "details": details.texts}
    return Happenings(columns, texts)


def _coded(column: pa.ChunkedArray) -> Coded:
    encoded = column.combine_chunks().dictionary_encode()
    numbers = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return Coded(numbers + 1, encoded.dictionary.to_pylist())


def _numbers(column: pa.ChunkedArray, null: int) -> Column:
    """The column, in which values below the null's are the null's: no run leaves them."""
    values: Column = pc.fill_null(column.cast(pa.int64()), null).to_numpy()
    return np.maximum(values, null)


def _nodes(column: pa.ChunkedArray, nodes: int) -> Column:
    """Nodes counted from 1, and 0 for none or for all: the drop of a broadcast names BROADCAST."""
    values = _numbers(column, -1)
    values = np.where(values == BROADCAST, -1, values)
    least = pc.min(column).as_py()
    if (least is not None and least < 0) or values.max(initial=-1) >= nodes:
        raise UserError(f"the trace names a node that is none of the run's, 0 to {nodes - 1}; make the run again")
    return values + 1


def _waits(column: pa.ChunkedArray) -> Column:
    seconds: NDArray[np.float64] = column.to_numpy()
    if not (np.isfinite(seconds).all() and (seconds >= 0).all() and (np.diff(seconds) >= 0).all()):
        raise UserError("the trace's rows are not in the order of time; make the run again")
    times = np.round(seconds * SECOND).astype(np.int64)
    return np.diff(times, prepend=0)


def _contents(rows: pa.Table, names: NDArray[np.str_], testimony: Testimony) -> Column:
    """The number of what each send and receive carries, counted from 1; 0 for other rows."""
    which = _numbers(rows[HOPS], 0)
    contents = np.zeros(len(which), np.int64)
    for event, known in ((SEND, testimony.sent), (RECEIVE, testimony.heard)):
        these = names == event
        contents[these] = np.array(known, np.int64)[which[these]] + 1
    return contents


def _origins(names: NDArray[np.str_], node: Column, peer: Column, contents: Sequence[int] | Column) -> Column:
    is_send = names == SEND
    frame = pd.DataFrame(
        {
            "is_send": is_send,
            "is_receive": names == RECEIVE,
            "node": node,
            "peer": np.where(is_send & (peer < 0), ANYBODY, peer),
            "content": contents,
        }
    )
    matched = match_arrivals(frame)
    return np.where(matched < 0, 0, np.arange(len(matched)) - matched)


T = TypeVar("T", bound=Hashable)


class _Numbered(Generic[T]):
    """Gives each different thing a number, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def __call__(self, thing: T) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def things(self) -> list[T]:
        return list(self._numbers)


class Tables(NamedTuple):
    """`texts` for the header: `listings` are [name, number of its head], heads and rows are lists of texts.

    The columns: of each look time (ns), node and number of a listing; of each listing how many rows it has; and the
    numbers of the rows, listing after listing.
    """

    texts: dict[str, Any]
    columns: dict[str, Column]


def tables_of(looks: Iterable[Look]) -> Tables:
    """What was seen, in the order of time."""
    heads: _Numbered[tuple[str, ...]] = _Numbered()
    rows: _Numbered[tuple[str, ...]] = _Numbered()
    listings: _Numbered[tuple[str, int, tuple[int, ...]]] = _Numbered()
    seen = [
        (time, node, listings((name, heads(listing.head), tuple(map(rows, listing.rows)))))
        for time, node, name, listing in looks
    ]
    found = listings.things()
    texts = {"listings": [one[:2] for one in found], "heads": heads.things(), "rows": rows.things()}
    columns = dict(zip(("lookTime", "lookNode", "lookListing"), np.array(seen, np.int64).reshape(-1, 3).T, strict=True))
    listed = [number for *_, numbers in found for number in numbers]
    return Tables(
        texts, {**columns, "lists": _integer_column(len(one[2]) for one in found), "listed": _integer_column(listed)}
    )


def _integer_column(values: Iterable[int]) -> Column:
    return np.fromiter(values, np.int64)


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


_PAGE = Path(__file__).with_name("page")
_LAST = "main.js"
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def make_document(films: Sequence[Film], *, live: bool = False) -> str:
    """The page with one film, or several side by side; a `live` page can ask its own server for more."""
    script, style = _script(), (_PAGE / "style.css").read_text(encoding="utf-8")
    parts = {
        "policy": _policy(script, style, live=live),
        "title": escape(" | ".join(film.header["title"] for film in films)),
        "style": style,
        "films": "\n".join(map(_data_block, films)),
        "script": script,
    }
    text = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


def _data_block(film: Film) -> str:
    data = b64encode(film.packed()).decode("ascii")
    return f'<script type="application/octet-stream" class="film">{data}</script>'


def _script() -> str:
    """The page's modules as one, in the order in which they import each other, without their imports and exports."""
    order: list[str] = []
    _visit(_LAST, order)
    texts = [(_PAGE / name).read_text(encoding="utf-8") for name in order]
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)
    return f'"use strict";\n{joined}'


def _visit(name: str, order: list[str]) -> None:
    text = (_PAGE / name).read_text(encoding="utf-8")
    for imported in re.findall(r'from "\./(\w+\.js)"', "".join(_IMPORT.findall(text))):
        if imported not in order:
            _visit(imported, order)
    order.append(name)


def _policy(script: str, style: str, *, live: bool) -> str:
    allowed = f"script-src {source_hash(script)}; style-src {source_hash(style)}"
    connections = "; connect-src 'self'" if live else ""
    return f"default-src 'none'; {allowed}{connections}; base-uri 'none'; form-action 'none'"
