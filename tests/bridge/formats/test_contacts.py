"""Contacts from files make ideal links that come and go."""

import gzip
from pathlib import Path

import pytest

from roambus.bridge.formats.contacts import read_contacts
from roambus.bridge.formats.format import Extent
from roambus.bridge.scenario.plans import LinkChange
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND

EXTENT = Extent(4, (10.0, 10.0), 100 * SECOND)


def changes(folder: Path, text: str) -> list[str]:
    file = folder / "contacts"
    file.write_text(text)
    return [shown(contact) for contact in read_contacts(file, EXTENT).changes]


def shown(change: LinkChange) -> str:
    return f"{change.at / SECOND:g} {change.a}-{change.b} {'up' if change.up else 'down'}"


def test_events_of_the_one_are_read(tmp_path: Path) -> None:
    """Messages of the file are left out, and what is up at its end stays up."""
    text = "# from the ONE\n0 CONN 0 1 up\n5 C M1 0 3 25\n10.5\tCONN\t1\t2\tup\n20 CONN 1 0 down\n"
    assert changes(tmp_path, text) == ["0 0-1 up", "10.5 1-2 up", "20 0-1 down"]


def test_csv_is_read_by_its_heading(tmp_path: Path) -> None:
    """Columns are in any order; contacts that overlap are one, and the run ends at 100 s."""
    text = "a,b,start,end\n0,1,5,20\n1,0,15,30\n2,3,90,120\n2,0,100,120\n"
    assert changes(tmp_path, text) == ["5 0-1 up", "30 0-1 down", "90 2-3 up"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no contact in it"),
        ("0 CONN 0 1 up\n5 CONN 0 4 up\n", ":2: node 4 is not one of the 4 nodes"),
        ("0 CONN 0 1 up\n5 CONN 0 1 up\n", ":2: the link of 0 and 1 is up already"),
        ("0 CONN 0 1 up\n5 CONN 0 1 down\n6 CONN 1 0 down\n", ":3: the link of 0 and 1 is down already"),
        ("start,end,a,b\n", "contacts: there is no contact in it"),
        ("5 C M1 0 3 25\n", "contacts: there is no contact in it"),
        (
            "0 conn 0 1 up\n",
            ":1: '0 conn 0 1 up' begins no file of a known format: give CSV whose heading has",
        ),
        ("1\t2\t0\t10\t1\t0\n", ":1: '1\\t2\\t0\\t10\\t1\\t0' begins no file of a known format"),
        ("500 CONN 0 1 up\n510 CONN 0 1 down\n", "contacts: its first contact, at 500 s, is after the run of 100 s"),
        ("start,end,a,b\n500,510,0,1\n", "contacts: its first contact, at 500 s, is after the run of 100 s"),
        ("5 CONN 0 1 up\n4 CONN 0 1 down\n", ":2: an event at 4 s comes after a later one"),
        ("0 CONN 0 1\n", ":1: 0 CONN 0 1 is not an event such as"),
        ("0 CONN 1 1 up\n", ":1: node 1 meets itself"),
        ("-1 CONN 0 1 up\n", ":1: -1 is not a time from 0 to"),
        ("start,end,a,b\n5,4,0,1\n", ":2: a contact that begins at 5 s cannot end at 4 s"),
        ("start,end,a,b\n5,5,0,1\n", "contacts: its 1 contacts end when they begin"),
        ("5 CONN 0 1 up\n5 CONN 0 1 down\n", "contacts: its 1 contacts end when they begin"),
        ("start,end,a,b\n5,6,0\n", ":2: 5,6,0 has 3 columns, and the heading has 4"),
        ("start,end,a,b\n5,6,0,1,7\n", ":2: 5,6,0,1,7 has 5 columns, and the heading has 4"),
        ("start,end,a,b,start\n1,5,0,1,500\n", ":1: the heading has the column 'start' twice"),
        ("start,end,a,b,loss\n1,5,0,1,0.5\n", ":1: contacts have no loss: leave the column out"),
        ("start,end,a,b,Delay\n1,5,0,1,2\n", ":1: contacts have no Delay: leave the column out"),
        ("start;end;a;b;signal\n1;5;0;1;-70\n", ":1: the heading has the column 'signal', which is not used: leave it"),
        ("start,end,a,b,\n1,5,0,1,\n", ":1: the heading has the column '', which is not used: leave it out"),
        ("0 CONN 0 1 up 100\n", ":1: 0 CONN 0 1 up 100 is not an event such as"),
        ("0 CONN 0 1 up\n5 CONN 0 1 down up\n", ":2: 5 CONN 0 1 down up is not an event such as"),
        ("start,end,a,b\n5,x,0,1\n", ":2: x is not a number"),
    ],
)
def test_what_is_no_contact_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """With its file and line."""
    with pytest.raises(UserError) as raised:
        changes(tmp_path, text)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "5 CONN 0 1 up\n5 CONN 0 1 down\n10 CONN 0 2 up\n20 CONN 0 2 down\n",
        "start,end,a,b\n5,5,0,1\n10,20,0,2\n",
    ],
)
def test_contacts_that_last_no_time_are_left_out_and_counted(tmp_path: Path, text: str) -> None:
    """In both forms, as nearly half of the contacts of a public trace that scans every two minutes."""
    file = tmp_path / "contacts"
    file.write_text(text)
    found = read_contacts(file, EXTENT)
    assert ([shown(change) for change in found.changes], found.passing) == (["10 0-2 up", "20 0-2 down"], 1)


def test_a_contact_that_both_nodes_record_is_one(tmp_path: Path) -> None:
    """As in the public traces of haggle: it lasts from the first node's beginning to the last one's end."""
    text = "0 CONN 2 0 up\n5 CONN 0 2 up\n9 CONN 2 0 down\n12 CONN 0 2 down\n"
    assert changes(tmp_path, text) == ["0 0-2 up", "12 0-2 down"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_spreadsheets_are_read(tmp_path: Path, separator: str, end: str, *, packed: bool) -> None:
    """With a byte order mark, any separator and line ends, comments behind values, plain or gzipped."""
    lines = [separator.join(["start", "end", "a", "b"]), separator.join(["5", "20", "0", "1"]) + "  # metres"]
    content = ("\ufeff" + end.join(lines) + end).encode()
    file = tmp_path / "contacts.csv"
    file.write_bytes(gzip.compress(content) if packed else content)
    assert [shown(contact) for contact in read_contacts(file, EXTENT).changes] == ["5 0-1 up", "20 0-1 down"]
