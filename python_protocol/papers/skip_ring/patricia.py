"""Patricia tries with hashes: the publications that a subscriber has (the skip ring's paper, section 4.2).

Nodes do not change once they are made, and a node's hash follows from what is below it, so that no trie can be
inconsistent in itself. To insert a publication makes the nodes on the way from the root to its leaf anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from typing import Annotated

from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import By
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.messages.shapes import Fixed
from roambus.python_protocol.papers.skip_ring.labels import Bits

HASH_BYTES = 8
"""The length of a hash, which we chose: there are no collisions among as many publications as a run has."""
_BYTES = Struct(f"!{HASH_BYTES}B")


def _write_hash(writer: Writer, digest: bytes) -> None:
    writer.pack(_BYTES, *digest)


def _read_hash(reader: Reader) -> bytes:
    return bytes(reader.unpack(_BYTES))


Hash = Annotated[bytes, By(_write_hash, _read_hash, shape=Fixed(HASH_BYTES))]
"""The hash of a node; it travels without its length, which all have in common."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A publication, which is labelled by its key."""

    label: Bits
    publication: Notification

    @property
    def hash(self) -> Hash:
        """h(label)."""
        return _hash(self.label.encode())


@dataclass(frozen=True, slots=True)
class Inner:
    """A node whose label is the longest common prefix of those of its children, which go on with 0 and with 1."""

    label: Bits
    children: tuple[TrieNode, TrieNode]
    hash: Hash
    """h(h(c1) h(c2))."""


TrieNode = Leaf | Inner


def publication_key(publication: Notification, bits: int) -> Bits:
    """h_m(v, p): the hash of the publication with its publisher and number, cut to `bits`."""
    writer = Writer()
    publication.write(writer)
    digest = blake2b(writer.getvalue(), digest_size=16).digest()
    return f"{int.from_bytes(digest):0{8 * len(digest)}b}"[:bits]


class PatriciaTrie:
    """The trie of one subscriber; nothing is ever taken out of it."""

    def __init__(self, key_bits: int) -> None:
        self.root: TrieNode | None = None
        self._key_bits = key_bits

    def insert(self, publication: Notification) -> bool:
        """Adds a publication, and says whether it is new; of two with the same key the first stays."""
        leaf = Leaf(publication_key(publication, self._key_bits), publication)
        if self.find(leaf.label) is not None:
            return False
        self.root = leaf if self.root is None else _insert(self.root, leaf)
        return True

    def find(self, label: Bits) -> TrieNode | None:
        """The node with this label, if there is one."""
        node = self.first_below(label)
        return node if node is not None and node.label == label else None

    def first_below(self, prefix: Bits) -> TrieNode | None:
        """The node with the shortest label that begins with `prefix`, if there is one."""
        node = self.root
        while isinstance(node, Inner) and len(node.label) < len(prefix) and prefix.startswith(node.label):
            node = node.children[int(prefix[len(node.label)])]
        return node if node is not None and node.label.startswith(prefix) else None

    def publications(self, prefix: Bits = "") -> Iterator[Notification]:
        """The publications whose keys begin with `prefix`, in the order of keys."""
        return (leaf.publication for leaf in self.nodes(prefix) if isinstance(leaf, Leaf))

    def nodes(self, prefix: Bits = "") -> Iterator[TrieNode]:
        """The nodes whose labels begin with `prefix`, each before what is below it."""
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
