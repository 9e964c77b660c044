"""Ferries between islands: nodes that carry notifications to and fro, and decide by themselves where they go.

`dweller` has the nodes of islands, and `ferries` the cargo of a ferry and the two kinds of route. `islands` has the
places, and the need that a ferry has learnt.
"""

from roambus.extensions.ferry.ferries import FixedFerry, NeedFerry

__all__ = ["FixedFerry", "NeedFerry"]
