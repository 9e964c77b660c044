"""Patricia tries with hashes: the publications that a subscriber has (004, section 4.2).

Nodes do not change once made, and a node's hash follows from what is below it: no trie can be inconsistent in itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.codec import Writer

Bits = str
"""A label of a node: a text of bits."""
HASH_BYTES = 8
"""Reasoned: no collisions among any number of publications that a run has."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A publication, under its key."""

    label: Bits
    publication: Notification

    @property
    def hash(self) -> bytes:
        """h(label)."""
        return _hash(self.label.encode())


@dataclass(frozen=True, slots=True)
class Inner:
    """The longest common prefix of what is below it; `children` go on with 0 and with 1."""

    label: Bits
    children: tuple[TrieNode, TrieNode]
    hash: bytes
    """h(h(c1) h(c2))."""


TrieNode = Leaf | Inner


def publication_key(publication: Notification, bits: int) -> Bits:
    """h_m(v, p): the hash of the publication with its publisher and number, cut to `bits`."""
    writer = Writer()
    publication.write(writer)
    digest = blake2b(writer.getvalue(), digest_size=16).digest()
    return f"{int.from_bytes(digest):0{8 * len(digest)}b}"[:bits]


class PatriciaTrie:
    """The trie of one subscriber; grows only."""

    def __init__(self, key_bits: int) -> None:
        self.root: TrieNode | None = None
        self._key_bits = key_bits

    def insert(self, publication: Notification) -> bool:
        """Whether it is new; of two with the same key the first stays."""
        leaf = Leaf(publication_key(publication, self._key_bits), publication)
        if self.find(leaf.label) is not None:
            return False
        self.root = leaf if self.root is None else _insert(self.root, leaf)
        return True

    def find(self, label: Bits) -> TrieNode | None:
        """The node with this label."""
        node = self.first_below(label)
        return node if node is not None and node.label == label else None

    def first_below(self, prefix: Bits) -> TrieNode | None:
        """The node with the shortest label that begins with `prefix`."""
        node = self.root
        while isinstance(node, Inner) and len(node.label) < len(prefix) and prefix.startswith(node.label):
            node = node.children[int(prefix[len(node.label)])]
        return node if node is not None and node.label.startswith(prefix) else None

    def publications(self, prefix: Bits = "") -> Iterator[Notification]:
        """Those whose keys begin with `prefix`, in the order of keys."""
        return (leaf.publication for leaf in self.nodes(prefix) if isinstance(leaf, Leaf))

    def nodes(self, prefix: Bits = "") -> Iterator[TrieNode]:
        """Those whose labels begin with `prefix`, each before what is below it."""
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
        if leaf.label[len(node.label)] == "0":
            return _inner(node.label, (_insert(zero, leaf), one))
        return _inner(node.label, (zero, _insert(one, leaf)))
    prefix = _common_prefix(node.label, leaf.label)
    return _inner(prefix, (leaf, node) if leaf.label < node.label else (node, leaf))


def _inner(label: Bits, children: tuple[TrieNode, TrieNode]) -> Inner:
    return Inner(label, children, _hash(children[0].hash + children[1].hash))


def _common_prefix(one: Bits, other: Bits) -> Bits:
    differing = (place for place, bits in enumerate(zip(one, other, strict=False)) if bits[0] != bits[1])
    return one[: next(differing, min(len(one), len(other)))]


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()
