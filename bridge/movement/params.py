"""Reads what BonnMotion says of a trace in the `.params` beside it, such as `nn=10`, `x=200.0` and `duration=600.0`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.movement.extent import Extent, number
from roambus.bridge.movement.lines import read_lines

_MOVEMENTS = (".movements.gz", ".movements")


def params_file(movement: Path) -> Path | None:
    """The `.params` beside a native trace of BonnMotion's, if it is there."""
    for suffix in _MOVEMENTS:
        if movement.name.endswith(suffix):
            file = movement.with_name(f"{movement.name.removesuffix(suffix)}.params")
            return file if file.is_file() else None
    return None


def with_params(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Each movement file by its name, a path from `folder` on, and then the `.params` beside it if it is there."""
    for name in names:
        yield name, folder / name
        params = params_file(folder / name)
        if params is not None:
            yield str(params.relative_to(folder)), params


def check_params(path: Path, extent: Extent, lines: int) -> None:
    """Raises UserError, naming file and line, unless the trace is whole and fits; `lines` is how many nodes it has."""
    for position, line in read_lines(path):
        name, equals, value = (part.strip() for part in line.partition("="))
        try:
            if equals:
                _check(name, value, extent, lines)
        except ValueError as error:
            raise UserError(f"{path}:{position}: {name}: {error}") from None


def _check(name: str, value: str, extent: Extent, lines: int) -> None:
    match name:
        case "nn":
            if number(value) != lines:
                raise ValueError(f"there should be {value[:20]} nodes, but the trace has {lines} lines: one is cut off")
        case "x" | "y":
            extent.check_side(name, number(value))
        case "duration":
            extent.check_lasting(number(value))
        case "J" if value != "2D":
            raise ValueError(f"{value[:20]} is not 2D: movement has two dimensions here")
