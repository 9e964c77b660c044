"""A CSV of nodes in degrees becomes places in metres, or is refused with its line."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.places import MOST_NODES, Mesh, Node, names_of, project, read_mesh, tangent_plane_m

MILLS = "name,latitude,longitude\nMill,54.5,2.3\nInn,54.51,2.31\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The CSV of a test."""
    return tmp_path / "nodes.csv"


def read(file: Path, text: str) -> Mesh:
    """The mesh of a text."""
    file.write_text(text, encoding="utf-8")
    return read_mesh(file)


# Files


@pytest.mark.parametrize(
    "text",
    [
        MILLS,
        MILLS.replace("\n", "\r\n"),
        "\ufeff" + MILLS,
        "lon,lat,Node Name\n2.3,54.5,Mill\n2.31,54.51,Inn\n",
        "Name;Latitude (deg);Longitude [deg]\nMill;54,5;2,3\nInn;54,51;2,31\n",
        "# mine\n\nlabel\tLAT\tLng\nMill\t54.5\t2.3\n\nInn\t54.51\t2.31",
        '"long_name","Latitude","Longitude"\n"Mill","54.5","2.3"\n"Inn","54.51","2.31"\n',
    ],
    ids=["plain", "line ends", "byte order mark", "other order", "semicolons", "tabs", "quotes"],
)
def test_exports_of_other_programs_are_read_alike(file: Path, text: str) -> None:
    """In their spellings of the heading, with their separators."""
    nodes = [(node.name, node.latitude, node.longitude, node.role) for node in read(file, text).nodes]
    assert nodes == [("Mill", 54.5, 2.3, "client"), ("Inn", 54.51, 2.31, "client")]


def test_roles_are_read_and_other_columns_are_named(file: Path) -> None:
    """An empty role is that of a client; a name can have the separator in it."""
    mesh = read(file, 'battery,role,name,lat,lon\n90,ROUTER,"Mill, old",54.5,2.3\n80,,,54.51,2.31\n')
    assert [node.role for node in mesh.nodes] == ["router", "client"]
    assert list(names_of(mesh.nodes)) == ["Mill, old", "n1"]
    assert mesh.unread == ("battery",)


def test_comments_among_the_nodes_are_known_by_their_lines(file: Path) -> None:
    """A node may be named #1; comments above the heading are no nodes."""
    mesh = read(file, "# mine\n" + MILLS + "#1,54.52,2.3\n\n  #2,54.53,2.3\n")
    assert [node.name for node in mesh.nodes] == ["Mill", "Inn"]
    assert mesh.comments == (5, 7)


def test_columns_without_a_name_may_be_many(file: Path) -> None:
    """A spreadsheet has them at the right."""
    assert read(file, "lat,lon,,\n54.5,2.3,,\n54.51,2.31,,\n").unread == ()


def test_empty_cells_beyond_the_heading_do_no_harm(file: Path) -> None:
    """A spreadsheet writes them."""
    assert read(file, MILLS.replace("2.3\n", "2.3,,\n")) == read(file, MILLS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nodes.csv:1: '' is no heading with latitude and longitude: begin the file with name,latitude"),
        ("Mill,54.5,2.3\n", "nodes.csv:1: 'Mill,54.5,2.3' is no heading"),
        ("name,lat\nMill,54.5\n", "nodes.csv:1: 'name,lat' is no heading"),
        ("lat,lon,lat\n1,2,3\n", "nodes.csv:1: there are two columns 'lat'"),
        (MILLS + "Well,54.5\n", "nodes.csv:4: 2 cells, too few: the heading needs 3"),
        (MILLS + "Well,,2.3\n", "nodes.csv:4: the latitude '' is no number of degrees from -90 to 90"),
        (MILLS + "Well,91,2.3\n", "nodes.csv:4: the latitude '91' is no number of degrees"),
        (MILLS + "Well,54,nan\n", "nodes.csv:4: the longitude 'nan' is no number of degrees from -180 to 180"),
        (MILLS + "Well,1e400,0\n", "nodes.csv:4: the latitude '1e400' is no number"),
        (MILLS + "Mill,54,2.3\n", "nodes.csv:4: line 2 has a node 'Mill' too: rename one"),
        (MILLS + f"{'M' * 61},54,2\n", "nodes.csv:4: the name"),
        (MILLS + "Mi\0ll,54,2\n", "nodes.csv:4: the name 'Mi\\x00ll' has over 60 or unprintable characters"),
        (MILLS + "\u202eMill,54,2\n", "nodes.csv:4: the name"),
        (MILLS + "#" * 2**20, "nodes.csv: this is larger than 1 MiB"),
        (MILLS + '"Well,54,2\n', "nodes.csv:4: unexpected end of data: a cell's quotes must end in its line"),
        ("lat,lon,role\n1,2,king\n", "nodes.csv:2: 'king' is no role: client, router, repeater are"),
        ("lat,lon\n1,2\n", "nodes.csv: 1 nodes; a mesh has 2 to 1000"),
        (
            "lat,lon\n54,50,2,30\n54,51,2,31\n",
            "nodes.csv:2: 4 cells, and the heading has 2: separate decimal commas by",
        ),
        (MILLS.replace("Mill", "").replace("Inn", "n0"), "nodes.csv:3: line 2 has a node 'n0' too: rename one"),
        ("lat,lon\n" + "1,2\n" * (MOST_NODES + 1), "nodes.csv: 1001 nodes; a mesh has 2 to 1000"),
    ],
)
def test_a_mistake_is_refused_with_file_and_line(file: Path, text: str, message: str) -> None:
    """In one sentence that says what to write."""
    with pytest.raises(UserError) as refused:
        read(file, text)
    assert message in str(refused.value)


def test_a_file_that_is_no_text_is_refused(file: Path) -> None:
    """Such as one that a spreadsheet has saved in UTF-16."""
    file.write_bytes(MILLS.encode("utf-16"))
    with pytest.raises(UserError, match=r"nodes.csv:1: this is not UTF-8 text"):
        read_mesh(file)


# Projection


def mesh_of(*degrees: tuple[float, float]) -> Mesh:
    """A mesh of places."""
    return Mesh(tuple(Node(line, "", *place) for line, place in enumerate(degrees, 2)), file="nodes.csv")


@given(
    latitude=st.floats(-80, 80),
    longitude=st.floats(-180, 180),
    north_m=st.floats(-20_000, 20_000),
    east_m=st.floats(-20_000, 20_000),
)
def test_distances_are_those_on_the_ellipsoid(latitude: float, longitude: float, north_m: float, east_m: float) -> None:
    """To a hundred thousandth, anywhere, also across the date line; by the radii of curvature in the middle."""
    half = north_m / 2 / 111_000
    middle = math.radians(latitude)
    square = 1 - 0.00669437999014 * math.sin(middle) ** 2
    meridian_m, across_m = 6_335_439.327 / square**1.5, 6_378_137 / math.sqrt(square) * math.cos(middle)
    turn = math.degrees(east_m / across_m)
    south, north = latitude - half, latitude + half
    other = (longitude + turn + 180) % 360 - 180
    expected = math.hypot(math.radians(north - south) * meridian_m, math.radians(turn) * across_m)
    places = tangent_plane_m([(south, longitude), (north, other)])
    assert np.linalg.norm((places[0] - places[1])[:2]) == pytest.approx(expected, rel=2e-5, abs=0.1)


@given(latitude=st.floats(-80, 80), longitude=st.floats(-180, 180))
def test_the_plane_is_level(latitude: float, longitude: float) -> None:
    """Of two nodes 20 km apart, north and south of the middle, none is above it by more than the Earth's bulge."""
    heights = tangent_plane_m([(latitude - 0.09, longitude), (latitude + 0.09, longitude)])[:, 2]
    assert heights == pytest.approx(0, abs=0.1)


def test_a_small_mesh_has_a_hundred_metres_around_it() -> None:
    """A twentieth of 111 m would be no room."""
    field = project(mesh_of((54.5, 2.3), (54.501, 2.3)))
    assert field.places_m.tolist() == [[100.0, pytest.approx(211.3, abs=0.2)], [100.0, 100.0]]
    assert (field.width_m, field.height_m) == (200, 312)


def test_north_is_up_and_east_is_right() -> None:
    """On a map of 10 km by 11 km, with room around the nodes; a film draws y downwards."""
    field = project(mesh_of((54.5, 2.3), (54.6, 2.3), (54.5, 2.455)))
    (x, y), (north_x, north_y), (east_x, east_y) = field.places_m
    assert (north_x - x, y - north_y) == pytest.approx((0, 11_133), abs=15)
    assert (east_x - x, y - east_y) == pytest.approx((10_040, 0), abs=15)
    assert field.places_m.min() == pytest.approx(557, abs=2)
    assert (field.width_m, field.height_m) == pytest.approx((11_150, 12_250), abs=30)


def test_a_mesh_across_the_date_line_is_small() -> None:
    """The plane knows no seam."""
    field = project(mesh_of((-16.5, 179.99), (-16.5, -179.99)))
    assert field.width_m == pytest.approx(2136 + 2 * 107, abs=10)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([(54.5, 2.3), (54.51, 2.31), (0, 0)], "nodes.csv:4: this node is the farthest from the others"),
        ([(54.5, 2.3), (54.51, 2.31), (-54.5, -177.7)], "nodes.csv:4: this node is the farthest from the others"),
        ([(54.5, 2.3), (56.4, 2.3)], "and the nodes lie 212 km apart: a mesh is 200 km wide at most"),
        ([(54.5, 2.3), (54.5, 2.3)], "nodes.csv: all nodes lie within 0.0 m, and a mesh is 1 m wide or more"),
        ([(54.5, 2.3), (54.5000045, 2.3)], "nodes.csv: all nodes lie within 0.6 m"),
    ],
    ids=["no fix", "other side of the Earth", "two towns", "one place", "one house"],
)
def test_places_that_are_no_town_are_refused(places: list[tuple[float, float]], message: str) -> None:
    """A node without a fix says 0, 0."""
    with pytest.raises(UserError, match=message):
        project(mesh_of(*places))
