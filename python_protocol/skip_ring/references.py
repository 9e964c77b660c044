"""What a subscriber stores of another: its node, and the label that it believes it to have (004, section 2.2)."""

from __future__ import annotations

from typing import NamedTuple, Self

from roambus.python_protocol.messages.codec import DecodeError, Reader, Writer
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.skip_ring.labels import Label, is_label, position


class Reference(NamedTuple):
    """(v, label_v)."""

    node: NodeId
    label: Label

    @property
    def key(self) -> tuple[int, NodeId]:
        """The place in the sorted ring; corrupted states have equal labels, which nodes then decide."""
        return position(self.label), self.node

    def write(self, writer: Writer) -> None:
        """Node, label."""
        writer.u16(self.node)
        write_bits(writer, self.label)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        return cls(reader.u16(), read_label(reader))

    def describe(self, names: Names) -> str:
        """n3:011."""
        return f"{names.node(self.node)}:{self.label}"


def describe_reference(reference: Reference | None, names: Names) -> str:
    """A reference, or a dash for none."""
    return NOBODY if reference is None else reference.describe(names)


def write_bits(writer: Writer, bits: str) -> None:
    """Their number, then as many bytes as they fill."""
    writer.u8(len(bits))
    for start in range(0, len(bits), 8):
        writer.u8(int(bits[start : start + 8], 2))


def read_bits(reader: Reader) -> str:
    """Inverse of `write_bits`."""
    count = reader.u8()
    bits = ""
    while len(bits) < count:
        width = min(8, count - len(bits))
        value = reader.u8()
        if value >> width:
            raise DecodeError(f"{value} has more than {width} bits")
        bits += f"{value:0{width}b}"
    return bits


def read_label(reader: Reader) -> Label:
    """Bits that are a label."""
    return check_label(read_bits(reader))


def check_label(bits: str) -> Label:
    """Raises DecodeError if no subscriber can have it."""
    if not is_label(bits):
        raise DecodeError(f"{bits!r} is no label")
    return bits
