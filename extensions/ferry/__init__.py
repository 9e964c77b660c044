"""Ferries between islands: nodes that carry notifications to and fro, and decide by themselves where they go.

`dweller` has the nodes of islands, `ferries` custody, the buffer and the two kinds of route; `islands` the places and
the need that a ferry has learnt.
"""

from roambus.extensions.ferry.ferries import FixedFerry, NeedFerry

__all__ = ["FixedFerry", "NeedFerry"]
