"""How long the left neighbour of a subscriber has been silent (the skip ring's paper, sections 3.2.1 and 3.3).

Action (iv) has whoever takes itself for the first of its list ask the supervisor. If the left neighbour has crashed,
the subscriber behind it is the first, and does not know. If it is not recorded either, and has a long label, it asks
by none of the four actions, whatever the supervisor's failure detector says: nobody tells the supervisor of it. But
each neighbour introduces itself once a round. So who hears nothing from its left neighbour for some rounds counts as
the first. That it can be mistaken does no harm: it asks for a configuration that it has already.
"""

from __future__ import annotations

from roambus.python_protocol.roles import NodeId

PATIENCE = 3
"""Rounds in which a neighbour that is there introduces itself at least once, if messages take about the same time."""


class Silence:
    """The rounds since the left neighbour was last heard, or since there is another one."""

    def __init__(self) -> None:
        self.neighbour: NodeId | None = None
        self.rounds = 0

    def count(self, neighbour: NodeId | None) -> None:
        """Counts a round, at the end of which this is the left neighbour."""
        self.rounds = self.rounds + 1 if neighbour == self.neighbour else 0
        self.neighbour = neighbour

    def hear(self, node: NodeId) -> None:
        """A node has introduced itself."""
        if node == self.neighbour:
            self.rounds = 0

    @property
    def is_long(self) -> bool:
        """Whether the left neighbour may have crashed."""
        return self.neighbour is not None and self.rounds > PATIENCE
