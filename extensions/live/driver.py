"""The drivers of live nodes: what moves a node for real where its agent says `go_to` or `halt`.

A driver is the user's. A function of a Python file is called with each `Course`, in the process of the node. A program
gets each course as a UDP datagram: a line of JSON with the same names.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from pathlib import Path

from roambus.bridge.backend import Course
from roambus.bridge.system.errors import BackendError, UserError
from roambus.bridge.system.imports import import_file

Driver = Callable[[Course], None]
"""It takes a course, raises BackendError if that fails, and returns at once."""

LOOPBACK = "127.0.0.1"
LAST_PORT = 65535
FUNCTION = "drive"
"""The function of a file, if no other is named."""
_UDP = re.compile(r"udp:(?:(?P<host>\[[^\]]+\]|[^:]+):)?(?P<port>\d{1,5})")


def make_driver(place: str) -> Driver:
    """Return the driver at "FILE.py[:FUNCTION]" or "udp:[HOST:]PORT"; raise UserError."""
    if address := _UDP.fullmatch(place):
        return _lines(place, (address["host"] or LOOPBACK).strip("[]"), int(address["port"]))
    file, _, name = place.rpartition(":") if not place.endswith(".py") else (place, "", "")
    if not file.endswith(".py"):
        raise UserError(f"--driver {place}: write FILE.py, FILE.py:FUNCTION, udp:PORT or udp:HOST:PORT")
    module = import_file(f"--driver {place}", Path(file))
    function = getattr(module, name or FUNCTION, None)
    if not callable(function):
        raise UserError(f"--driver {place}: {file} has no function {name or FUNCTION}")
    return _named(place, function)


def _named(place: str, function: Driver) -> Driver:
    def drive(course: Course) -> None:
        try:
            function(course)
        except Exception as error:
            text = f"driver {place}, node {course.node}: {type(error).__name__}: {error}"
            raise BackendError(text) from error

    return drive


def _lines(place: str, host: str, port: int) -> Driver:
    """Return the driver that sends a line to an address for each course; raise UserError."""
    if port > LAST_PORT:
        raise UserError(f"--driver {place}: ports are numbers up to {LAST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except (OSError, UnicodeError) as error:
        raise UserError(f"--driver {place}: {error}") from None

    def drive(course: Course) -> None:
        line = json.dumps(course._asdict()) + "\n"
        try:
            with socket.socket(family, kind, protocol) as own:  # few are sent, and none is kept for nothing
                own.setblocking(False)
                own.sendto(line.encode(), address)
        except OSError as error:
            raise BackendError(f"driver {place}, node {course.node}: {error.strerror or error}") from None

    return drive
