"""The supervisor's database of one topic: who has which label, and its repair (the skip ring's paper, section 3.1).

It can be corrupted in four ways: (i) a label is without a subscriber, (ii) a subscriber has several labels, (iii) a
label l(i), i < n, is missing, (iv) a label is none of these. As the paper suggests, labels are the keys of a hashmap,
so that none can be there twice.

To the letter, (i), (iii) and (iv) are repaired in Timeout only. Here every operation repairs them first, because l(n),
which a new subscriber gets, is not free in a damaged database.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label, label_of, number_of, position
from roambus.python_protocol.skip_ring.references import Reference


class Configuration(NamedTuple):
    """(pred, label, succ) of one subscriber; if it is alone, it has neither predecessor nor successor."""

    predecessor: Reference | None
    label: Label
    successor: Reference | None


class Database:
    """The subscribers of one topic, each recorded under its label."""

    def __init__(self) -> None:
        self.entries: dict[Label, NodeId | None] = {}
        """The subscriber of each label; it is None, or wrong in another way, only in corrupted states."""
        self._next = 0

    def repair(self) -> None:
        """Carries out CheckLabels: repairs (i), then (iii), which mends (iv) too."""
        self.entries = {label: node for label, node in self.entries.items() if node is not None}
        missing = [label for number in range(len(self.entries)) if (label := label_of(number)) not in self.entries]
        if missing:
            superfluous = sorted(self.entries, key=number_of)[-len(missing) :]
            for label, last in zip(missing, reversed(superfluous), strict=True):
                self.entries[label] = self.entries.pop(last)

    def remove_copies(self, subscriber: NodeId) -> None:
        """Carries out CheckMultipleCopies: repairs (ii), where the lowest of several labels stays."""
        for label in self._labels(subscriber)[1:]:
            del self.entries[label]
        self.repair()

    def next(self) -> NodeId | None:
        """The subscriber whose turn it is to get its configuration, round robin."""
        self.repair()
        if not self.entries:
            return None
        self._next = (self._next + 1) % len(self.entries)
        return self.entries[label_of(self._next)]

    def has(self, subscriber: NodeId) -> bool:
        """Whether a subscriber is recorded."""
        return subscriber in self.entries.values()

    def integrate(self, subscriber: NodeId) -> Configuration:
        """The configuration of a subscriber, which is recorded first if it is not yet."""
        self.repair()
        self.remove_copies(subscriber)
        if not self._labels(subscriber):
            self.entries[label_of(len(self.entries))] = subscriber
        return self._configuration(self._labels(subscriber)[0])

    def remove(self, subscriber: NodeId) -> NodeId | None:
        """Forgets a subscriber; returns the one that takes its label, if that is another's than before."""
        self.repair()
        self.remove_copies(subscriber)
        for label in self._labels(subscriber):
            last = label_of(len(self.entries) - 1)
            self.entries[label] = self.entries[last]
            del self.entries[last]
            return self.entries.get(label)
        return None

    def forget(self, subscriber: NodeId) -> None:
        """Deletes all entries of a subscriber that has crashed; `repair` closes the gap."""
        for label in self._labels(subscriber):
            del self.entries[label]

    def _labels(self, subscriber: NodeId) -> list[Label]:
        """The labels of a subscriber, in the order in which labels are given away."""
        return sorted((label for label, node in self.entries.items() if node == subscriber), key=number_of)

    def _configuration(self, label: Label) -> Configuration:
        circle = sorted(self.entries, key=position)
        if len(circle) == 1:
            return Configuration(None, label, None)
        place = bisect_left(circle, position(label), key=position)
        return Configuration(
            self._reference(circle[place - 1]), label, self._reference(circle[(place + 1) % len(circle)])
        )

    def _reference(self, label: Label) -> Reference:
        node = self.entries[label]
        if node is None:
            raise AssertionError(f"{label} has no subscriber after a repair")
        return Reference(node, label)
