"""Drivers of live nodes are what the command line says, and get each course."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from roambus.bridge.backend import Course
from roambus.bridge.system.errors import BackendError, UserError
from roambus.extensions.live.driver import make_driver

COURSE = Course(3, 5, 0.1, 2.5, 9, 3.0, 4.0)
STOP = Course(3, 9, 3.0, 4.0, 9, 3.0, 4.0)
ROVER = """\
told = []

def drive(course):
    told.append((course.node, course.to_x))

def other(course):
    raise ValueError("the motor is off")
"""


@pytest.fixture
def rover(tmp_path: Path) -> Path:
    """A file with functions."""
    (tmp_path / "rover.py").write_text(ROVER)
    return tmp_path / "rover.py"


def test_a_file_is_told_each_course(rover: Path) -> None:
    """By its function `drive`; what another one raises names driver and node."""
    drive = make_driver(str(rover))
    drive(COURSE)
    with pytest.raises(BackendError, match=r"driver .*rover.py:other, node 3: ValueError: the motor is off"):
        make_driver(f"{rover}:other")(COURSE)


@pytest.mark.parametrize("host", ["", "127.0.0.1:", "localhost:"])
def test_a_port_gets_a_line_for_each_course(host: str) -> None:
    """Without a host it is one of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind((host.strip(":") or "127.0.0.1", 0))
        port.settimeout(5)
        drive = make_driver(f"udp:{host}{port.getsockname()[1]}")
        drive(COURSE)
        drive(STOP)
        lines = [port.recv(1024).decode() for _ in range(2)]
    assert [Course(**json.loads(line)) for line in lines] == [COURSE, STOP]
    assert all(line.endswith("}\n") for line in lines)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("ROVER:absent", "has no function absent"),
        ("ROVER:told", "has no function told"),
        ("rover", "write FILE.py, FILE.py:FUNCTION, udp:PORT or udp:HOST:PORT"),
        ("udp:", "write FILE.py, "),
        ("tcp:7600", "write FILE.py, "),
        ("udp:99999", "--driver udp:99999: "),
        ("udp:no such host:7600", "--driver udp:no such host:7600: "),
    ],
)
def test_what_is_no_driver_is_refused(rover: Path, place: str, problem: str) -> None:
    """With what to write instead."""
    with pytest.raises(UserError, match=problem):
        make_driver(place.replace("ROVER", str(rover)))


def test_a_port_at_which_nobody_listens_is_no_error() -> None:
    """A datagram may be lost; and the next one is sent all the same."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind(("127.0.0.1", 0))
        place = f"udp:{port.getsockname()[1]}"
    drive = make_driver(place)
    for _ in range(3):
        drive(COURSE)
