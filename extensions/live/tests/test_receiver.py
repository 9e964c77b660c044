"""A live node's own position receiver writes fixes to a file or a socket."""

from __future__ import annotations

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


def test_the_last_whole_line_of_a_file_is_the_position(tmp_path: Path) -> None:
    """In place of the template's movement; a velocity carries on, until another fix comes."""
    file = tmp_path / "fixes"
    file.write_text("1 2\n10 20\n99")
    source, receivers = PositionSource(0, str(file)), Receivers(places(NodeSettings((5, 5)), NodeSettings((9, 9))))
    source.start()

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
        source.start()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gps:
        gps.sendto(b"7 8\n", ("127.0.0.1", port))
        source.start()
        assert source.moves(SECOND) == [(0, 3, 7, 8)]
        assert source.moves(2 * SECOND) == []
    source.close()


@pytest.mark.parametrize("line", ["here", "1", "1 2 3", "1 nan"])
def test_a_line_that_is_no_fix_is_reported(tmp_path: Path, line: str) -> None:
    """With its source."""
    file = tmp_path / "fixes"
    file.write_text(line + "\n")
    with pytest.raises(UserError, match=rf"fixes: '{line}' is not x and y \(m\), or x, y and velocity"):
        PositionSource(0, str(file)).start()
