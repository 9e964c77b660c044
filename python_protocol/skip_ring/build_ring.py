"""The extended BuildRing protocol: a sorted ring out of any references, right or wrong (004, section 2.2).

Each node keeps its nearest neighbours `left` and `right`, and delegates every other node that it hears of towards its
place. The first and the last of the list close the ring by `ring`. A node tells its neighbours, whenever it introduces
itself, which labels it believes them to have; whose is wrong answers with its own.

What the text leaves open:

- *Closing the ring.* A node without a left neighbour takes its right one as the other end at first, introduces itself
  there as such (`cyclic`), and the receiver passes that on to its own right, up to the last of the list; likewise the
  other way round.
- *References are not lost*: what is replaced or does not fit is placed like any other, unless it is in `ring` anyway.
- *Equal labels*, which corrupted states have, are ordered by node.
- *False labels* are corrected at introductions only, to the letter, once a round. Until then two nodes with false
  labels of each other can delegate a third to and fro, as fast as the link is; so after an unsubscription, by which the
  last subscriber gets another label. With `check_labels` who delegates introduces itself by the same message.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label
from roambus.python_protocol.skip_ring.messages import Check, Introduce, Linearize, Topic
from roambus.python_protocol.skip_ring.references import Reference


class BuildRing:
    """The ring variables of one subscriber; all of them can hold anything at first."""

    def __init__(self, node: NodeId, topic: Topic, *, check_labels: bool) -> None:
        self.node = node
        self.topic = topic
        self.checks_labels = check_labels
        self.label: Label | None = None
        self.left: Reference | None = None
        self.right: Reference | None = None
        self.ring: Reference | None = None

    @property
    def predecessor(self) -> Reference | None:
        """The direct ring neighbour to the left, in `ring` for the first of the list."""
        return self.left or self.ring

    @property
    def successor(self) -> Reference | None:
        """The direct ring neighbour to the right, in `ring` for the last of the list."""
        return self.right or self.ring

    def neighbours(self) -> list[Reference]:
        """All that are stored."""
        return [one for one in (self.left, self.right, self.ring) if one is not None]

    def clear(self) -> None:
        """Forgets label and neighbours."""
        self.label = self.left = self.right = self.ring = None

    def remove(self, node: NodeId) -> None:
        """Forgets a neighbour."""
        self.left, self.right, self.ring = (
            None if one is not None and one.node == node else one for one in (self.left, self.right, self.ring)
        )

    def timeout(self, own: Reference) -> list[Action]:
        """Corrects what is obviously wrong, then introduces itself."""
        actions = self._tidy(own)
        if self.ring is None and (self.left is None or self.right is None):
            self.ring = self.left or self.right
        actions += [self._introduce(own, one, cyclic=False) for one in (self.left, self.right) if one is not None]
        if self.ring is not None:
            actions.append(self._introduce(own, self.ring, cyclic=True))
        return actions

    def introduced(self, own: Reference, message: Introduce) -> list[Action]:
        """Another has introduced itself."""
        actions = self._check(own, message.reference, message.assumed)
        return [*actions, *self._take(own, message.reference, cyclic=message.cyclic)]

    def delegated(self, own: Reference, message: Linearize) -> list[Action]:
        """Another has delegated a third."""
        checked = [] if message.check is None else self._check(own, *message.check)
        return [*checked, *self._take(own, message.reference, cyclic=message.cyclic)]

    def place(self, own: Reference, other: Reference) -> list[Action]:
        """Linearization: a nearer neighbour is kept, and a farther one delegated to a nearer one."""
        if other.node == own.node:
            return []
        self.remove(own.node)
        is_left = other.key < own.key
        nearest = self.left if is_left else self.right
        if nearest is None or nearest.node == other.node:
            self._keep(other, is_left=is_left)
            return []
        if (other.key > nearest.key) == is_left:
            self._keep(other, is_left=is_left)
            nearest, other = other, nearest
        return [] if other == self.ring else [self._delegate(own, other, nearest, cyclic=False)]

    def _keep(self, other: Reference, *, is_left: bool) -> None:
        if is_left:
            self.left = other
        else:
            self.right = other

    def _delegate(self, own: Reference, other: Reference, to: Reference, *, cyclic: bool) -> Send:
        check = Check(own, to.label) if self.checks_labels else None
        return Send(to.node, Linearize(self.topic, other, cyclic, check))

    def _introduce(self, own: Reference, other: Reference, *, cyclic: bool) -> Send:
        return Send(other.node, Introduce(self.topic, own, other.label, cyclic))

    def _tidy(self, own: Reference) -> list[Action]:
        """Puts what stands on the wrong side where it belongs, and opens a ring that is not closed at its ends."""
        self.remove(own.node)
        misplaced: list[Reference] = []
        if self.left is not None and self.left.key > own.key:
            misplaced.append(self.left)
            self.left = None
        if self.right is not None and self.right.key < own.key:
            misplaced.append(self.right)
            self.right = None
        if self.ring is not None and not self._closes(own, self.ring):
            misplaced.append(self.ring)
            self.ring = None
        return [action for one in misplaced for action in self.place(own, one)]

    def _closes(self, own: Reference, other: Reference) -> bool:
        """Whether this node is one end of its list, and the other can be the opposite one."""
        this_side, other_side = (self.left, self.right) if other.key > own.key else (self.right, self.left)
        return this_side is None and other_side is not None

    def _check(self, own: Reference, other: Reference, assumed: Label) -> list[Action]:
        """The other says its label, and is told this node's if it does not know it."""
        if other.node == own.node:
            return []
        self.remove(own.node)
        corrected = [] if assumed == own.label else [self._introduce(own, other, cyclic=False)]
        return [*self._relabel(own, other), *corrected]

    def _take(self, own: Reference, other: Reference, *, cyclic: bool) -> list[Action]:
        if not cyclic or other.node == own.node:
            return self.place(own, other)
        self.remove(own.node)
        return self._close(own, other)

    def _relabel(self, own: Reference, other: Reference) -> list[Action]:
        """The other is stored under a wrong label: it is placed anew under its own."""
        wrong = [one for one in (self.left, self.right) if one is not None and one.node == other.node and one != other]
        if self.ring is not None and self.ring.node == other.node:
            self.ring = other
        if not wrong:
            return []
        self.left, self.right = (None if one in wrong else one for one in (self.left, self.right))
        return self.place(own, other)

    def _close(self, own: Reference, other: Reference) -> list[Action]:
        """The other takes this node for the opposite end of the list; if it is not, one farther on may be."""
        is_last = other.key > own.key
        ahead = self.left if is_last else self.right
        if ahead is not None:
            return [self._delegate(own, other, ahead, cyclic=True)]
        ring = self.ring
        if ring is not None and (ring.key > own.key) == is_last and (ring.key > other.key) == is_last:
            return self.place(own, other) if ring.node != other.node else []
        self.ring = other
        return [] if ring is None or ring.node == other.node else self.place(own, ring)
