"""The supervisor's part of BuildSR: a database of labels for each topic (sections 3.1, 3.3 and 4.1).

It answers requests by SetData, and once a round configures one subscriber of each topic. Faults: (i) a label without
subscriber, (ii) a subscriber with several labels, (iii) a missing label l(i), i < n, (iv) any other label. Every
operation repairs them first, because l(n) is not free in a damaged database.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.extensions.skip_ring.labels import Label, Reference, label_of, number_of
from roambus.extensions.skip_ring.messages import (
    SERVE,
    GetConfiguration,
    SetData,
    Subscribe,
    Topic,
    Unsubscribe,
)
from roambus.python_protocol.agent import Listing, Process, on
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Configuration(NamedTuple):
    """(pred, label, succ); a lone subscriber has no neighbours."""

    predecessor: Reference | None
    label: Label
    successor: Reference | None


class Database:
    """One topic's subscribers by label."""

    def __init__(self) -> None:
        self.entries: dict[Label, NodeId | None] = {}
        """Each label's subscriber; None or wrong only in corrupted states."""
        self._next = 0

    def repair(self) -> None:
        """Carry out CheckLabels: repair (i), then (iii) and (iv)."""
        self.entries = {label: node for label, node in self.entries.items() if node is not None}
        missing = [label for number in range(len(self.entries)) if (label := label_of(number)) not in self.entries]
        highest_first = sorted(self.entries, key=number_of, reverse=True)
        for label, last in zip(missing, highest_first, strict=False):  # no more are missing than there are entries
            self.entries[label] = self.entries.pop(last)

    def remove_copies(self, subscriber: NodeId) -> None:
        """Carry out CheckMultipleCopies (ii); the lowest label stays."""
        for label in self._labels(subscriber)[1:]:
            del self.entries[label]
        self.repair()

    def next(self) -> NodeId | None:
        """Return the next subscriber, round robin."""
        self.repair()
        if not self.entries:
            return None
        self._next = (self._next + 1) % len(self.entries)
        return self.entries[label_of(self._next)]

    def integrate(self, subscriber: NodeId) -> Configuration:
        """Return a subscriber's configuration, recording it if needed."""
        self.repair()
        self.remove_copies(subscriber)
        if not self._labels(subscriber):
            self.entries[label_of(len(self.entries))] = subscriber
        return self._configuration(self._labels(subscriber)[0])

    def remove(self, subscriber: NodeId) -> NodeId | None:
        """Forget a subscriber; return the one that takes its label, if any."""
        self.repair()
        self.remove_copies(subscriber)
        for label in self._labels(subscriber):
            last = label_of(len(self.entries) - 1)
            self.entries[label] = self.entries[last]
            del self.entries[last]
            return self.entries.get(label)
        return None

    def forget(self, subscriber: NodeId) -> None:
        """Delete a crashed subscriber; `repair` closes the gap."""
        for label in self._labels(subscriber):
            del self.entries[label]

    def _labels(self, subscriber: NodeId) -> list[Label]:
        """Return the labels of a subscriber, in the order of l."""
        return sorted((label for label, node in self.entries.items() if node == subscriber), key=number_of)

    def _configuration(self, label: Label) -> Configuration:
        recorded = (Reference(node, own_label) for own_label, node in self.entries.items() if node is not None)
        circle = sorted(recorded, key=lambda reference: reference.key)
        if len(circle) == 1:
            return Configuration(None, label, None)
        place = [reference.label for reference in circle].index(label)
        return Configuration(circle[place - 1], label, circle[(place + 1) % len(circle)])


class Supervisor(Process):
    """s, with a database for each topic."""

    def __init__(self, *, ask_first: bool = True, of: Process | None = None) -> None:
        super().__init__(of)
        self._asks_first = ask_first
        self.databases: dict[Topic, Database] = {}

    def database(self, topic: Topic) -> Database:
        """Return the database of a topic."""
        return self.databases.setdefault(topic, Database())

    # Requests, Timeout and crashes

    @on(Subscribe, GetConfiguration)
    def integrate(self, request: Subscribe | GetConfiguration, sender: NodeId, now: SimTime) -> None:
        """Record and configure a subscriber (3.1, 4.1); by `ask_first` at its own request."""
        self._note_served(request)
        is_known = request.subscriber in self.database(request.topic).entries.values()
        if self._asks_first and sender != request.subscriber and not is_known:
            self.send(request.subscriber, GetConfiguration(request.topic, request.subscriber))
        else:
            self._configure(request.topic, request.subscriber)

    @on(Unsubscribe)
    def unsubscribe(self, request: Unsubscribe, sender: NodeId, now: SimTime) -> None:
        """Give the last subscriber the label, and let the other go (section 4.1)."""
        self._note_served(request)
        successor = self.database(request.topic).remove(request.subscriber)
        if successor is not None:
            self._configure(request.topic, successor)
        self.send(request.subscriber, SetData(request.topic, label=None, predecessor=None, successor=None))

    def timeout(self) -> None:
        """Carry out Timeout: repair, and configure the next subscriber."""
        for topic, database in self.databases.items():
            if (subscriber := database.next()) is not None:
                self._configure(topic, subscriber)

    def detect_crash(self, subscriber: NodeId) -> None:
        """Remove a crashed subscriber from every database (section 3.3)."""
        for database in self.databases.values():
            database.forget(subscriber)

    # Helpers

    def _configure(self, topic: Topic, subscriber: NodeId) -> None:
        found = self.database(topic).integrate(subscriber)
        self.send(subscriber, SetData(topic, found.label, found.predecessor, found.successor))

    def _note_served(self, request: Subscribe | GetConfiguration | Unsubscribe) -> None:
        """Note the request that explains the following messages."""
        self.note(SERVE, message_type=request.message_type, peer=request.subscriber)

    def listing(self, names: Names) -> Listing:
        """The databases, in the order of labels."""
        rows = tuple(
            (str(topic), label, NOBODY if node is None else names.node(node))
            for topic, database in self.databases.items()
            for label, node in sorted(database.entries.items(), key=lambda entry: number_of(entry[0]))
        )
        return Listing(("Topic", "Label", "Subscriber"), rows)
