"""Reads SN.deployment, which says where nodes start: "uniform", "center", "5x5", or "[0]->center;[1..9]->3x3"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roambus.python_protocol.roles import NodeId

Place = tuple[float, float] | None
"""A position in metres; None means that it is drawn uniformly in the field."""

_PART = re.compile(r"(?:\[(?P<first>\d+)(?:\.\.(?P<last>\d+))?\]->)?(?P<how>uniform|center|\d+x\d+)")


def place_nodes(text: str, nodes: int, field_m: tuple[float, float]) -> dict[NodeId, Place]:
    """The places of the nodes that `text` names; of several parts for one node the first counts. Raises ValueError."""
    places: dict[NodeId, Place] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f'{part!r} is no deployment such as uniform, center, 5x5, "[0]->center;[1..9]->3x3"')
        members = _members(match, nodes)
        for node in members:
            places.setdefault(node, _place(match["how"], node - members[0], field_m))
    return places


def _members(match: re.Match[str], nodes: int) -> Sequence[NodeId]:
    if match["first"] is None:
        return range(nodes)
    first = int(match["first"])
    last = int(match["last"] or first)
    if not first <= last < nodes:
        raise ValueError(f"{match[0]!r} is out of the {nodes} nodes")
    return range(first, last + 1)


def _place(how: str, index: int, field_m: tuple[float, float]) -> Place:
    width, height = field_m
    if how == "uniform":
        return None
    if how == "center":
        return width / 2, height / 2
    columns, rows = map(int, how.split("x"))
    if columns < 2 or rows < 2:
        raise ValueError(f"the grid {how} needs at least two nodes each way")
    return index % columns * width / (columns - 1), index // columns % rows * height / (rows - 1)
