"""Frames of IEEE 802.15.4 with the TAP header, in which a capture carries the messages of agents.

Agents hand over messages, and the model of the radio counts bytes for headers without filling them. The header here is
that of a data frame with short addresses, which has the nine bytes that the model counts for the MAC. The ten bytes
that it counts for the network have no content, and are left out. The PAN is that of the agent's name, by which a
dissector knows whose messages it sees.
"""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from zlib import crc32

from roambus.python_protocol.roles import NodeId

CHANNEL = 11
"""The model has one channel, at 2400 MHz. This is the channel of the standard that is nearest to it, at 2405 MHz."""

_DATA_FRAME = 0x8841
"""A data frame with short addresses, both in one PAN, without security and without a request for acknowledgement."""
_MAC = Struct("<HBHHH")
_TAP = Struct("<BBH")
_TLV = Struct("<HH")
_U8, _F32, _ASSIGNMENT = Struct("<Bxxx"), Struct("<f"), Struct("<HBx")
_FCS_TYPE, _RSS, _CHANNEL_ASSIGNMENT = 0, 1, 3
_NO_FCS = 0
_GREATEST_PAN = 0xFFFE


def agent_name(reference: str) -> str:
    """What an agent is called in captures: its name, or that of its file or class, wherever it lies."""
    file, _, class_name = reference.rpartition(":") if ":" in reference else (reference, "", "")
    if file.endswith(".py") and not class_name:
        return Path(file).stem
    return class_name or reference


def pan_of(name: str) -> int:
    """The PAN in which the frames of this agent travel."""
    return crc32(name.encode()) % _GREATEST_PAN + 1


def frame(pan: int, sequence: int, sender: NodeId, destination: NodeId, message: bytes) -> bytes:
    """A data frame; the address of broadcast is that of the standard. `sequence` is taken modulo 256."""
    return _MAC.pack(_DATA_FRAME, sequence % 256, pan, destination, sender) + message


def tapped(data: bytes, rssi_dbm: float | None) -> bytes:
    """The frame with what the radio knows of it; `rssi_dbm` is None where nothing was measured."""
    fields = [_TLV.pack(_FCS_TYPE, 1) + _U8.pack(_NO_FCS)]
    if rssi_dbm is not None:
        fields.append(_TLV.pack(_RSS, 4) + _F32.pack(rssi_dbm))
    fields.append(_TLV.pack(_CHANNEL_ASSIGNMENT, 3) + _ASSIGNMENT.pack(CHANNEL, 0))
    head = b"".join(fields)
    return _TAP.pack(0, 0, _TAP.size + len(head)) + head + data
