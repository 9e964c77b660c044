"""The supervisor's part of BuildSR: a database for each topic, of who has which label (sections 3.1, 3.3 and 4.1).

It answers each request at once, by one SetData or two, and once a round sends one subscriber of each topic its
configuration, round robin: so its work grows with the topics, and not with the subscribers.

A database can be corrupted in four ways: (i) a label is without a subscriber, (ii) a subscriber has several labels,
(iii) a label l(i), i < n, is missing, (iv) a label is none of these. As the paper suggests, labels are the keys of a
hashmap, so that none can be there twice.

In the paper (i), (iii) and (iv) are repaired in Timeout only. Here every operation repairs them first, because l(n),
which a new subscriber gets, is not free in a damaged database.

The labels of n subscribers are l(0) to l(n - 1), whoever they are. So one that goes leaves a gap unless the last takes
its label (section 4.1), and two subscribers hear of it: the one that may go, and the one that has another label now.
Their neighbours learn of that from themselves, by BuildRing, which is what keeps the supervisor's work small.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.agent import Listing, Process, on
from roambus.python_protocol.messages.fields import NOBODY, Names
from roambus.python_protocol.papers.skip_ring.labels import Label, Reference, label_of, number_of
from roambus.python_protocol.papers.skip_ring.messages import (
    SERVE,
    GetConfiguration,
    SetData,
    Subscribe,
    Topic,
    Unsubscribe,
)
from roambus.python_protocol.vocabulary import NodeId, SimTime


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
        """Carries out CheckLabels: repairs (i), then (iii), and (iv) with it."""
        self.entries = {label: node for label, node in self.entries.items() if node is not None}
        missing = [label for number in range(len(self.entries)) if (label := label_of(number)) not in self.entries]
        highest_first = sorted(self.entries, key=number_of, reverse=True)
        for label, last in zip(missing, highest_first, strict=False):  # no more are missing than there are entries
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
        recorded = (Reference(node, one) for one, node in self.entries.items() if node is not None)
        circle = sorted(recorded, key=lambda one: one.key)
        if len(circle) == 1:
            return Configuration(None, label, None)
        place = [one.label for one in circle].index(label)
        return Configuration(circle[place - 1], label, circle[(place + 1) % len(circle)])


class Supervisor(Process):
    """s, which has a database for each topic."""

    def __init__(self, *, ask_first: bool = True, of: Process | None = None) -> None:
        super().__init__(of)
        self._asks_first = ask_first
        self.databases: dict[Topic, Database] = {}

    def database(self, topic: Topic) -> Database:
        """The database of a topic, which is empty at first."""
        return self.databases.setdefault(topic, Database())

    # Requests, Timeout and crashes

    @on(Subscribe, GetConfiguration)
    def integrate(self, request: Subscribe | GetConfiguration, sender: NodeId, now: SimTime) -> None:
        """Sends a subscriber its configuration, after recording it if it is new (sections 3.1 and 4.1).

        By `ask_first` a node that another has named, and that is not recorded, must request its configuration itself.
        """
        self._note_served(request)
        is_known = request.subscriber in self.database(request.topic).entries.values()
        if self._asks_first and sender != request.subscriber and not is_known:
            self.send(request.subscriber, GetConfiguration(request.topic, request.subscriber))
        else:
            self._configure(request.topic, request.subscriber)

    @on(Unsubscribe)
    def unsubscribe(self, request: Unsubscribe, sender: NodeId, now: SimTime) -> None:
        """Has the last subscriber take the label, and learn its configuration; the other may go (section 4.1)."""
        self._note_served(request)
        successor = self.database(request.topic).remove(request.subscriber)
        if successor is not None:
            self._configure(request.topic, successor)
        self.send(request.subscriber, SetData(request.topic, label=None, predecessor=None, successor=None))

    def timeout(self) -> None:
        """Carries out Timeout: repairs each database, and sends the next subscriber its configuration."""
        for topic, database in self.databases.items():
            if (subscriber := database.next()) is not None:
                self._configure(topic, subscriber)

    def detect_crash(self, subscriber: NodeId) -> None:
        """Removes a subscriber that has crashed from every database (section 3.3)."""
        for database in self.databases.values():
            database.forget(subscriber)

    # Helpers

    def _configure(self, topic: Topic, subscriber: NodeId) -> None:
        found = self.database(topic).integrate(subscriber)
        self.send(subscriber, SetData(topic, found.label, found.predecessor, found.successor))

    def _note_served(self, request: Subscribe | GetConfiguration | Unsubscribe) -> None:
        """Says which request is served, so that the trace tells what the messages after it are for."""
        self.note(SERVE, message_type=request.message_type, peer=request.subscriber)

    def listing(self, names: Names) -> Listing:
        """The databases, in the order of labels."""
        rows = tuple(
            (str(topic), label, NOBODY if node is None else names.node(node))
            for topic, database in self.databases.items()
            for label, node in sorted(database.entries.items(), key=lambda entry: number_of(entry[0]))
        )
        return Listing(("Topic", "Label", "Subscriber"), rows)
