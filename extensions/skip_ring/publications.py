"""A topic's publications at a subscriber, in a Patricia trie (sections 4.2 and 4.3).

Once a round a subscriber sends its root to a ring neighbour, and both descend to the differences. New publications are
flooded, but not back. A node's hash covers its subtree, so equal tries cost one label and hash a round. A leaf's hash
is that of its label; an empty trie and a publisher without neighbours wait (open in the text).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from roambus.extensions.skip_ring.labels import Bits, show_bits
from roambus.extensions.skip_ring.messages import (
    HASH_BYTES,
    CheckAndPublish,
    CheckTrie,
    Hash,
    Publish,
    PublishNew,
    SkipRingParameters,
    Summary,
    Topic,
)
from roambus.python_protocol.agent import Process, on
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.octets import bytes_of
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Publications(Process):
    """v.T, and the application's filters."""

    def __init__(self, topic: Topic, parameters: SkipRingParameters, random: Random, of: Process | None = None) -> None:
        super().__init__(of)
        self.topic = topic
        self.trie = PatriciaTrie(parameters.key_bits)
        self.filters: dict[Filter, None] = {}
        self.delivered: set[NotificationId] = set()
        """Deliveries; one set for all topics."""
        self._unflooded: list[Notification] = []
        self._parameters = parameters
        self._random = random

    def listing_rows(self, names: Names) -> list[tuple[str, ...]]:
        """Return each trie node's topic, label and publication."""
        return [
            (
                str(self.topic),
                show_bits(node.label),
                names.notification(node.publication) if isinstance(node, Leaf) else "",
            )
            for node in self.trie.nodes()
        ]

    # The application, and Timeout

    def subscribe(self, wanted: Filter) -> None:
        """Subscribe, and deliver earlier publications."""
        self.filters[wanted] = None
        for publication in self.trie.publications():
            self._deliver_wanted(publication, 0)

    def publish(self, publication: Notification, neighbours: Sequence[NodeId]) -> None:
        """Publish for the application."""
        if not neighbours:
            self._unflooded.append(publication)
        self._add_new(publication, 0, neighbours)

    def flood(self, neighbours: Sequence[NodeId]) -> None:
        """Flood publications that lacked a neighbour."""
        while neighbours and self._unflooded:
            self._flood(self._unflooded.pop(0), 0, neighbours)

    def timeout(self, ring_neighbours: Sequence[NodeId]) -> None:
        """Send the root to a random ring neighbour."""
        if self.trie.root is not None and ring_neighbours:
            self.send(self._random.choice(ring_neighbours), CheckTrie(self.topic, (summarize(self.trie.root),)))

    # Messages

    @on(CheckTrie)
    def check_trie(self, message: CheckTrie, sender: NodeId, now: SimTime) -> None:
        """Compare the sender's trie nodes (section 4.2)."""
        for theirs in message.nodes:  # the three cases: mine is none, another or the same
            mine = self.trie.find(theirs.label)
            if mine is None:
                self.send(sender, self._request_missing(theirs))
            # Two leaves of one label and different hashes would be a collision: there is nothing below to compare.
            elif mine.hash != theirs.hash and isinstance(mine, Inner):
                zero, one = mine.children
                self.send(sender, CheckTrie(self.topic, (summarize(zero), summarize(one))))

    @on(CheckAndPublish)
    def check_and_publish(self, message: CheckAndPublish, sender: NodeId, now: SimTime) -> None:
        """Carry out CheckTrie; send a prefix's publications (section 4.2)."""
        self.check_trie(message, sender, now)
        for publication in self.trie.publications(message.prefix):
            self.send(sender, Publish(self.topic, publication))

    @on(Publish)
    def add(self, message: Publish, sender: NodeId, now: SimTime) -> None:
        """Enter a missing publication (section 4.2)."""
        if self.trie.insert(message.publication):
            self._deliver_wanted(message.publication, 1)

    def publish_new(self, message: PublishNew, sender: NodeId, neighbours: Iterable[NodeId]) -> None:
        """Drop a known publication, and flood a new one (section 4.3)."""
        self._add_new(message.publication, message.hops, [neighbour for neighbour in neighbours if neighbour != sender])

    # Helpers

    def _request_missing(self, theirs: Summary) -> CheckAndPublish:
        """Ask for missing prefixes; compare the node with the shortest label below it."""
        # Below this label either there is nothing, so everything is requested; or it is on one side only.
        nearest = self.trie.first_below(theirs.label)
        if nearest is None:
            return CheckAndPublish(self.topic, (), theirs.label)
        other = {"0": "1", "1": "0"}[nearest.label[len(theirs.label)]]
        return CheckAndPublish(self.topic, (summarize(nearest),), theirs.label + other)

    def _add_new(self, publication: Notification, hops: int, neighbours: Iterable[NodeId]) -> None:
        if self.trie.insert(publication):
            self._deliver_wanted(publication, hops)
            self._flood(publication, hops, neighbours)

    def _flood(self, publication: Notification, hops: int, neighbours: Iterable[NodeId]) -> None:
        message = PublishNew(self.topic, hops + 1, publication)  # one for all, which is encoded once
        for neighbour in neighbours if self._parameters.flooding else ():
            self.send(neighbour, message)

    def _deliver_wanted(self, publication: Notification, hops: int) -> None:
        """Deliver a publication once, if a filter matches."""
        if publication.id not in self.delivered and any(wanted.matches(publication) for wanted in self.filters):
            self.delivered.add(publication.id)
            self.deliver(publication, hops)


def summarize(node: TrieNode) -> Summary:
    """Return label and hash of a node."""
    return Summary(node.label, node.hash)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A publication, labelled by its key."""

    label: Bits
    publication: Notification

    @property
    def hash(self) -> Hash:
        """The hash of its label."""
        return _hash(self.label.encode())


@dataclass(frozen=True, slots=True)
class Inner:
    """A node labelled by its children's longest common prefix."""

    label: Bits
    children: tuple[TrieNode, TrieNode]
    hash: Hash
    """h(h(c1) h(c2))."""


TrieNode = Leaf | Inner


def publication_key(publication: Notification, bits: int) -> Bits:
    """Return h_m(v, p): publisher, number and content hashed to `bits`."""
    digest = blake2b(bytes_of(publication), digest_size=16).digest()
    return f"{int.from_bytes(digest):0{8 * len(digest)}b}"[:bits]


class PatriciaTrie:
    """A growing trie: neighbours would return removed publications."""

    def __init__(self, key_bits: int) -> None:
        self.root: TrieNode | None = None
        self._key_bits = key_bits

    def insert(self, publication: Notification) -> bool:
        """Add a publication; return whether it is new."""
        leaf = Leaf(publication_key(publication, self._key_bits), publication)
        if self.find(leaf.label) is not None:
            return False
        self.root = leaf if self.root is None else _insert(self.root, leaf)
        return True

    def find(self, label: Bits) -> TrieNode | None:
        """Return the node with this label."""
        node = self.first_below(label)
        return node if node is not None and node.label == label else None

    def first_below(self, prefix: Bits) -> TrieNode | None:
        """Return the shortest label's node below `prefix`."""
        node = self.root
        while isinstance(node, Inner) and len(node.label) < len(prefix) and prefix.startswith(node.label):
            node = node.children[int(prefix[len(node.label)])]
        return node if node is not None and node.label.startswith(prefix) else None

    def publications(self, prefix: Bits = "") -> Iterator[Notification]:
        """Iterate over publications whose keys begin with `prefix`, in order."""
        return (leaf.publication for leaf in self.nodes(prefix) if isinstance(leaf, Leaf))

    def nodes(self, prefix: Bits = "") -> Iterator[TrieNode]:
        """Iterate over nodes whose labels begin with `prefix`, parents first."""
        top = self.first_below(prefix)
        pending = [] if top is None else [top]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, Inner):
                pending += reversed(node.children)


def _insert(node: TrieNode, leaf: Leaf) -> Inner:
    if isinstance(node, Inner) and leaf.label.startswith(node.label):
        zero, one = node.children
        is_zero = leaf.label[len(node.label)] == "0"
        return _inner(node.label, (_insert(zero, leaf), one) if is_zero else (zero, _insert(one, leaf)))
    pairs = enumerate(zip(node.label, leaf.label, strict=False))  # one of them differs: neither label begins the other
    prefix = leaf.label[: next(place for place, (own, other) in pairs if own != other)]
    return _inner(prefix, (leaf, node) if leaf.label < node.label else (node, leaf))


def _inner(label: Bits, children: tuple[TrieNode, TrieNode]) -> Inner:
    return Inner(label, children, _hash(children[0].hash + children[1].hash))


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()
