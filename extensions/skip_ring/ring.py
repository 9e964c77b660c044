"""The extended BuildRing, which sorts any references into a ring, and shortcuts (sections 2.2, 3.2.2).

A node keeps its nearest neighbours `left` and `right`, and delegates others, dropping none; `ring` closes the list.
Introductions carry the assumed label for correction; `cyclic` ones run to the other end. The farther `ring` stays.
`probe_ends` opens a ring that winds twice. `check_labels` introduces delegations and former shortcuts: false labels
would circulate for ever (theorem 5 assumes none).
"""

from __future__ import annotations

from roambus.extensions.skip_ring.labels import Label, Reference, shortcut_labels
from roambus.extensions.skip_ring.messages import (
    Check,
    Introduce,
    IntroduceShortcut,
    Linearize,
    SkipRingParameters,
    Topic,
)
from roambus.python_protocol.agent import Process
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.roles import NodeId


class BuildRing(Process):
    """One subscriber's ring variables, initially arbitrary.

    `own` is the node with its label; without one it is passive.
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
        """The left neighbour; for the first of the list its `ring`."""
        return self.left or self.ring

    @property
    def successor(self) -> Reference | None:
        """The right neighbour; for the last of the list its `ring`."""
        return self.right or self.ring

    def neighbours(self) -> list[Reference]:
        """All stored neighbours."""
        return [neighbour for neighbour in (self.left, self.right, self.ring) if neighbour is not None]

    def describe(self, names: Names) -> list[str]:
        """Left, right and ring in transcripts, or a dash."""
        return [
            NOBODY if neighbour is None else neighbour.describe(names)
            for neighbour in (self.left, self.right, self.ring)
        ]

    def direct_neighbours(self) -> list[Reference]:
        """Both neighbours; a single one twice."""
        return [neighbour for neighbour in (self.predecessor, self.successor) if neighbour is not None]

    def clear(self) -> None:
        """Forget label and neighbours."""
        self.label = self.left = self.right = self.ring = None

    def remove(self, node: NodeId) -> None:
        """Forget a neighbour."""
        self.left, self.right, self.ring = (
            None if neighbour is not None and neighbour.node == node else neighbour
            for neighbour in (self.left, self.right, self.ring)
        )

    # Timeout and messages

    def timeout(self, own: Reference) -> None:
        """Correct obvious faults, then introduce this node."""
        self._tidy(own)
        if self.ring is None and (self.left is None or self.right is None):
            self.ring = self.left or self.right
        for neighbour in (self.left, self.right):
            if neighbour is not None:
                self._introduce(own, neighbour, cyclic=False)
        if self.ring is not None:
            self._introduce(own, self.ring, cyclic=True)
        if self.parameters.probe_ends and self.left is None and self.right is not None:
            self._delegate(own, own, self.right, cyclic=True)

    def introduced(self, own: Reference, message: Introduce) -> None:
        """Take a node that has introduced itself."""
        self._check(own, message.reference, message.assumed)
        self._take(own, message.reference, cyclic=message.cyclic)

    def delegated(self, own: Reference, message: Linearize) -> None:
        """Take a node that another has delegated."""
        if message.check is not None:
            self._check(own, *message.check)
        self._take(own, message.reference, cyclic=message.cyclic)

    def place(self, own: Reference, other: Reference) -> None:
        """Keep a nearer neighbour; delegate a farther one (linearization)."""
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
        """Move misplaced neighbours, and open a ring between wrong ends."""
        self.remove(own.node)
        left, right, ring = self.left, self.right, self.ring
        if left is not None and left.key > own.key:
            self.left = None
        if right is not None and right.key < own.key:
            self.right = None
        if ring is not None and not self._closes(own, ring):  # only what is left of the other two can lie beyond it
            self.ring = None
        for neighbour, kept in ((left, self.left), (right, self.right), (ring, self.ring)):
            if neighbour is not None and kept is None:
                self.place(own, neighbour)

    def _closes(self, own: Reference, other: Reference) -> bool:
        """Whether this node and the other are opposite ends."""
        if other.key > own.key:
            return self.left is None and self.right is not None and self.right.key <= other.key
        return self.right is None and self.left is not None and self.left.key >= other.key

    def _check(self, own: Reference, other: Reference, assumed: Label) -> None:
        """Take the other's label, and correct this node's."""
        if other.node == own.node:
            return
        self.remove(own.node)
        self._relabel(own, other)
        if assumed != own.label:
            self._introduce(own, other, cyclic=False)

    def _take(self, own: Reference, other: Reference, *, cyclic: bool) -> None:
        """Place the other node, or close the ring with it."""
        if cyclic and other.node != own.node:
            self.remove(own.node)
            self._close(own, other)
        else:
            self.place(own, other)

    def _relabel(self, own: Reference, other: Reference) -> None:
        """Place a node with a wrong stored label again."""
        wrong = [
            neighbour
            for neighbour in (self.left, self.right)
            if neighbour is not None and neighbour.node == other.node and neighbour != other
        ]
        if self.ring is not None and self.ring.node == other.node:
            self.ring = other
        if wrong:
            self.left, self.right = (None if neighbour in wrong else neighbour for neighbour in (self.left, self.right))
            self.place(own, other)

    def _close(self, own: Reference, other: Reference) -> None:
        """Close the ring, unless a farther node may be the end."""
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
    """Shortcuts by label, None if unknown; initially arbitrary."""

    def __init__(self, ring: BuildRing, of: Process | None = None) -> None:
        super().__init__(of)
        self.nodes: dict[Label, NodeId | None] = {}
        self._ring = ring

    def remove(self, node: NodeId) -> None:
        """Forget a node, but not its shortcut's label."""
        self.nodes = {label: None if known == node else known for label, known in self.nodes.items()}

    # Timeout and messages

    def timeout(self, own: Reference) -> None:
        """Compute the labels, and introduce this level's neighbours to each other."""
        self._update(own)
        left, right = self._end(own, self._ring.predecessor), self._end(own, self._ring.successor)
        if left is not None and right is not None and left.node != right.node:
            for neighbour, other in ((left, right), (right, left)):
                self.send(other.node, IntroduceShortcut(self._ring.topic, neighbour))

    def introduced(self, own: Reference, other: Reference) -> None:
        """Store a shortcut by label; delegate the other node."""
        self._update(own)
        if other.label not in self.nodes:
            self._give_away(own, other.label, other.node)
            return
        old, self.nodes[other.label] = self.nodes[other.label], other.node
        if old != other.node:
            self._give_away(own, other.label, old)

    # Helpers

    def _give_away(self, own: Reference, label: Label, node: NodeId | None) -> None:
        """Delegate a node, or the graph could fall apart."""
        if node is None or node == own.node:
            return
        if self._ring.parameters.check_labels:
            self.send(node, Introduce(self._ring.topic, own, cyclic=False, assumed=label))
        else:
            self._ring.place(own, Reference(node, label))

    def _update(self, own: Reference) -> None:
        """Keep shortcuts with computed labels; delegate others."""
        direct = self._ring.direct_neighbours()
        wanted = {label for reference in direct for label in shortcut_labels(own.label, reference.label)}
        wanted -= {reference.label for reference in direct} | {own.label}
        superfluous = {label: node for label, node in self.nodes.items() if label not in wanted}
        self.nodes = {label: self.nodes.get(label) for label in sorted(wanted)}
        for label, node in superfluous.items():
            self._give_away(own, label, node)

    def _end(self, own: Reference, direct: Reference | None) -> Reference | None:
        """Return one side's neighbour on the own level."""
        if direct is None:
            return None
        *_, last = (direct.label, *shortcut_labels(own.label, direct.label))
        node = direct.node if last == direct.label else self.nodes.get(last)
        return None if node is None else Reference(node, last)
