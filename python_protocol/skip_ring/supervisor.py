"""The supervisor's part of BuildSR, for all topics (004, sections 3.1, 3.3 and 4.1).

It answers each request at once, by one SetData or two, and once a round sends one subscriber of each topic its
configuration, round robin.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Note, Send
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.notes import SERVE
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.database import Configuration, Database
from roambus.python_protocol.skip_ring.labels import number_of
from roambus.python_protocol.skip_ring.messages import GetConfiguration, SetData, Subscribe, Topic, Unsubscribe

Request = Subscribe | GetConfiguration | Unsubscribe


class Supervisor:
    """s: a database a topic."""

    def __init__(self) -> None:
        self.databases: dict[Topic, Database] = {}

    def listing(self, names: Names) -> Listing:
        """The databases, in the order of labels."""
        rows = (
            (str(topic), label, NOBODY if node is None else names.node(node))
            for topic, database in self.databases.items()
            for label, node in sorted(database.entries.items(), key=lambda entry: number_of(entry[0]))
        )
        return Listing(("Topic", "Label", "Subscriber"), tuple(rows))

    def timeout(self) -> list[Action]:
        """Repairs each database, and sends the next subscriber its configuration."""
        actions: list[Action] = []
        for topic, database in self.databases.items():
            subscriber = database.next()
            if subscriber is not None:
                actions.append(self._configure(topic, subscriber))
        return actions

    def receive(self, request: Request) -> list[Action]:
        """Serves a request; a note says which, so that the trace tells what its messages are for."""
        note = Note(SERVE, request.message_type, peer=request.subscriber)
        if isinstance(request, Unsubscribe):
            return [note, *self._unsubscribe(request.topic, request.subscriber)]
        return [note, self._configure(request.topic, request.subscriber)]

    def detect_crash(self, subscriber: NodeId) -> None:
        """Section 3.3: removes it from every database."""
        for database in self.databases.values():
            database.forget(subscriber)

    def _unsubscribe(self, topic: Topic, subscriber: NodeId) -> list[Action]:
        """The last subscriber takes the label, and learns its configuration; the other may go."""
        successor = self.database(topic).remove(subscriber)
        permission = Send(subscriber, SetData(topic, None, None, None))
        return [permission] if successor is None else [self._configure(topic, successor), permission]

    def _configure(self, topic: Topic, subscriber: NodeId) -> Send:
        return Send(subscriber, _set_data(topic, self.database(topic).integrate(subscriber)))

    def database(self, topic: Topic) -> Database:
        """Of a topic; empty at first."""
        return self.databases.setdefault(topic, Database())


def _set_data(topic: Topic, configuration: Configuration) -> SetData:
    return SetData(topic, configuration.predecessor, configuration.label, configuration.successor)
