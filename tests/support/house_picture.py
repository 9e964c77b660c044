"""Draws the house as an SVG: a box for each floor with its rooms, and an arrow for each floor that imports another."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tests.support.house import FLOORS, Room, arrows, rooms

WIDTH, MARGIN, ROOM_WIDTH, ROOM_HEIGHT, GAP, HEAD = 900, 20, 134, 30, 8, 30
ARROWS = 130
"""The width on the right in which the arrows run."""
STYLE = """
    .floor { fill: #eef6f5; stroke: #00796b; stroke-width: 1.4; }
    .room { fill: #ffffff; stroke: #57606a; }
    .arrow { fill: none; stroke: #9a6700; stroke-width: 1.6; }
    text { fill: #1f2328; font-size: 13px; }
    .name { font-size: 15px; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .floor { fill: #16302d; stroke: #4db6ac; }
      .room { fill: #262c36; stroke: #9aa5b4; }
      .arrow { stroke: #e3b341; }
      text { fill: #e6edf3; }
    }
"""


def picture() -> str:
    """The whole drawing, the top floor first."""
    tops: dict[str, tuple[int, int]] = {}
    parts: list[str] = []
    y = MARGIN
    for floor in reversed(FLOORS):
        drawn, height = _floor(floor, y)
        parts += drawn
        tops[floor] = (y, height)
        y += height + 2 * GAP
    parts += _arrows(tops)
    return _document(parts, y)


def _document(parts: list[str], height: int) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
    head += 'aria-labelledby="title" font-family="system-ui, \'DejaVu Sans\', sans-serif">'
    title = '<title id="title">The floors of the house with their rooms; arrows lead to what is imported.</title>'
    tip = (
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L10 5 L0 10 z" fill="#9a6700"/></marker></defs>'
    )
    return "\n".join([head, title, f"<style>{STYLE}</style>", tip, *parts, "</svg>", ""])


def _floor(floor: str, y: int) -> tuple[list[str], int]:
    inner = [room for room in rooms(floor) if "/" in room.path]
    columns = (WIDTH - 2 * MARGIN - ARROWS - GAP) // (ROOM_WIDTH + GAP)
    lines = -(-len(inner) // columns)
    height = HEAD + lines * (ROOM_HEIGHT + GAP) + GAP
    drawn = [
        f'<rect class="floor" x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN - ARROWS}" height="{height}" rx="6"/>',
        f'<text class="name" x="{MARGIN + 12}" y="{y + 21}">{escape(floor)}/</text>',
    ]
    for number, room in enumerate(inner):
        x = MARGIN + GAP + number % columns * (ROOM_WIDTH + GAP)
        drawn += _room(room, x, y + HEAD + number // columns * (ROOM_HEIGHT + GAP))
    return drawn, height


def _room(room: Room, x: int, y: int) -> Iterator[str]:
    name = room.path.partition("/")[2]
    yield f'<rect class="room" x="{x}" y="{y}" width="{ROOM_WIDTH}" height="{ROOM_HEIGHT}" rx="4"/>'
    fit = f' textLength="{ROOM_WIDTH - 12}" lengthAdjust="spacingAndGlyphs"' if len(name) > 17 else ""
    yield f'<text x="{x + 6}" y="{y + 20}"{fit}>{escape(name)}</text>'


def _arrows(tops: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Each in a lane of its own, from the middle of a floor's side to another's."""
    edge = WIDTH - MARGIN - ARROWS
    order = sorted(arrows(), key=lambda pair: (FLOORS.index(pair[0]) - FLOORS.index(pair[1]), pair))
    for lane, (a, b) in enumerate(order):
        x, start, end = edge + 14 + 11 * lane, _side(tops[a], lane), _side(tops[b], lane)
        yield f'<path class="arrow" marker-end="url(#tip)" d="M{edge} {start} H{x} V{end} H{edge}"/>'


def _side(place: tuple[int, int], lane: int) -> int:
    """Where on a floor's side an arrow begins or ends, so that no two fall together."""
    y, height = place
    return y + 6 + (lane * 7) % max(1, height - 12)
