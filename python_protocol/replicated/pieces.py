"""A copy of the state in pieces, for a message has at most 65535 bytes, and a copy as many as its site has to keep.

The pieces go before the message that gives the copy, which then has no bytes of a copy itself. A message overtakes no
other, so they all are there when it comes. What was begun and not ended, because its sender has crashed, is forgotten
when the next copy begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from roambus.python_protocol.replicated.failure_messages import Point
from roambus.python_protocol.replicated.replica_messages import Piece
from roambus.python_protocol.roles import NodeId


def cut(point: Point, snapshot: bytes, size: int) -> Iterator[Piece]:
    """The pieces of a copy, none of which is longer than `size`; none if the copy is not longer."""
    if len(snapshot) <= size:
        return
    count = -(-len(snapshot) // size)
    for number in range(count):
        yield Piece(point, number, count, snapshot[number * size : (number + 1) * size])


class Pieces:
    """The pieces that have come, of one copy from each sender."""

    def __init__(self) -> None:
        self._pieces: dict[NodeId, list[Piece]] = {}

    def add(self, sender: NodeId, piece: Piece) -> None:
        """Another piece; the first of a copy ends what was there before."""
        if piece.number == 0:
            self._pieces[sender] = []
        self._pieces.setdefault(sender, []).append(piece)

    def take(self, sender: NodeId, point: Point) -> bytes:
        """The copy of this point that a sender has given in pieces; no bytes if it has not."""
        pieces = self._pieces.pop(sender, [])
        numbers = [(piece.point, piece.number) for piece in pieces]
        count = pieces[0].count if pieces else 0
        is_whole = numbers == [(point, number) for number in range(count)]
        return b"".join(piece.data for piece in pieces) if is_whole else b""
