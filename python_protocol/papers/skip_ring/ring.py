"""The extended BuildRing, a sorted ring out of any references, right or wrong, and its shortcuts (sections 2.2, 3.2.2).

Each node keeps its nearest neighbours `left` and `right`, and delegates every other node that it hears of towards its
place. The first and the last of the list close the ring by `ring`. Whenever a node introduces itself to a neighbour,
it says which label it believes the neighbour to have; the neighbour answers with its own label if that is another.

From the labels of its direct ring neighbours a node computes the labels to which it should have shortcuts. Once a
round it introduces its two neighbours on the level of its own label to each other, so that they learn of their
shortcut.

The text leaves some things open. Of the ring:

- *Closing the ring.* A node without a left neighbour takes its right one as the other end at first, and introduces
  itself there as such (`cyclic`). The receiver passes that on to its own right, up to the last of the list. A node
  without a right neighbour does the same the other way round.
- *The other end is the farthest.* What is in `ring` is delegated like any other node. An end that hears of two other
  ends keeps the farther one, and tells it of the nearer. A `ring` beyond which a neighbour lies is none. Without any
  of these three, lists that know each other by `ring` alone stay apart.
- *A ring that winds twice about the circle* looks right to each of its nodes: two lists whose ends are each other's.
  With `probe_ends` the first of each list introduces itself along its own list too, once a round, and the last, which
  knows another, tells them of each other. That takes a message a node, and a supervisor resolves the state without it,
  by action (iv).
- *References are not lost.* One that is replaced or does not fit is placed like any other.
- *Equal labels*, which corrupted states have, are ordered by node.
- *False labels* are corrected at introductions only, as the paper is written, once a round. Until then two nodes with
  false labels of each other can delegate a third back and forth, as fast as the link is. The same happens after an
  unsubscription, by which the last subscriber gets another label. With `check_labels` a node that delegates introduces
  itself by the same message.

Of the shortcuts:

- *Mixed levels*: unless the number of subscribers is a power of two, one of the two neighbours on a level can be a
  shortcut and the other a direct ring neighbour. Both are introduced all the same.
- *A label that a direct ring neighbour has is no shortcut* (section 2.1: shortcuts are no ring edges).
- *False labels.* In the paper a node that is no shortcut any more goes on as a reference through BuildRing. If its
  label is false, it can come back from there as a shortcut with the same false label, and go round for ever (the proof
  of theorem 5 assumes that this does not happen). With `check_labels` the node is not referred to others. It is sent
  an introduction with the label that it is believed to have, as in the extended BuildRing: so it learns of this node,
  and puts its own label right.
"""

from __future__ import annotations

from roambus.python_protocol.agent import Process
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.papers.skip_ring.labels import Label, Reference, shortcut_labels
from roambus.python_protocol.papers.skip_ring.messages import (
    Check,
    Introduce,
    IntroduceShortcut,
    Linearize,
    SkipRingParameters,
    Topic,
)
from roambus.python_protocol.vocabulary import NodeId


class BuildRing(Process):
    """The ring variables of one subscriber, which can all hold anything at first, and what keeps them right.

    `own` is the node with its label; without a label it takes no part.
    """

    def __init__(
        self,
        node: NodeId,
        topic: Topic,
        parameters: SkipRingParameters,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.node = node
        self.topic = topic
        self.parameters = parameters
        self.label: Label | None = None
        self.left: Reference | None = None
        self.right: Reference | None = None
        self.ring: Reference | None = None

    @property
    def predecessor(self) -> Reference | None:
        """The direct ring neighbour to the left, which the first of the list has in `ring`."""
        return self.left or self.ring

    @property
    def successor(self) -> Reference | None:
        """The direct ring neighbour to the right, which the last of the list has in `ring`."""
        return self.right or self.ring

    def neighbours(self) -> list[Reference]:
        """All neighbours that are stored."""
        return [one for one in (self.left, self.right, self.ring) if one is not None]

    def describe(self, names: Names) -> list[str]:
        """Left, right and ring as a transcript shows them: node and label, or a dash for none."""
        return [NOBODY if one is None else one.describe(names) for one in (self.left, self.right, self.ring)]

    def direct_neighbours(self) -> list[Reference]:
        """Both direct ring neighbours; if there is only one, it is there twice."""
        return [one for one in (self.predecessor, self.successor) if one is not None]

    def clear(self) -> None:
        """Forgets label and neighbours."""
        self.label = self.left = self.right = self.ring = None

    def remove(self, node: NodeId) -> None:
        """Forgets a neighbour, in whichever of the three places it is."""
        self.left, self.right, self.ring = (
            None if one is not None and one.node == node else one for one in (self.left, self.right, self.ring)
        )

    # Timeout and messages

    def timeout(self, own: Reference) -> None:
        """Corrects what is obviously wrong, then introduces this node to its neighbours."""
        self._tidy(own)
        if self.ring is None and (self.left is None or self.right is None):
            self.ring = self.left or self.right
        for one in (self.left, self.right):
            if one is not None:
                self._introduce(own, one, cyclic=False)
        if self.ring is not None:
            self._introduce(own, self.ring, cyclic=True)
        if self.parameters.probe_ends and self.left is None and self.right is not None:
            self._delegate(own, own, self.right, cyclic=True)

    def introduced(self, own: Reference, message: Introduce) -> None:
        """Another node has introduced itself."""
        self._check(own, message.reference, message.assumed)
        self._take(own, message.reference, cyclic=message.cyclic)

    def delegated(self, own: Reference, message: Linearize) -> None:
        """Another node has delegated a third."""
        if message.check is not None:
            self._check(own, *message.check)
        self._take(own, message.reference, cyclic=message.cyclic)

    def place(self, own: Reference, other: Reference) -> None:
        """Linearization: a nearer neighbour is kept, and a farther one is delegated to a nearer one."""
        if other.node == own.node:
            return
        self.remove(own.node)
        is_left = other.key < own.key
        nearest = self.left if is_left else self.right
        if nearest is None or nearest.node == other.node:
            self._keep(other, is_left=is_left)
            return
        if (other.key > nearest.key) == is_left:
            self._keep(other, is_left=is_left)
            nearest, other = other, nearest
        self._delegate(own, other, nearest, cyclic=False)

    # Senders

    def _delegate(self, own: Reference, other: Reference, to: Reference, *, cyclic: bool) -> None:
        self.send(
            to.node,
            Linearize(self.topic, other, cyclic, Check(own, to.label) if self.parameters.check_labels else None),
        )

    def _introduce(self, own: Reference, other: Reference, *, cyclic: bool) -> None:
        self.send(other.node, Introduce(self.topic, own, cyclic, other.label))

    # Helpers

    def _keep(self, other: Reference, *, is_left: bool) -> None:
        if is_left:
            self.left = other
        else:
            self.right = other

    def _tidy(self, own: Reference) -> None:
        """Puts what stands on the wrong side where it belongs, and opens a ring that is not closed at its ends."""
        self.remove(own.node)
        left, right, ring = self.left, self.right, self.ring
        if left is not None and left.key > own.key:
            self.left = None
        if right is not None and right.key < own.key:
            self.right = None
        if ring is not None and not self._closes(own, ring):  # only what is left of the other two can lie beyond it
            self.ring = None
        for one, kept in ((left, self.left), (right, self.right), (ring, self.ring)):
            if one is not None and kept is None:
                self.place(own, one)

    def _closes(self, own: Reference, other: Reference) -> bool:
        """Whether this node is one end of its list, and the other, which nothing lies beyond, the opposite one."""
        if other.key > own.key:
            return self.left is None and self.right is not None and self.right.key <= other.key
        return self.right is None and self.left is not None and self.left.key >= other.key

    def _check(self, own: Reference, other: Reference, assumed: Label) -> None:
        """The other says its label, and is told this node's label if it believes in another."""
        if other.node == own.node:
            return
        self.remove(own.node)
        self._relabel(own, other)
        if assumed != own.label:
            self._introduce(own, other, cyclic=False)

    def _take(self, own: Reference, other: Reference, *, cyclic: bool) -> None:
        """Places the other, or closes the ring with it."""
        if cyclic and other.node != own.node:
            self.remove(own.node)
            self._close(own, other)
        else:
            self.place(own, other)

    def _relabel(self, own: Reference, other: Reference) -> None:
        """If the other is stored under a wrong label, it is placed again under its own."""
        wrong = [one for one in (self.left, self.right) if one is not None and one.node == other.node and one != other]
        if self.ring is not None and self.ring.node == other.node:
            self.ring = other
        if wrong:
            self.left, self.right = (None if one in wrong else one for one in (self.left, self.right))
            self.place(own, other)

    def _close(self, own: Reference, other: Reference) -> None:
        """The other takes this node for the opposite end of the list; if it is not, one farther on may be."""
        is_last = other.key > own.key
        ahead = self.left if is_last else self.right
        if ahead is not None:
            self._delegate(own, other, ahead, cyclic=True)
            return
        ring = self.ring
        if ring is not None and (ring.key > own.key) == is_last and (ring.key > other.key) == is_last:
            if ring.node != other.node:
                self._delegate(own, other, ring, cyclic=False)
            return
        self.ring = other
        if ring is not None and ring.node != other.node:
            self.place(own, ring)


class Shortcuts(Process):
    """The node to which there is a shortcut, by its label; None while it is not known. All can be wrong at first."""

    def __init__(self, ring: BuildRing, of: Process | None = None) -> None:
        super().__init__(of)
        self.nodes: dict[Label, NodeId | None] = {}
        self._ring = ring

    def remove(self, node: NodeId) -> None:
        """Forgets a node, but not that there should be a shortcut with its label."""
        self.nodes = {label: None if known == node else known for label, known in self.nodes.items()}

    # Timeout and messages

    def timeout(self, own: Reference) -> None:
        """Computes the labels again, and introduces the two neighbours on the own level to each other."""
        self._update(own)
        left, right = self._end(own, self._ring.predecessor), self._end(own, self._ring.successor)
        if left is not None and right is not None and left.node != right.node:
            for one, other in ((left, right), (right, left)):
                self.send(other.node, IntroduceShortcut(self._ring.topic, one))

    def introduced(self, own: Reference, other: Reference) -> None:
        """Takes a node for the shortcut with its label; the one before, or one that is no shortcut, is given away."""
        self._update(own)
        if other.label not in self.nodes:
            self._give_away(own, other.label, other.node)
            return
        old, self.nodes[other.label] = self.nodes[other.label], other.node
        if old != other.node:
            self._give_away(own, other.label, old)

    # Helpers

    def _give_away(self, own: Reference, label: Label, node: NodeId | None) -> None:
        """Does not forget what is no shortcut, because the graph might fall apart."""
        if node is None or node == own.node:
            return
        if self._ring.parameters.check_labels:
            self.send(node, Introduce(self._ring.topic, own, cyclic=False, assumed=label))
        else:
            self._ring.place(own, Reference(node, label))

    def _update(self, own: Reference) -> None:
        """Keeps the shortcuts whose labels there should be, and gives the others away."""
        direct = self._ring.direct_neighbours()
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
        node = direct.node if last == direct.label else self.nodes.get(last)
        return None if node is None else Reference(node, last)
