"""Messages on a stream of bytes: each follows its length, four bytes with the lowest first."""

from __future__ import annotations

from roambus.bridge.errors import ProtocolError

LENGTH_BYTES = 4


def framed(message: bytes) -> bytes:
    """The message behind its length."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


class FrameReader:
    """Takes whole messages out of the bytes that have come."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        """No message may be longer."""
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Takes what has come."""
        self._bytes += data

    def take(self) -> bytes | None:
        """The next message, or None if it is not whole yet; raises ProtocolError for one that would be too long."""
        data = self._bytes
        if len(data) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        if end - LENGTH_BYTES > self.most_bytes:
            raise ProtocolError(f"a message of {end - LENGTH_BYTES} bytes: at most {self.most_bytes} are allowed")
        if len(data) < end:
            return None
        message = bytes(data[LENGTH_BYTES:end])
        del data[:end]
        return message
