"""The shortcuts of one subscriber (004, section 3.2.2).

What the text leaves open:

- *Mixed levels*: unless the number of subscribers is a power of two, one of the two neighbours on a level can be a
  shortcut and the other a direct ring neighbour. Both are introduced all the same.
- *A label that a direct ring neighbour has is no shortcut* (section 2.1: shortcuts are no ring edges).
- *False labels.* To the letter a node that is no shortcut any more goes on as a reference through BuildRing. If its
  label is false, it can come back from there as a shortcut with the same false label, and go round for ever (the proof
  of theorem 5 assumes that this does not happen). With `check_labels` the node is not referred to others, but
  introduced to itself, with the label that it is believed to have, as in the extended BuildRing: so it learns of this
  node, and puts its own label right.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.build_ring import BuildRing
from roambus.python_protocol.skip_ring.labels import Label, shortcut_labels
from roambus.python_protocol.skip_ring.messages import Introduce, IntroduceShortcut
from roambus.python_protocol.skip_ring.references import Reference


class Shortcuts:
    """By label: the node, or None while it is not known. All can be wrong at first."""

    def __init__(self, ring: BuildRing) -> None:
        self.nodes: dict[Label, NodeId | None] = {}
        self._ring = ring

    def remove(self, node: NodeId) -> None:
        """Forgets a node."""
        self.nodes = {label: None if known == node else known for label, known in self.nodes.items()}

    def timeout(self, own: Reference) -> list[Action]:
        """Computes the labels anew, and introduces the two neighbours on the own level to each other."""
        actions = self._update(own)
        left, right = self._end(own, self._ring.predecessor), self._end(own, self._ring.successor)
        if left is None or right is None or left.node == right.node:
            return actions
        return [*actions, self._introduce(left, right), self._introduce(right, left)]

    def introduced(self, own: Reference, other: Reference) -> list[Action]:
        """Takes a node for the shortcut with its label; the one before, or one that is no shortcut, is given away."""
        actions = self._update(own)
        if other.label not in self.nodes:
            return [*actions, *self._give_away(own, other.label, other.node)]
        old, self.nodes[other.label] = self.nodes[other.label], other.node
        return actions if old == other.node else [*actions, *self._give_away(own, other.label, old)]

    def _update(self, own: Reference) -> list[Action]:
        """Keeps the shortcuts whose labels there should be."""
        direct = [one for one in (self._ring.predecessor, self._ring.successor) if one is not None]
        wanted = {label for one in direct for label in shortcut_labels(own.label, one.label)}
        wanted -= {one.label for one in direct} | {own.label}
        superfluous = {label: node for label, node in self.nodes.items() if label not in wanted}
        self.nodes = {label: self.nodes.get(label) for label in sorted(wanted)}
        return [action for label, node in superfluous.items() for action in self._give_away(own, label, node)]

    def _give_away(self, own: Reference, label: Label, node: NodeId | None) -> list[Action]:
        """What is no shortcut is not forgotten: the graph might fall apart."""
        if node is None or node == own.node:
            return []
        if self._ring.checks_labels:
            return [Send(node, Introduce(self._ring.topic, own, label, cyclic=False))]
        return self._ring.place(own, Reference(node, label))

    def _end(self, own: Reference, direct: Reference | None) -> Reference | None:
        """The neighbour on the level of the own label's length, on one side."""
        if direct is None:
            return None
        *_, last = (direct.label, *shortcut_labels(own.label, direct.label))
        if last == direct.label:
            return direct
        node = self.nodes.get(last)
        return None if node is None else Reference(node, last)

    def _introduce(self, one: Reference, to: Reference) -> Send:
        return Send(to.node, IntroduceShortcut(self._ring.topic, one))
