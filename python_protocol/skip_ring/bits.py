"""Texts of bits, which are the labels of subscribers and of the nodes of a trie, and how they travel.

Their number takes a byte. After it come as many bytes as they fill, the first bit the highest; the last of these bytes
holds the bits that are left as a number of its own.
"""

from __future__ import annotations

from typing import Annotated

from roambus.python_protocol.messages.bytes import DecodeError, Reader, Writer
from roambus.python_protocol.messages.fields import By
from roambus.python_protocol.messages.shapes import BitText

EMPTY = "ε"
"""How a transcript shows the text without bits, which the paper writes so, too."""


def write_bits(writer: Writer, bits: str) -> None:
    """Appends the number of bits, then as many bytes as they fill."""
    writer.u8(len(bits))
    for start in range(0, len(bits), 8):
        writer.u8(int(bits[start : start + 8], 2))


def read_bits(reader: Reader) -> str:
    """Reads what `write_bits` wrote; raises DecodeError for a byte that holds more bits than are left."""
    count = reader.u8()
    bits = ""
    while len(bits) < count:
        width = min(8, count - len(bits))
        value = reader.u8()
        if value >> width:
            raise DecodeError(f"{value} has more than {width} bits")
        bits += f"{value:0{width}b}"
    return bits


def show_bits(bits: str) -> str:
    """The bits, or the letter that stands for none."""
    return bits or EMPTY


Bits = Annotated[str, By(write_bits, read_bits, lambda bits, _: show_bits(bits), BitText())]
"""The label of a trie's node, or a prefix of such labels."""
