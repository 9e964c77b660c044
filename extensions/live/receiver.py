"""A live node's real position receiver, whose last line holds: x, y (m) and perhaps the velocity in x and y (m/s)."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from math import isfinite
from pathlib import Path

from roambus.bridge.backend import Move
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

_PORT = re.compile(r"udp:(\d{1,5})")
_LONGEST_LINE = 1024
# A node goes on at the velocity of its last fix for so long.
LASTING: SimTime = 10 * SECOND


class PositionSource:
    """One node's receiver."""

    def __init__(self, node: NodeId, place: str) -> None:
        """Open "FILE" or "udp:PORT"; raise UserError."""
        self._node, self._place, self._line, self._first = node, place, "", True
        self._socket: socket.socket | None = None
        if port := _PORT.fullmatch(place):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            try:
                self._socket.bind(("127.0.0.1", int(port[1])))
            except (OSError, OverflowError) as error:
                raise UserError(f"--position {place}: {error}") from None

    def start(self) -> None:
        """Begin a run; raise UserError without a fix."""
        self._line, self._first = self._last_line() or self._line, True
        if not self._line:
            raise UserError(f"--position {self._place}: there is no fix yet: a line of x and y in metres")
        self._read(self._line)

    def close(self) -> None:
        """Free the port."""
        if self._socket is not None:
            self._socket.close()

    def moves(self, now: SimTime) -> list[Move]:
        """Return the way from a new fix on; raise UserError."""
        line = self._last_line()
        if not self._first and (not line or line == self._line):
            return []
        self._line = line or self._line
        x, y, *velocity = self._read(self._line)
        made = [Move(0 if self._first else now, self._node, x, y)]
        self._first = False
        if velocity:
            dx, dy = (speed * LASTING / SECOND for speed in velocity)
            made.append(Move(made[0].time + LASTING, self._node, x + dx, y + dy))
        return made

    def _last_line(self) -> str:
        text = ""
        if self._socket is None:
            with Path(self._place).open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - _LONGEST_LINE))
                text = file.read().decode(errors="replace").rpartition("\n")[0]
        else:
            with suppress(BlockingIOError):
                while True:
                    text = self._socket.recv(_LONGEST_LINE).decode(errors="replace").strip()
        return text.rpartition("\n")[2].strip()

    def _read(self, line: str) -> list[float]:
        try:
            values = [float(word) for word in line.split()]
        except ValueError:
            values = []
        if len(values) not in (2, 4) or not all(map(isfinite, values)):
            raise UserError(f"--position {self._place}: {line[:40]!r} is not x and y (m), or x, y and velocity (m/s)")
        return values
