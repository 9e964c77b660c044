"""Formats of packages: which files they claim, and what they may not return."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from roambus.bridge.formats import format as module
from roambus.bridge.formats.contacts import OneEvents, read_contacts
from roambus.bridge.formats.format import Contact, ContactFormat, Extent, Format, MovementFormat, Ways, packages_of
from roambus.bridge.formats.movement import BonnMotion, SetDest, read_movement
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND

EXTENT = Extent(2, (100.0, 50.0), 100 * SECOND)
WALK = (WayPoint(0.0, 1.0, 2.0), WayPoint(5.0, 3.0, 4.0))


class Track(MovementFormat):
    """Returns a walk whatever the file says, unless a line is a number by which to divide."""

    FORM = "a track"
    found: ClassVar[Ways] = {0: WALK}

    @classmethod
    def begins(cls, line: str) -> bool:
        return line == "track"

    def take(self, number: int, line: str) -> None:
        if line.isdecimal():
            1 / int(line)

    def ways(self) -> Ways:
        return self.found


class Named(Track):
    """Has the files of its own name, whatever they begin with."""

    SUFFIXES = (".trk",)


class Meetings(ContactFormat):
    """Returns its contacts whatever the file says."""

    FORM = "meetings"
    found: ClassVar[list[Contact]] = []

    @classmethod
    def begins(cls, line: str) -> bool:
        return line == "meetings"

    def take(self, number: int, line: str) -> None:
        pass

    def contacts(self) -> Iterator[Contact]:
        return iter(self.found)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[Format]]:
    """The formats that are there."""
    found: dict[str, type[Format]] = {
        "BonnMotion": BonnMotion,
        "setdest": SetDest,
        "ONE": OneEvents,
        "track": Track,
        "named": Named,
        "meetings": Meetings,
    }
    monkeypatch.setattr(module, "classes", lambda *_: found)
    return found


def read(folder: Path, text: str, name: str = "file") -> Ways:
    (folder / name).write_text(text)
    return read_movement(folder / name, EXTENT)


def test_a_file_is_of_the_format_that_its_first_line_begins(tmp_path: Path) -> None:
    """Ours and others alike, behind comments and empty lines."""
    assert read(tmp_path, "# a comment\n\ntrack\n") == {0: WALK}
    assert read(tmp_path, "0 1 2") == {0: ((0, 1, 2),)}


def test_a_name_goes_before_the_first_line(tmp_path: Path) -> None:
    """Also of a gzipped file, and only of the name's own format."""
    assert read(tmp_path, "0 1 2", "walk.trk") == {0: WALK}
    (tmp_path / "walk.trk.gz").write_bytes(gzip.compress(b"0 1 2"))
    assert read_movement(tmp_path / "walk.trk.gz", EXTENT) == {0: WALK}


def test_a_file_of_two_formats_is_refused(tmp_path: Path, installed: dict[str, type[Format]]) -> None:
    """By both names."""
    installed["other"] = Track
    with pytest.raises(UserError, match="file: it could be other or track: uninstall the package of one of them"):
        read(tmp_path, "track\n")


def test_a_file_of_the_other_kind_is_none(tmp_path: Path) -> None:
    """Contacts are no movements."""
    with pytest.raises(UserError, match=r"file:1: 'meetings' begins no file of a .*, or a track \(track\)"):
        read(tmp_path, "meetings\n")


def test_an_error_of_a_package_is_named(tmp_path: Path) -> None:
    """With file, line and format; one of ours is raised as it is."""
    with pytest.raises(UserError, match=r"file:3: the format .*test_format.Track raised ZeroDivisionError: division"):
        read(tmp_path, "track\n1\n0\n")
    with pytest.raises(ZeroDivisionError), module.mistakes_of(BonnMotion(EXTENT), "file"):
        _ = 1 // 0


@pytest.mark.parametrize(
    ("ways", "problem"),
    [
        ({2: WALK}, "node 2 is not one of the 2 nodes"),
        ({0: ()}, "node 0 has no place at time 0"),
        ({0: WALK[1:]}, "node 0 has no place at time 0"),
        ({0: (*WALK, WayPoint(5.0, 1, 1))}, "the times of node 0 do not ascend"),
        ({0: (*WALK, WayPoint(6.0, 100.1, 1))}, r"x = 100.1 is out of the field"),
        ({0: (*WALK, WayPoint(6.0, 1, 50.1))}, r"y = 50.1 is out of the field"),
        ({0: (*WALK, WayPoint(float("nan"), 1, 1))}, "nan is not a number"),
        ({0: (*WALK, WayPoint(1e300, 1, 1))}, r"1e\+300 is not a time"),
    ],
)
def test_ways_that_no_node_can_go_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ways: Ways, problem: str
) -> None:
    """Of a package's format, which may be wrong."""
    monkeypatch.setattr(Track, "found", ways)
    with pytest.raises(UserError, match=f"file: {problem}"):
        read(tmp_path, "track\n")


@pytest.mark.parametrize(
    ("contact", "problem"),
    [
        (((0, 2), 0, 1), "node 2 is not one of the 2 nodes"),
        (((0, 0), 0, 1), "node 0 meets itself"),
        (((1, 0), 0, 1), "there is no contact of 1 and 0 from 0 ns to 1 ns"),
        (((0, 1), 1, 1), "there is no contact of 0 and 1 from 1 ns to 1 ns"),
        (((0, 1), -1, 1), "there is no contact of 0 and 1 from -1 ns to 1 ns"),
        (((0, 1), 1.5, 3.25), "the format .* raised TypeError: 'float' object cannot be"),
        (((0, 1), 0, float("inf")), "the format .* raised TypeError"),
    ],
)
def test_contacts_that_cannot_be_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contact: Contact, problem: str
) -> None:
    """Of a package's format, too."""
    (tmp_path / "file").write_text("meetings\n")
    monkeypatch.setattr(Meetings, "found", [((0, 1), 0, 1)])
    assert len(read_contacts(tmp_path / "file", EXTENT).changes) == 2
    monkeypatch.setattr(Meetings, "found", [contact])
    with pytest.raises(UserError, match=f"file: {problem}"):
        read_contacts(tmp_path / "file", EXTENT)


def test_no_contact_is_told_with_the_form(tmp_path: Path) -> None:
    """As of ours."""
    (tmp_path / "file").write_text("meetings\n")
    with pytest.raises(UserError, match="file: there is no contact in it: give meetings"):
        read_contacts(tmp_path / "file", EXTENT)


def test_our_formats_bring_no_package(tmp_path: Path) -> None:
    """Then no file is looked at."""
    assert list(packages_of([tmp_path / "missing"])) == []
