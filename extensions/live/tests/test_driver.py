"""Drivers of live nodes are what the command line says, and get each course."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from roambus.bridge.backend import Course, Hello, LocalNode, Move, NodeInfo, Step, Totals, Transmission
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.system.errors import BackendError, UserError
from roambus.extensions.live.driver import make_driver
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Started
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.flights import LASTING, flying, rows_of

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


class Machine(Agent):
    """Goes somewhere at 1 s, and elsewhere at 2 s; notes where it believes to be."""

    needs_position = True

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        self.set_timer(1, SECOND)
        self.set_timer(2, 2 * SECOND)

    @on_timer(int)
    def go(self, number: int, now: SimTime) -> None:
        self.note("here", detail=str(self.position))
        self.go_to(90, 10 * number, speed=5)


@dataclass
class Air:
    """Wakes the host at its times; the machine's receiver has a fix at 1.5 s, off its course."""

    told: list[Course] = field(default_factory=list)
    fixes: list[Move] = field(default_factory=lambda: [Move(0, 0, 10, 10), Move(SECOND * 3 // 2, 0, 12, 13)])

    def open(self) -> Hello:
        """Begin."""
        return Hello("air", [NodeInfo(0)], LASTING, own=LocalNode(0, 0), steer=self.told.append)

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """Go on to the next fix or wake-up."""
        now = min(LASTING if wake_up is None else wake_up, self.fixes[0].time if self.fixes else LASTING)
        fixes = [self.fixes.pop(0)] if self.fixes and self.fixes[0].time == now else []
        return Step(now, moves=fixes) if now < LASTING else None

    def fail(self, error: BaseException) -> None:
        """Keep the error to itself."""

    def close(self) -> Totals:
        """End."""
        return Totals()


def test_a_course_begins_where_the_receiver_shows_the_node() -> None:
    """The agent's position is the fix, too, and the trace has no way that only the commands would have made."""
    scenario, air = flying(Steered(), agent="machine", time_limit=LASTING), Air()
    rows = rows_of(replace(scenario, nodes=scenario.nodes[:1]), Machine, air)
    assert [(course.x, course.y, course.to_x, course.to_y) for course in air.told] == [
        (10, 10, 90, 10),
        (12, 13, 90, 20),
    ]
    assert [row["detail"] for row in rows if row["event"] == "here"] == ["(10.0, 10.0)", "(12.0, 13.0)"]
    assert not [row for row in rows if row["event"] == "move"]
