"""The places of a mesh: a CSV of nodes in degrees, projected to metres.

A heading names the columns, in any order and in the spellings that exporters use. A separator is that of the first one
under which the heading has both coordinates, so a semicolon leaves the comma free for decimals.

Places are projected orthographically onto the plane that touches the WGS84 ellipsoid in their middle, the mean of the
nodes. A distance is too short by at most a share: the square of the way from there over twice that of the Earth's
radius. This is 3 mm in 10 km, if the middle is 5 km away. Places are rounded to 0.1 m.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import read_text
from roambus.extensions.lora.messages import CLIENT, REPEATER, ROUTER
from roambus.python_protocol.settings import read_number

Metres = NDArray[np.float64]

MOST_BYTES, MOST_NODES, LONGEST_NAME = 2**20, 1000, 60
LARGEST_M, SMALLEST_M = 200_000.0, 1.0
"""Bounds of the extent: beyond the first the plane is no map, and below the second all nodes stand in one place."""
MARGIN, LEAST_MARGIN_M = 0.05, 100.0
"""Room around the nodes: a share of the greater extent, but at least some metres."""

_SEPARATORS = ",;\t"
_LATITUDE, _LONGITUDE, _NAME, _ROLE = "latitude", "longitude", "name", "role"
_SPELLINGS = {
    _LATITUDE: ("latitude", "lat"),
    _LONGITUDE: ("longitude", "long", "lon", "lng"),
    _NAME: ("name", "longname", "node", "nodename", "label", "title", "shortname", "id", "nodeid"),
    _ROLE: ("role", "noderole", "devicerole"),
}
"""The spellings of each column, letters and digits alone; the first one that a heading has counts."""
ROLES = (CLIENT, ROUTER, REPEATER)
_UNIT = re.compile(r"\s*(\(.*\)|\[.*\]|°)\s*$")

_EQUATOR_M, _FLATTENING = 6_378_137.0, 1 / 298.257223563
"""WGS84."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the file: name, degrees and role, and the line that it stands in."""

    line: int
    name: str
    latitude: float
    longitude: float
    role: str = ROLES[0]


class Mesh(NamedTuple):
    """All nodes of a file in its order, the columns that nothing reads, and the lines of comments among the nodes."""

    nodes: tuple[Node, ...]
    unread: tuple[str, ...] = ()
    comments: tuple[int, ...] = ()
    file: str = ""


class _Heads(NamedTuple):
    """A heading: the separator, its number of columns, the place of each known one, and the names of the others."""

    separator: str
    width: int
    columns: Mapping[str, int]
    unread: tuple[str, ...]


class Field(NamedTuple):
    """Metres of each node from the north-western corner, [node, (x, y)] to 0.1 m, and the size of the field.

    A film draws y downwards, so that north is up.
    """

    places_m: Metres
    width_m: int
    height_m: int


def read_mesh(path: Path) -> Mesh:
    """Read the nodes of a CSV; raise UserError with file and line, or OSError."""
    lines = read_text(path, MOST_BYTES).split("\n")
    number, heading = next(((n, line) for n, line in enumerate(lines, 1) if not _is_left_out(line)), (1, ""))
    heads = _read_heading(f"{path}:{number}", heading)
    rest = list(enumerate(lines[number:], number + 1))
    nodes = [_read_node(f"{path}:{at}", at, line, heads) for at, line in rest if not _is_left_out(line)]
    _check_nodes(path, nodes)
    return Mesh(tuple(nodes), heads.unread, tuple(at for at, line in rest if _is_comment(line)), str(path))


def _is_left_out(line: str) -> bool:
    return not line.strip(_SEPARATORS + " ") or _is_comment(line)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _cells(where: str, line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise UserError(f"{where}: {error}: a cell's quotes must end in its line") from None


def _read_heading(where: str, heading: str) -> _Heads:
    for separator in _SEPARATORS:
        names = _cells(where, heading, separator)
        plain = [re.sub(r"[\W_]", "", _UNIT.sub("", name)).casefold() for name in names]
        found = {column: _find(spellings, plain) for column, spellings in _SPELLINGS.items()}
        columns = {column: at for column, at in found.items() if at is not None}
        if {_LATITUDE, _LONGITUDE} <= columns.keys():
            _check_once(where, names, plain)
            read = {*columns.values()}
            unread = tuple(name for at, name in enumerate(names) if at not in read and name)
            return _Heads(separator, len(names), columns, unread)
    raise UserError(
        f"{where}: {heading.strip()[:LONGEST_NAME]!r} is no heading with latitude and longitude: "
        "begin the file with name,latitude,longitude"
    )


def _find(spellings: Sequence[str], names: Sequence[str]) -> int | None:
    return next((names.index(spelling) for spelling in spellings if spelling in names), None)


def _check_once(where: str, names: Sequence[str], plain: Sequence[str]) -> None:
    for at, name in enumerate(plain):
        if name and name in plain[:at]:
            raise UserError(f"{where}: there are two columns {names[at]!r}: remove one of them")


def _read_node(where: str, number: int, line: str, heads: _Heads) -> Node:
    cells, needed = _cells(where, line, heads.separator), max(heads.columns.values()) + 1
    if len(cells) < needed:
        raise UserError(f"{where}: {len(cells)} cells, too few: the heading needs {needed}")
    if any(cells[heads.width :]):  # a decimal comma would move every cell after it
        raise UserError(
            f"{where}: {len(cells)} cells, and the heading has {heads.width}: separate decimal commas by semicolons"
        )
    texts = {column: cells[at] for column, at in heads.columns.items()}
    latitude = _degrees(where, _LATITUDE, texts[_LATITUDE], 90)
    longitude = _degrees(where, _LONGITUDE, texts[_LONGITUDE], 180)
    role = texts.get(_ROLE, "").casefold() or ROLES[0]
    if role not in ROLES:
        raise UserError(f"{where}: {texts[_ROLE]!r} is no role: {', '.join(ROLES)} are, and an empty one is a client")
    return Node(number, _read_name(where, texts.get(_NAME, "")), latitude, longitude, role)


def _read_name(where: str, text: str) -> str:
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise UserError(f"{where}: the name {text[:LONGEST_NAME]!r} has over {LONGEST_NAME} or unprintable characters")
    return text


def _degrees(where: str, column: str, text: str, most: int) -> float:
    """Read decimal degrees, with a point or a comma; raise UserError."""
    try:
        degrees = read_number(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        degrees = math.nan
    if not abs(degrees) <= most:
        raise UserError(f"{where}: the {column} {text!r} is no number of degrees from {-most} to {most}, such as 51.96")
    return degrees


def _check_nodes(path: Path, nodes: Sequence[Node]) -> None:
    if not 2 <= len(nodes) <= MOST_NODES:
        raise UserError(f"{path}: {len(nodes)} nodes; a mesh has 2 to {MOST_NODES}")
    lines: dict[str, int] = {}
    for node, name in zip(nodes, names_of(nodes), strict=True):
        if name in lines:
            raise UserError(f"{path}:{node.line}: line {lines[name]} has a node {name!r} too: rename one")
        lines[name] = node.line


# Projection


def project(mesh: Mesh) -> Field:
    """Place the nodes on a plane with room around them; raise UserError beyond `LARGEST_M`."""
    plane_m = np.round(tangent_plane_m([(node.latitude, node.longitude) for node in mesh.nodes]), 1)
    least, most = plane_m.min(axis=0), plane_m.max(axis=0)
    extent = float((most - least).max())  # with the height, by which the other side of the Earth is told from this one
    if extent < SMALLEST_M:
        raise UserError(
            f"{mesh.file}: all nodes lie within {extent:.1f} m, and a mesh is {SMALLEST_M:g} m wide or more"
        )
    if extent > LARGEST_M:
        far = int(np.argmax(np.linalg.norm(plane_m - np.median(plane_m, axis=0), axis=1)))
        raise UserError(
            f"{mesh.file}:{mesh.nodes[far].line}: this node is the farthest from the others, and the nodes lie "
            f"{extent / 1000:,.0f} km apart: a mesh is {LARGEST_M / 1000:g} km wide at most"
        )
    margin = max(LEAST_MARGIN_M, math.ceil(MARGIN * extent))
    width, height = (math.ceil(side + 2 * margin) for side in (most - least)[:2])
    east_m, south_m = plane_m[:, 0] - least[0], most[1] - plane_m[:, 1]
    return Field(np.round(np.column_stack((east_m, south_m)) + margin, 1), width, height)


def tangent_plane_m(degrees: Sequence[tuple[float, float]]) -> Metres:
    """Return [node, (east, north, up)] of degrees north and east, from the plane that touches the Earth amid them."""
    radians = np.radians(np.asarray(degrees, dtype=float))
    points = _geocentric_m(radians)
    middle = points.mean(axis=0)
    longitude = math.atan2(middle[1], middle[0])
    latitude = math.atan2(middle[2], math.hypot(middle[0], middle[1]) * (1 - _FLATTENING) ** 2)
    east = np.array((-math.sin(longitude), math.cos(longitude), 0.0))
    up = np.array((math.cos(latitude) * east[1], -math.cos(latitude) * east[0], math.sin(latitude)))
    return np.asarray((points - middle) @ np.column_stack((east, np.cross(up, east), up)))


def _geocentric_m(radians: Metres) -> Metres:
    """Return [node, (x, y, z)] from the Earth's centre."""
    latitude, longitude = radians.T
    eccentricity = _FLATTENING * (2 - _FLATTENING)
    normal = _EQUATOR_M / np.sqrt(1 - eccentricity * np.sin(latitude) ** 2)
    across = normal * np.cos(latitude)
    return np.column_stack(
        (across * np.cos(longitude), across * np.sin(longitude), normal * (1 - eccentricity) * np.sin(latitude))
    )


def names_of(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield each node's name, or n and its number."""
    yield from (node.name or f"n{number}" for number, node in enumerate(nodes))
