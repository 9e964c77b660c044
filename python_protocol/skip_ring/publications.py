"""The publications of one topic at a subscriber: how tries become equal, and how new ones spread (004, section 4).

What the text leaves open:

- *Which hash*: see `patricia`. Leaves with one label and different hashes would be a collision, and stay as they are.
- *An empty trie* has no root to send: who has one waits for its neighbours to check theirs with it.
- *Flooding does not go back* to where a publication came from.
- *A publisher without neighbours*, because it has only just joined, floods when it has some.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from roambus.python_protocol.actions import Action, Deliver, Send
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.messages import CheckAndPublish, CheckTrie, Publish, PublishNew, Summary, Topic
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.patricia import Inner, Leaf, PatriciaTrie, TrieNode


class Publications:
    """v.T, and what the application wants of it."""

    def __init__(self, topic: Topic, parameters: SkipRingParameters, random: Random) -> None:
        self.topic = topic
        self.trie = PatriciaTrie(parameters.key_bits)
        self.filters: dict[Filter, None] = {}
        self._delivered: set[NotificationId] = set()
        self._unflooded: list[Notification] = []
        self._parameters = parameters
        self._random = random

    def listing_rows(self, names: Names) -> list[tuple[str, ...]]:
        """Topic, label, publication of each node of the trie."""
        return [
            (str(self.topic), node.label or "ε", names.notification(node.publication) if isinstance(node, Leaf) else "")
            for node in self.trie.nodes()
        ]

    def subscribe(self, wanted: Filter) -> list[Action]:
        """The application gets what was published before, too."""
        self.filters[wanted] = None
        return [action for one in self.trie.publications() for action in self._deliver(one, 0)]

    def timeout(self, ring_neighbours: list[NodeId]) -> list[Action]:
        """Sends the root to one of the ring neighbours, chosen randomly."""
        if self.trie.root is None or not ring_neighbours:
            return []
        nodes = (summarize(self.trie.root),)
        return [Send(self._random.choice(ring_neighbours), CheckTrie(self.topic, nodes))]

    def publish(self, publication: Notification, neighbours: Sequence[NodeId]) -> list[Action]:
        """The application publishes."""
        if not neighbours:
            self._unflooded.append(publication)
        return self._add_new(publication, 0, neighbours)

    def flood(self, neighbours: Sequence[NodeId]) -> list[Action]:
        """What the application has published while there was nobody to flood it to."""
        if not neighbours:
            return []
        publications, self._unflooded = self._unflooded, []
        return [action for one in publications for action in self._flood(one, 0, neighbours)]

    def publish_new(self, sender: NodeId, message: PublishNew, neighbours: Iterable[NodeId]) -> list[Action]:
        """Section 4.3: what is known already is dropped, the rest goes on."""
        return self._add_new(message.publication, message.hops, [one for one in neighbours if one != sender])

    def receive(self, message: Publish) -> list[Action]:
        """A publication that was missing."""
        return self._add(message.publication, 1)

    def check(self, sender: NodeId, message: CheckTrie) -> list[Action]:
        """CheckTrie, for one node after the other."""
        return [action for node in message.nodes for action in self._check(sender, node)]

    def check_and_publish(self, sender: NodeId, message: CheckAndPublish) -> list[Action]:
        """CheckTrie, and all publications with a prefix."""
        missing = [Send(sender, Publish(self.topic, one)) for one in self.trie.publications(message.prefix)]
        return [*self.check(sender, message), *missing]

    def _check(self, sender: NodeId, theirs: Summary) -> list[Action]:
        """The three cases of section 4.2."""
        mine = self.trie.find(theirs.label)
        if mine is None:
            return [Send(sender, self._request_missing(theirs))]
        if mine.hash == theirs.hash or not isinstance(mine, Inner):
            return []
        zero, one = mine.children
        return [Send(sender, CheckTrie(self.topic, (summarize(zero), summarize(one))))]

    def _request_missing(self, theirs: Summary) -> CheckAndPublish:
        """All with the prefix that no own node has; the node with the shortest label below it is to be compared."""
        nearest = self.trie.first_below(theirs.label)
        if nearest is None:
            return CheckAndPublish(self.topic, (), theirs.label)
        other = "1" if nearest.label[len(theirs.label)] == "0" else "0"
        return CheckAndPublish(self.topic, (summarize(nearest),), theirs.label + other)

    def _add_new(self, publication: Notification, hops: int, neighbours: Iterable[NodeId]) -> list[Action]:
        if not self.trie.insert(publication):
            return []
        return [*self._deliver(publication, hops), *self._flood(publication, hops, neighbours)]

    def _flood(self, publication: Notification, hops: int, neighbours: Iterable[NodeId]) -> list[Action]:
        if not self._parameters.flooding:
            return []
        message = PublishNew(self.topic, publication, hops + 1)
        return [Send(one, message) for one in neighbours]

    def _add(self, publication: Notification, hops: int) -> list[Action]:
        return self._deliver(publication, hops) if self.trie.insert(publication) else []

    def _deliver(self, publication: Notification, hops: int) -> list[Action]:
        """Once, if any of the application's filters matches."""
        if publication.id in self._delivered or not any(one.matches(publication) for one in self.filters):
            return []
        self._delivered.add(publication.id)
        return [Deliver(publication, hops)]


def summarize(node: TrieNode) -> Summary:
    """What a message says of a node."""
    return Summary(node.label, node.hash)
