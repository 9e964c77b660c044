"""The shortcuts of one subscriber (the skip ring's paper, section 3.2.2).

From the labels of its direct ring neighbours a subscriber computes the labels to which it should have shortcuts. Once
a round it introduces its two neighbours on the level of its own label to each other, so that they learn of their
shortcut.

The text leaves some things open:

- *Mixed levels*: unless the number of subscribers is a power of two, one of the two neighbours on a level can be a
  shortcut and the other a direct ring neighbour. Both are introduced all the same.
- *A label that a direct ring neighbour has is no shortcut* (section 2.1: shortcuts are no ring edges).
- *False labels.* To the letter a node that is no shortcut any more goes on as a reference through BuildRing. If its
  label is false, it can come back from there as a shortcut with the same false label, and go round for ever (the proof
  of theorem 5 assumes that this does not happen). With `check_labels` the node is not referred to others. It is sent
  an introduction with the label that it is believed to have, as in the extended BuildRing: so it learns of this node,
  and puts its own label right.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.build_ring import BuildRing
from roambus.python_protocol.skip_ring.labels import Label, shortcut_labels
from roambus.python_protocol.skip_ring.messages import Introduce, IntroduceShortcut
from roambus.python_protocol.skip_ring.references import Reference


class Shortcuts(Process):
    """The node to which there is a shortcut, by its label; None while it is not known. All can be wrong at first."""

    def __init__(self, ring: BuildRing, of: Process | None = None) -> None:
        super().__init__(of)
        self.nodes: dict[Label, NodeId | None] = {}
        self._ring = ring

    def remove(self, node: NodeId) -> None:
        """Forgets a node."""
        self.nodes = {label: None if known == node else known for label, known in self.nodes.items()}

    # What the subscriber is told

    def timeout(self, own: Reference) -> None:
        """Computes the labels anew, and introduces the two neighbours on the own level to each other."""
        self._update(own)
        left, right = self._end(own, self._ring.predecessor), self._end(own, self._ring.successor)
        if left is not None and right is not None and left.node != right.node:
            self._introduce(left, right)
            self._introduce(right, left)

    def introduced(self, own: Reference, other: Reference) -> None:
        """Takes a node for the shortcut with its label; the one before, or one that is no shortcut, is given away."""
        self._update(own)
        if other.label not in self.nodes:
            self._give_away(own, other.label, other.node)
            return
        old, self.nodes[other.label] = self.nodes[other.label], other.node
        if old != other.node:
            self._give_away(own, other.label, old)

    # Messages

    def _introduce(self, one: Reference, to: Reference) -> None:
        self.send(to.node, IntroduceShortcut(self._ring.topic, one))

    def _give_away(self, own: Reference, label: Label, node: NodeId | None) -> None:
        """Does not forget what is no shortcut, because the graph might fall apart."""
        if node is None or node == own.node:
            return
        if self._ring.checks_labels:
            self.send(node, Introduce(self._ring.topic, own, cyclic=False, assumed=label))
        else:
            self._ring.place(own, Reference(node, label))

    # Helpers

    def _update(self, own: Reference) -> None:
        """Keeps the shortcuts whose labels there should be, and gives the others away."""
        direct = [one for one in (self._ring.predecessor, self._ring.successor) if one is not None]
        wanted = {label for one in direct for label in shortcut_labels(own.label, one.label)}
        wanted -= {one.label for one in direct} | {own.label}
        superfluous = {label: node for label, node in self.nodes.items() if label not in wanted}
        self.nodes = {label: self.nodes.get(label) for label in sorted(wanted)}
        for label, node in superfluous.items():
            self._give_away(own, label, node)

    def _end(self, own: Reference, direct: Reference | None) -> Reference | None:
        """The neighbour on the level of the own label's length, on the side of a direct ring neighbour."""
        if direct is None:
            return None
        *_, last = (direct.label, *shortcut_labels(own.label, direct.label))
        if last == direct.label:
            return direct
        node = self.nodes.get(last)
        return None if node is None else Reference(node, last)
