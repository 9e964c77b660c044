"""References: what a subscriber stores of another (the skip ring's paper, section 2.2)."""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label, position


class Reference(NamedTuple):
    """(v, label_v): a node, and the label that it is believed to have."""

    node: NodeId
    label: Label

    @property
    def key(self) -> tuple[int, NodeId]:
        """The place in the sorted ring; corrupted states have equal labels, which are ordered by their nodes."""
        return position(self.label), self.node

    def describe(self, names: Names) -> str:
        """Node and label as a transcript shows them: "n3:011"."""
        return f"{names.node(self.node)}:{self.label}"


def describe_reference(reference: Reference | None, names: Names) -> str:
    """A reference as a transcript shows it, or a dash for none."""
    return NOBODY if reference is None else reference.describe(names)
