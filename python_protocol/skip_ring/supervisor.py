"""The supervisor's part of BuildSR, for all topics (the skip ring's paper, sections 3.1, 3.3 and 4.1).

It answers each request at once, by one SetData or two, and once a round sends one subscriber of each topic its
configuration, round robin.
"""

from __future__ import annotations

from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.notes import SERVE
from roambus.python_protocol.process import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.skip_ring.database import Database
from roambus.python_protocol.skip_ring.labels import number_of
from roambus.python_protocol.skip_ring.messages import GetConfiguration, SetData, Subscribe, Topic, Unsubscribe


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

        By `ask_first` whom another has asked for, and who is not recorded, is asked to ask for itself.
        """
        self._note_served(request)
        is_for_another = sender != request.subscriber
        if self._asks_first and is_for_another and not self.database(request.topic).has(request.subscriber):
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
            subscriber = database.next()
            if subscriber is not None:
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
        rows = (
            (str(topic), label, NOBODY if node is None else names.node(node))
            for topic, database in self.databases.items()
            for label, node in sorted(database.entries.items(), key=lambda entry: number_of(entry[0]))
        )
        return Listing(("Topic", "Label", "Subscriber"), tuple(rows))
