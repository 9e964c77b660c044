"""Movement files say where each node is at any time; what cannot be is an error with file and line."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.formats.format import Extent, Ways
from roambus.bridge.formats.movement import read_movement
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import positions
from roambus.bridge.system import files
from roambus.bridge.system.errors import UserError
from tests.support.movements import EXTENT, SIDE, Way, as_bonnmotion, as_setdest, ways

NS2 = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(0) set Z_ 0.0\n"
FILE = "walk.movements"
ORDERS = ("$node_(0) set X_ ", "$node_(0) set Y_ ", "$node_(1) set Z_ ", '$ns_ at 1 "$node_(0) setdest 1 ')
WORDS = (*ORDERS, "0 1 ", "2", "2\n", "1e5\n", '3 4"\n', "\n", " ", "nan", "\x00", "$god_\n")
"""What files are made of."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("movement")


LASTING = replace(EXTENT, time_limit=10**15)
"""Of a run in which whatever a file says happens."""


def read(folder: Path, content: str | bytes, name: str = FILE, extent: Extent = EXTENT) -> Ways:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_movement(path, extent)


def refused(folder: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(folder, content)


@given(nodes=st.lists(ways(), min_size=1, max_size=4))
def test_a_bonnmotion_trace_is_read_to_the_digit(folder: Path, nodes: Sequence[Way]) -> None:
    """Way-points in, the same way-points out; also from the gzipped file that BonnMotion writes."""
    text = as_bonnmotion(nodes)
    found = read(folder, text, extent=LASTING)
    assert [list(found[node]) for node in range(len(nodes))] == [list(way) for way in nodes]
    assert read(folder, gzip.compress(text.encode(), 1), f"{FILE}.gz", LASTING) == found


@given(nodes=st.lists(ways(), min_size=1, max_size=4))
def test_a_setdest_file_moves_nodes_at_its_speeds(folder: Path, nodes: Sequence[Way]) -> None:
    """Each node is where the written way has it: at its points, and between them."""
    found = read(folder, as_setdest(nodes), extent=LASTING)
    for node, way in enumerate(nodes):
        points = sorted({point.time_s for point in way})
        times = np.array(sorted({*points, *(time * 0.999 for time in points), points[-1] + 5}))
        assert positions(found[node], times) == pytest.approx(positions(way, times), abs=1e-6)


@pytest.mark.parametrize(
    ("orders", "way"),
    [
        ("", [(0, 10, 20)]),
        ('$ns_ at 2.0 "$node_(0) setdest 16 28 5"', [(0, 10, 20), (2, 10, 20), (4, 16, 28)]),
        (  # sent elsewhere on the way: from where it is then
            '$ns_ at 0 "$node_(0) setdest 20 20 1"\n$ns_ at 4 "$node_(0) setdest 14 10 5"',
            [(0, 10, 20), (4, 14, 20), (6, 14, 10)],
        ),
        (  # stopped on the way
            '$ns_ at 0 "$node_(0) setdest 20 20 1"\n$ns_ at 4 "$node_(0) setdest 20 20 0.0"',
            [(0, 10, 20), (4, 14, 20)],
        ),
        (  # in any order; of two at once the later line counts
            '$ns_ at 6 "$node_(0) setdest 90 90 1"\n$ns_ at 6 "$node_(0) setdest 16 20 2"\n'
            '$ns_ at 0 "$node_(0) setdest 12 20 1"',
            [(0, 10, 20), (2, 12, 20), (6, 12, 20), (8, 16, 20)],
        ),
        ('$ns_ at 3 "$node_(0) setdest 10 20 5"', [(0, 10, 20), (3, 10, 20)]),
    ],
)
def test_a_setdest_order_begins_where_the_node_is(
    folder: Path, orders: str, way: list[tuple[float, float, float]]
) -> None:
    """On its way, at rest, or stopped."""
    assert read(folder, NS2 + orders) == {0: tuple(WayPoint(*point) for point in way)}


def test_a_node_is_at_its_first_place_from_the_start(folder: Path) -> None:
    """BonnMotion can begin later; a file can have comments; the last line need not end."""
    assert read(folder, "# two nodes\n3 1 2 5 3 2\n0 7 7 # rests") == {
        0: ((0, 1, 2), (3, 1, 2), (5, 3, 2)),
        1: ((0, 7, 7),),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "walk.movements: no node moves here"),
        ("# nothing\n\n", "no node moves here"),
        ("hello\n", "walk.movements:1: 'hello' begins no file of a known format: give a trace of BonnMotion, t x y"),
        ("$x\n", r"walk.movements:1: '\$x' neither sets a node's X_, Y_ or Z_ nor gives it a setdest"),
        ("0 1 2\n0 1\n", "walk.movements:2: 2 numbers are not way-points of time, x and y"),
        ("0 1 2 1 x 2\n", "walk.movements:1: x is not a number"),
        ("0 1 2 nan 1 2\n", "nan is not a number"),
        ("0 1_0 2\n", "1_0 is not a number"),
        ("-1 1 2\n", "-1 is not a time from 0 to 1e"),
        ("1e300 1 2\n", "1e300 is not a time"),
        ("0 1 2 5 3 4 4 1 2\n", r"at 4 s it would be at \(1, 2\), but at 5 s at \(3, 4\)"),
        ("0 1 2 5 3 4 5 1 2\n", r"at 5 s it would be at \(1, 2\), but at 5 s at \(3, 4\)"),
        ("0 1 2\n0 1 101\n", r"movements:2: y = 101 is out of the field, 0 to 100 m \(SN.field_y\)"),
        ("0 1 -1e-9\n", "out of the field"),
        ("0 1 2\n" * 5, r"movements:5: node 4 is not one of the 4 nodes, 0 to 3 \(SN.numNodes\)"),
        ("0 1 2\n\n0 1 2\n", "movements:3: an empty line comes before it"),
        (NS2 + "$node_(4) set X_ 1", r"movements:4: node 4 is not one of the 4 nodes"),
        (NS2 + "$node_(99999999999999999999) set X_ 1", "node 99999999999999999999 is not one"),
        (NS2 + '$ns_ at 1 "$node_(7) setdest 1 2 3"', "movements:4: node 7 is not one"),
        (NS2 + '$ns_ at 1 "$node_(0) setdest 1 200 3"', "movements:4: y = 200 is out of the field"),
        (NS2 + '$ns_ at 1 "$node_(0) setdest 1 2 -3"', "movements:4: -3 is not a speed: 0, or from 1e-06 m/s up"),
        (NS2 + '$ns_ at 1 "$node_(0) setdest 1 2 1e-320"', "1e-320 is not a speed"),
        (NS2 + '$ns_ at soon "$node_(0) setdest 1 2 3"', "movements:4: soon is not a number"),
        (NS2 + '$ns_ at 1 "$node_(0) set X_ 3"', "movements:4: .* neither sets"),
        (NS2 + "$node_(0) set X_ 3", "movements:4: node 0 has an X_ already"),
        (NS2 + "$node_(1) set Z_ 3", "movements:4: z = 3 is out of the field, 0 to 0 m"),
        (NS2 + '$ns_ at 1 "$node_(1) setdest 1 2 3"', "walk.movements: node 1 has no X_ and Y_ to start at"),
        ("$node_(1) set X_ 3", "walk.movements: node 1 has no X_ and Y_"),
        (b"0 1 \xff\n", "movements:1: this is not UTF-8 text"),
        (gzip.compress(b"0 1 2\n", mtime=0)[:-6], "walk.movements: its gzip is damaged"),
        (b"\x1f\x8b\x08" + bytes(20), "its gzip is damaged"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(folder: Path, content: str | bytes, message: str) -> None:
    """With file and line."""
    refused(folder, content, message)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_no_more_is_read_than_the_limits_allow(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compress: type[bytes]
) -> None:
    """Also of a small file that unpacks to a large one."""
    monkeypatch.setattr(files.read_bytes, "__defaults__", (2**20,))
    monkeypatch.setattr(files.read_text, "__defaults__", (2**20,))
    refused(folder, compress(b"# a comment\n" * 2**17), "walk.movements: this is larger than 1 MiB")


@settings(max_examples=300)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(alphabet='0123456789 .-e\n#$nodesXYZt()_"a@', max_size=120).map(str.encode),
        st.lists(
            st.sampled_from(WORDS),
            max_size=20,
        ).map(lambda words: "".join(words).encode()),
    )
)
def test_garbage_is_a_way_or_an_error(folder: Path, content: bytes) -> None:
    """Never a crash, and never a place that is none."""
    with suppress(UserError):
        for way in read(folder, content).values():
            assert way[0].time_s == 0
            assert all(before.time_s < after.time_s < math.inf for before, after in pairwise(way))
            assert all(0 <= value <= SIDE for point in way for value in point[1:])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ("nn=3", r"walk.params:3: nn: there should be 3 nodes, but the trace has 2 lines"),
        ("x=200.0", r"walk.params:3: x: its field has 200 m, more than the 100 m of SN.field_x"),
        ("y=200.0", "walk.params:3: y: its field has 200 m, more than the 100 m of SN.field_y"),
        ("duration=9.5", r"walk.params:3: duration: it ends at 9.5 s, before the run at 10 s \(sim-time-limit\)"),
        ("J=3D", "walk.params:3: J: 3D is not 2D"),
        ("nn=many", "walk.params:3: nn: many is not a number"),
    ],
)
def test_what_bonnmotion_says_of_its_trace_is_checked(tmp_path: Path, params: str, message: str) -> None:
    """In the file beside it, whether the trace is gzipped or not."""
    head = "model=RandomWaypoint\nignore=3600.0\n"
    (tmp_path / "walk.params").write_text(f"{head}x=100.0\ny=100.0\nnn=2\nduration=10.0\nJ=2D\ncircular=false\n")
    trace = "0 1 2\n0 1 3\n"
    assert len(read(tmp_path, trace)) == 2
    (tmp_path / "walk.params").write_text(head + params + "\n")
    refused(tmp_path, trace, message)
    with pytest.raises(UserError, match=message):
        read(tmp_path, gzip.compress(trace.encode()), f"{FILE}.gz")


def test_a_trace_of_three_coordinates_is_not_read_as_one_of_two(folder: Path) -> None:
    """Its numbers are no way-points in ascending order."""
    refused(folder, "0 1 2 0 9 3 4 0\n", "8 numbers are not way-points of time, x and y")
    refused(folder, "0 1 2 0 5 3 4 0 9 1 2 0\n", "at 0 s it would be at")


@pytest.mark.parametrize(
    "text", ["700 1 2 900 3 4\n", '$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$ns_ at 700 "$node_(0) setdest 2 2 1"\n']
)
def test_movement_that_begins_after_the_run_is_refused(folder: Path, text: str) -> None:
    """The file was made for another run."""
    refused(folder, text, "the first node moves at 700 s, after the run")


def test_files_of_other_systems_are_read(folder: Path) -> None:
    """A byte order mark, line ends of the old Mac, and comments behind Tcl's orders."""
    order = '$ns_ at 2.0 "$node_(0) setdest 16 28 5" ;# go'
    text = f"\ufeff$node_(0) set X_ 10 ;# metres\r$node_(0) set Y_ 20\t;# metres\r{order}\r"
    assert [tuple(point) for point in read(folder, text)[0]] == [(0, 10, 20), (2, 10, 20), (4, 16, 28)]
