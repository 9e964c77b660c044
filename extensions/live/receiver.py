"""A live node's real position receiver, whose last line holds: x, y (m) and perhaps the velocity in x and y (m/s).

A line that cannot be read is counted, and the last fix stays. Any program of the machine can send lines to a port. A
place outside the field or out of reach is counted, too, but used, because real receivers err as well.
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from contextlib import suppress
from math import dist
from pathlib import Path
from types import MappingProxyType

from roambus.bridge.backend import Move
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import open_regular
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

_PORT = re.compile(r"udp:(\d{1,5})")
_LONGEST_LINE = 1024
_BURST = 64
"""Datagrams read in a row: a flood cannot delay the agent."""
LASTING: SimTime = 10 * SECOND
"""A node goes on at the velocity of its last fix for so long."""
MOST_M, MOST_M_S = 1_000_000.0, 10_000.0
"""No field is larger, and no node faster: beyond these a line is no fix."""
FASTEST_M_S, NOISE_M = 100.0, 50.0
"""A fix farther from the last one is implausible: 360 km/h, and the error of two fixes."""
FIXES, UNREADABLE, IMPLAUSIBLE = "fixes", "fixes_unreadable", "fixes_implausible"
"""The counts of a receiver."""
FIX_REMARKS = MappingProxyType(
    {
        UNREADABLE: "lines of its position receiver could not be read: the last fix stayed",
        IMPLAUSIBLE: f"fixes lie outside the field, or farther from the last one than {FASTEST_M_S:g} m/s allow",
    }
)
"""The remarks on a receiver, by count."""

Fix = tuple[float, ...]
"""x and y, or x, y and both velocities."""


class PositionSource:
    """One node's receiver."""

    def __init__(self, node: NodeId, place: str) -> None:
        """Open "FILE" or "udp:PORT"; raise UserError."""
        self._node, self._place, self._line = node, place, ""
        self._last: tuple[SimTime, Fix] | None = None
        """The fix in the run, since its time."""
        self._fix: Fix | None = None
        self._field_m = (0.0, 0.0)
        self.counts: Counter[str] = Counter()
        self._socket: socket.socket | None = None
        if port := _PORT.fullmatch(place):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            try:
                self._socket.bind(("127.0.0.1", int(port[1])))
            except (OSError, OverflowError) as error:
                raise UserError(f"--position {place}: {error}") from None

    def start(self, field_m: tuple[float, float]) -> None:
        """Begin a run on this field; raise UserError without a fix."""
        self._line, self._last, self._field_m = "", None, field_m
        lines = self._lines()
        self._fix = next((fix for line in reversed(lines) if (fix := read_fix(line))), self._fix)
        self.counts = Counter({FIXES: 1})
        if self._fix is None:
            found = f": {lines[-1][:40]!r} is none" if lines else ""
            problem = f"there is no fix yet{found}: a line of x and y (m), or of these and the velocity (m/s)"
            raise UserError(f"--position {self._place}: {problem}")

    def close(self) -> None:
        """Free the port."""
        if self._socket is not None:
            self._socket.close()

    def moves(self, now: SimTime) -> list[Move]:
        """Return the way from the last new fix on, if there is one; the first one holds from 0 on."""
        fix, time = (self._fix, 0) if self._last is None else (None, now)
        for line in self._lines():
            found = read_fix(line)
            self.counts[FIXES if found else UNREADABLE] += 1
            fix = found or fix
        if fix is None:
            return []
        self.counts[IMPLAUSIBLE] += not self._is_plausible(fix, now)
        self._last = now, fix
        x, y, *velocity = fix
        way = [Move(time, self._node, x, y)]
        if velocity:
            dx, dy = (speed * LASTING / SECOND for speed in velocity)
            way.append(Move(time + LASTING, self._node, x + dx, y + dy))
        return way

    def _is_plausible(self, fix: Fix, now: SimTime) -> bool:
        """Whether a node can be there: on the field, and not too far from its last fix."""
        is_inside = all(0 <= place <= side for place, side in zip(fix, self._field_m, strict=False))
        if self._last is None:
            return is_inside
        since, last = self._last
        return is_inside and dist(last[:2], fix[:2]) <= FASTEST_M_S * (now - since) / SECOND + NOISE_M

    def _lines(self) -> list[str]:
        """The new lines: the last one of the file, if it is another one, or all that came to the port."""
        if self._socket:
            return self._datagrams(self._socket)
        before, self._line = self._line, self._last_of_file() or self._line
        return [self._line] if self._line != before else []

    @staticmethod
    def _datagrams(port: socket.socket) -> list[str]:
        lines: list[str] = []
        with suppress(BlockingIOError):
            while len(lines) < _BURST:
                text = port.recv(_LONGEST_LINE).decode(errors="replace").strip()
                lines.append(text.rpartition("\n")[2].strip())
        return lines

    def _last_of_file(self) -> str:
        """The last whole line, empty if the file is gone."""
        with suppress(OSError), open_regular(Path(self._place)) as file:
            file.seek(max(0, file.seek(0, 2) - _LONGEST_LINE))
            whole = file.read().decode(errors="replace").rpartition("\n")[0].strip()
            return whole.rpartition("\n")[2].strip()
        return ""


def read_fix(line: str) -> Fix | None:
    """The fix in a line, or None if it is none that can be."""
    try:
        values = tuple(float(word) for word in line.split())
    except ValueError:
        return None
    if len(values) not in (2, 4):
        return None
    bounds = (MOST_M, MOST_M, MOST_M_S, MOST_M_S)[: len(values)]
    are_bounded = all(abs(value) <= most for value, most in zip(values, bounds, strict=True))  # and no NaN
    return values if are_bounded else None
