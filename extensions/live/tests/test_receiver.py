"""A live node's own position receiver writes fixes to a file or a socket."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from roambus.bridge.host.positions import Receivers
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.system.errors import UserError
from roambus.extensions.live.receiver import PositionSource
from roambus.extensions.live.tests.test_machines import free_ports
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.bridge.host.test_positions import places

FIELD = (1000.0, 1000.0)


def test_the_last_whole_line_of_a_file_is_the_position(tmp_path: Path) -> None:
    """In place of the template's movement; a velocity carries on, until another fix comes."""
    file = tmp_path / "fixes"
    file.write_text("1 2\n10 20\n99")
    source, receivers = PositionSource(0, str(file)), Receivers(places(NodeSettings((5, 5)), NodeSettings((9, 9))))
    source.start(FIELD)

    def fix(now: SimTime) -> object:
        receivers.learn(source.moves(now))
        return receivers._receivers[0].fix(now)

    assert fix(SECOND) == ((10, 20), (0, 0))
    file.write_text("10 20\n12 20 2 0.5\n")
    assert fix(2 * SECOND) == ((12, 20), (2, 0.5))
    assert fix(4 * SECOND) == ((16, 21), (2, 0.5))
    file.write_text("15 20\n")
    assert fix(5 * SECOND) == ((15, 20), (0, 0))


def test_a_datagram_is_a_fix() -> None:
    """Sent to a port of this machine; before the first one no run begins."""
    (port,) = free_ports(1)
    source = PositionSource(3, f"udp:{port}")
    with pytest.raises(UserError, match=f"--position udp:{port}: there is no fix yet"):
        source.start(FIELD)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gps:
        gps.sendto(b"7 8\n", ("127.0.0.1", port))
        source.start(FIELD)
        assert source.moves(SECOND) == [(0, 3, 7, 8)]
        assert source.moves(2 * SECOND) == []
    source.close()


UNREADABLE_LINES = ["here", "1", "1 2 3", "1 nan", "1 inf", "1e300 2", "1 2 3e5 0", "1 2 3 4 5", "\x00\x1b[2J"]


@pytest.mark.parametrize("line", UNREADABLE_LINES)
def test_a_line_that_is_no_fix_begins_no_run(tmp_path: Path, line: str) -> None:
    """The message names its source."""
    file = tmp_path / "fixes"
    file.write_text(line + "\n")
    with pytest.raises(UserError, match=r"--position .*fixes: there is no fix yet: '.*' is none: a line of x and y"):
        PositionSource(0, str(file)).start(FIELD)


@pytest.mark.parametrize("line", UNREADABLE_LINES)
def test_an_unreadable_line_keeps_the_last_fix(tmp_path: Path, line: str) -> None:
    """It is counted, in a file and at a port; the next fix counts again."""
    file = tmp_path / "fixes"
    file.write_text("1 2\n")
    source = PositionSource(0, str(file))
    source.start(FIELD)
    assert source.moves(SECOND) == [(0, 0, 1, 2)]
    file.write_text(f"1 2\n{line}\n")
    assert source.moves(2 * SECOND) == []
    file.write_text(f"1 2\n{line}\n3 4\n")
    assert source.moves(3 * SECOND) == [(3 * SECOND, 0, 3, 4)]
    assert source.counts == {"fixes": 2, "fixes_unreadable": 1, "fixes_implausible": 0}
    source.start(FIELD)
    assert source.moves(SECOND) == [(0, 0, 3, 4)]


def test_a_file_that_is_gone_keeps_the_last_fix(tmp_path: Path) -> None:
    """A FIFO in its place is not waited for."""
    file = tmp_path / "fixes"
    file.write_text("1 2\n")
    source = PositionSource(0, str(file))
    source.start(FIELD)
    source.moves(SECOND)
    file.unlink()
    assert source.moves(2 * SECOND) == []
    os.mkfifo(file)
    assert source.moves(3 * SECOND) == []


def test_datagrams_of_others_keep_the_last_fix_and_are_bounded() -> None:
    """An empty one, one that is no text, and a flood, of which a burst is read at a time."""
    (port,) = free_ports(1)
    source = PositionSource(3, f"udp:{port}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gps:
        gps.sendto(b"7 8\n", ("127.0.0.1", port))
        gps.sendto(b"hello", ("127.0.0.1", port))
        source.start(FIELD)
        assert source.moves(SECOND) == [(0, 3, 7, 8)]
        for text in (b"", b"\xff\xfe", b"8 8", b"x" * 60_000):
            gps.sendto(text, ("127.0.0.1", port))
        assert source.moves(2 * SECOND) == [(2 * SECOND, 3, 8, 8)]
        assert source.counts == {"fixes": 2, "fixes_unreadable": 3, "fixes_implausible": 0}
        for number in range(100):
            gps.sendto(f"9 {number / 10}".encode(), ("127.0.0.1", port))
        assert source.moves(3 * SECOND) == [(3 * SECOND, 3, 9, 6.3)]
        assert source.moves(4 * SECOND) == [(4 * SECOND, 3, 9, 9.9)]
    source.close()


def test_an_implausible_fix_is_used_and_counted(tmp_path: Path) -> None:
    """Outside the field, or farther than a fast node and two errors; what follows is judged by it."""
    file = tmp_path / "fixes"
    source = PositionSource(0, str(file))
    found = []
    for at, line in enumerate(["50 50", "60 50", "120 50", "500 50", "510 50", "80 50", "100 100"]):
        file.write_text(f"{line}\n")
        if not at:
            source.start((100, 100))
        assert len(source.moves(at * SECOND)) == 1
        found.append(source.counts["fixes_implausible"])
    assert found == [0, 0, 1, 2, 3, 4, 4]
