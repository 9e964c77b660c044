"""Reads a movement file, whichever of the formats it has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from roambus.bridge.errors import UserError
from roambus.bridge.movement.bonnmotion import BonnMotion
from roambus.bridge.movement.extent import Extent
from roambus.bridge.movement.lines import read_lines
from roambus.bridge.movement.params import check_params, params_file
from roambus.bridge.movement.setdest import SetDest
from roambus.bridge.scenario.mobility import WayPoint
from roambus.python_protocol.roles import NodeId

Ways = Mapping[NodeId, tuple[WayPoint, ...]]
"""The way of each node: the first point at time 0, each later than the one before it; it rests at the last."""

_NUMBER = re.compile(r"[-+.\d]")


class Format(Protocol):
    """A reader of one format; whatever is wrong with a line is a ValueError."""

    def take(self, line: str) -> None:
        """Takes the next line, without its comment."""

    def ways(self) -> Ways:
        """The ways of all nodes, which all lines together say."""


def read_movement(path: Path, extent: Extent) -> Ways:
    """The way of every node in the file, checked against nodes and field; raises UserError with file and line, OSError.

    A trace of BonnMotion's begins with a number, a file of ns-2's with a word.
    """
    reader: Format | None = None
    for position, line in read_lines(path):
        if reader is None and line:
            reader = BonnMotion(extent) if _NUMBER.match(line) else SetDest(extent)
        if reader is not None:
            try:
                reader.take(line)
            except ValueError as error:
                raise UserError(f"{path}:{position}: {error}") from None
    return _finished(path, reader, extent)


def _finished(path: Path, reader: Format | None, extent: Extent) -> Ways:
    if reader is None:
        raise UserError(
            f"{path}: no node moves here; give a trace of BonnMotion (t x y t x y ...) or of ns-2's setdest"
        )
    try:
        ways = reader.ways()
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    params = params_file(path) if isinstance(reader, BonnMotion) else None
    if params is not None:
        check_params(params, extent, len(ways))
    return ways
