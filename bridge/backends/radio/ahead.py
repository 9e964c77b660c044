"""Asks the processor for memory before it is needed.

In a large network a frame reaches a hundred radios whose states lie anywhere in memory. The loop over them would wait
for each; so it asks for the next ones while it is at work on one. Nothing else changes: a hint alters no value.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio.compiled import compiled, row_hint
from roambus.bridge.backends.radio.state import LEVEL, SIGNAL, State

FAR, NEAR = 12, 6
"""So many links before its turn a node's record is asked for, and then what the record tells the place of."""
LARGE = 1000
"""With fewer nodes everything stays in a cache of 2 MiB, and asking takes a tenth of the loop for nothing."""
HALF_LINE = 64
"""Bytes: a cache line, of which two make a node's LINE."""


@compiled
def asked_ahead(s: State, reached: int) -> int:
    """Of so many links of a sender, for how many memory is asked: for none where all of it stays in the cache."""
    return reached if len(s.nodes) >= LARGE else 0


@compiled
def ask_ahead(s: State, sender: int, place: int, reached: int) -> None:
    """While the link at `place` of the sender is handled: asks for what some links after it will need."""
    if place + FAR < reached:
        _ask_for_node(s, s.links[sender, place + FAR].receiver)
    if place + NEAR < reached:
        _ask_for_rows(s, s.links[sender, place + NEAR].receiver)


@compiled
def _ask_for_node(s: State, node: int) -> None:
    row_hint(s.nodes, node, 0)
    row_hint(s.nodes, node, HALF_LINE)
    row_hint(s.signals, node, 0)


@compiled
def _ask_for_rows(s: State, node: int) -> None:
    record: Any = s.nodes[node]
    row_hint(s.levels, node, record.newest * LEVEL_BYTES)
    row_hint(s.signals, node, record.heard * SIGNAL_BYTES)


LEVEL_BYTES, SIGNAL_BYTES = LEVEL.itemsize, SIGNAL.itemsize
