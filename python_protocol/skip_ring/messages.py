"""The messages of the skip ring, each with the topic whose ring it is about (004, section 4).

The paper names SetData, IntroduceShortcut, Subscribe, Unsubscribe, CheckTrie, CheckAndPublish and PublishNew; the text
that we have describes the others without a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from roambus.python_protocol.filters import Notification, Value, read_value, write_value
from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import NOBODY, Names, listed
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label
from roambus.python_protocol.skip_ring.patricia import HASH_BYTES, Bits
from roambus.python_protocol.skip_ring.references import (
    Reference,
    check_label,
    describe_reference,
    read_bits,
    read_label,
    write_bits,
)

Topic = Value
"""Of a ring: the operand of the filter `topic = x`."""


@dataclass(frozen=True, slots=True)
class TopicMessage(Message):
    """About the ring of one topic."""

    topic: Topic


@dataclass(frozen=True, slots=True)
class _OfSubscriber(TopicMessage):
    """About one subscriber."""

    subscriber: NodeId

    def write(self, writer: Writer) -> None:
        """Topic, subscriber."""
        write_value(writer, self.topic)
        writer.u16(self.subscriber)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_value(reader), reader.u16())

    def describe(self, names: Names) -> str:
        """Subscribe 7 n3."""
        return f"{self.message_type} {self.topic} {names.node(self.subscriber)}"


@dataclass(frozen=True, slots=True)
class Subscribe(_OfSubscriber):
    """To the supervisor: integrate the subscriber, and send its configuration (section 4.1; action (i))."""

    tag: ClassVar[int] = 1
    message_type: ClassVar[str] = "Subscribe"


@dataclass(frozen=True, slots=True)
class Unsubscribe(_OfSubscriber):
    """To the supervisor: remove the subscriber, and permit it to go (section 4.1)."""

    tag: ClassVar[int] = 2
    message_type: ClassVar[str] = "Unsubscribe"


@dataclass(frozen=True, slots=True)
class GetConfiguration(_OfSubscriber):
    """To the supervisor: send the subscriber its configuration; integrate it first if need be (section 3.2.1)."""

    tag: ClassVar[int] = 3
    message_type: ClassVar[str] = "GetConfiguration"


@dataclass(frozen=True, slots=True)
class RemoveConnections(_OfSubscriber):
    """The subscriber is not in the ring: delete the connections to it (section 4.1, lemma on unsubscribe)."""

    tag: ClassVar[int] = 4
    message_type: ClassVar[str] = "RemoveConnections"


@dataclass(frozen=True, slots=True)
class SetData(TopicMessage):
    """From the supervisor: the configuration of the receiver (section 3.1); without a label, the permission to go."""

    tag: ClassVar[int] = 5
    message_type: ClassVar[str] = "SetData"
    predecessor: Reference | None
    label: Label | None
    successor: Reference | None

    def write(self, writer: Writer) -> None:
        """Topic, label, a byte that says whether there are others, predecessor and successor."""
        write_value(writer, self.topic)
        write_bits(writer, self.label or "")
        neighbours = [one for one in (self.predecessor, self.successor) if one is not None]
        writer.u8((self.predecessor is not None) + 2 * (self.successor is not None))
        for one in neighbours:
            one.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        topic, label, there = read_value(reader), read_bits(reader), reader.u8()
        if label:
            check_label(label)
        predecessor = Reference.read(reader) if there & 1 else None
        return cls(topic, predecessor, label or None, Reference.read(reader) if there & 2 else None)

    def describe(self, names: Names) -> str:
        """SetData 7 n1:0 < 01 < n2:1."""
        ends = (describe_reference(one, names) for one in (self.predecessor, self.successor))
        return f"SetData {self.topic} {next(ends)} < {self.label or NOBODY} < {next(ends)}"


@dataclass(frozen=True, slots=True)
class Introduce(TopicMessage):
    """A node introduces itself to a ring neighbour (section 2.2).

    `assumed` is the label that it thinks the receiver has. `cyclic`: it does so as the other end of the list, with
    which the receiver is to close the ring.
    """

    tag: ClassVar[int] = 6
    message_type: ClassVar[str] = "Introduce"
    reference: Reference
    assumed: Label
    cyclic: bool

    def write(self, writer: Writer) -> None:
        """Topic, reference, cyclic, assumed label."""
        write_value(writer, self.topic)
        self.reference.write(writer)
        writer.u8(self.cyclic)
        write_bits(writer, self.assumed)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        topic, reference, cyclic = read_value(reader), Reference.read(reader), bool(reader.u8())
        return cls(topic, reference, read_label(reader), cyclic)

    def describe(self, names: Names) -> str:
        """Introduce 7 n3:011 to=1 cyclic."""
        cyclic = " cyclic" if self.cyclic else ""
        return f"Introduce {self.topic} {self.reference.describe(names)} to={self.assumed}{cyclic}"


class Check(NamedTuple):
    """The sender with its label, and the label that it thinks the receiver has."""

    sender: Reference
    assumed: Label

    def write(self, writer: Writer) -> None:
        """Reference, label."""
        self.sender.write(writer)
        write_bits(writer, self.assumed)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(Reference.read(reader), read_label(reader))

    def describe(self, names: Names) -> str:
        """from=n4:11 to=01."""
        return f"from={self.sender.describe(names)} to={self.assumed}"


@dataclass(frozen=True, slots=True)
class Linearize(TopicMessage):
    """A node that is farther away than the sender's neighbour, delegated to it (section 2.2).

    `cyclic`: it is on its way to the other end of the list, with which it is to close the ring. `check` is how the
    sender introduces itself at the same time; None to the letter.
    """

    tag: ClassVar[int] = 7
    message_type: ClassVar[str] = "Linearize"
    reference: Reference
    cyclic: bool
    check: Check | None

    def write(self, writer: Writer) -> None:
        """Topic, reference, two flags, and the check if there is one."""
        write_value(writer, self.topic)
        self.reference.write(writer)
        writer.u8(self.cyclic + 2 * (self.check is not None))
        if self.check is not None:
            self.check.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        topic, reference, flags = read_value(reader), Reference.read(reader), reader.u8()
        return cls(topic, reference, bool(flags & 1), Check.read(reader) if flags & 2 else None)

    def describe(self, names: Names) -> str:
        """Linearize 7 n3:011 cyclic from=n4:11 to=01."""
        cyclic = " cyclic" if self.cyclic else ""
        check = f" {self.check.describe(names)}" if self.check else ""
        return f"Linearize {self.topic} {self.reference.describe(names)}{cyclic}{check}"


@dataclass(frozen=True, slots=True)
class IntroduceShortcut(TopicMessage):
    """A node to which the receiver should have a shortcut (section 3.2.2)."""

    tag: ClassVar[int] = 8
    message_type: ClassVar[str] = "IntroduceShortcut"
    reference: Reference

    def write(self, writer: Writer) -> None:
        """Topic, reference."""
        write_value(writer, self.topic)
        self.reference.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_value(reader), Reference.read(reader))

    def describe(self, names: Names) -> str:
        """IntroduceShortcut 7 n3:011."""
        return f"IntroduceShortcut {self.topic} {self.reference.describe(names)}"


class Summary(NamedTuple):
    """Of a node of a Patricia trie: its label and hash, without its edges (section 4.2)."""

    label: Bits
    hash: bytes

    def write(self, writer: Writer) -> None:
        """Label, hash."""
        write_bits(writer, self.label)
        for byte in self.hash:
            writer.u8(byte)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_bits(reader), bytes(reader.u8() for _ in range(HASH_BYTES)))


@dataclass(frozen=True, slots=True)
class CheckTrie(TopicMessage):
    """Nodes of the sender's trie, with which the receiver compares its own (section 4.2)."""

    tag: ClassVar[int] = 9
    message_type: ClassVar[str] = "CheckTrie"
    nodes: tuple[Summary, ...]

    def write(self, writer: Writer) -> None:
        """Topic, a count, nodes."""
        write_value(writer, self.topic)
        writer.u8(len(self.nodes))
        for node in self.nodes:
            node.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_value(reader), tuple(Summary.read(reader) for _ in range(reader.u8())))

    def describe(self, names: Names) -> str:  # noqa: ARG002  # interface
        """CheckTrie 7 [0 10]."""
        return f"CheckTrie {self.topic} {listed(_label(node.label) for node in self.nodes)}"


@dataclass(frozen=True, slots=True)
class CheckAndPublish(CheckTrie):
    """As CheckTrie; and the receiver is to send all publications whose keys begin with `prefix` (section 4.2)."""

    tag: ClassVar[int] = 10
    message_type: ClassVar[str] = "CheckAndPublish"
    prefix: Bits

    def write(self, writer: Writer) -> None:
        """As CheckTrie, then the prefix."""
        CheckTrie.write(self, writer)
        write_bits(writer, self.prefix)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        check = CheckTrie.read(reader)
        return cls(check.topic, check.nodes, read_bits(reader))

    def describe(self, names: Names) -> str:  # noqa: ARG002  # interface
        """CheckAndPublish 7 [100] 101."""
        nodes = listed(_label(node.label) for node in self.nodes)
        return f"CheckAndPublish {self.topic} {nodes} {_label(self.prefix)}"


@dataclass(frozen=True, slots=True)
class Publish(TopicMessage):
    """A publication that the receiver lacks (section 4.2)."""

    tag: ClassVar[int] = 11
    message_type: ClassVar[str] = "Publish"
    publication: Notification

    def write(self, writer: Writer) -> None:
        """Topic, publication."""
        write_value(writer, self.topic)
        self.publication.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(read_value(reader), Notification.read(reader))

    def describe(self, names: Names) -> str:
        """Publish 7 e1."""
        return f"Publish {self.topic} {names.notification(self.publication)}"


@dataclass(frozen=True, slots=True)
class PublishNew(TopicMessage):
    """A new publication, flooded (section 4.3); `hops` counts those it has made, this one included."""

    tag: ClassVar[int] = 12
    message_type: ClassVar[str] = "PublishNew"
    publication: Notification
    hops: int

    def write(self, writer: Writer) -> None:
        """Topic, hops, publication."""
        write_value(writer, self.topic)
        writer.u16(self.hops)
        self.publication.write(writer)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        topic, hops = read_value(reader), reader.u16()
        return cls(topic, Notification.read(reader), hops)

    def describe(self, names: Names) -> str:
        """PublishNew 7 e1 hops=2."""
        return f"PublishNew {self.topic} {names.notification(self.publication)} hops={self.hops}"


SKIP_RING_MESSAGES = (
    Subscribe,
    Unsubscribe,
    GetConfiguration,
    RemoveConnections,
    SetData,
    Introduce,
    Linearize,
    IntroduceShortcut,
    CheckTrie,
    CheckAndPublish,
    Publish,
    PublishNew,
)


def _label(bits: Bits) -> str:
    """The empty word needs a letter, as in the paper."""
    return bits or "ε"
