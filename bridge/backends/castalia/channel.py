"""What carries the messages to a simulator and back, and the choice of it by the endpoint's address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from roambus.bridge.backends.castalia.connection import Connection
from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.backends.castalia.local import LocalConnection
from roambus.bridge.wire.wire_pb2 import ToSimulator


class Channel(Protocol):
    """Is bound at once; `receive` and `send` speak with the one peer that said Hello with the run's token."""

    token: str

    def receive_hello(self, within_s: float) -> bytes:
        """The first message of a peer with the run's token, whatever strangers say before; raises BackendError."""

    def receive(self) -> bytes:
        """The peer's next message; raises BackendError when it is gone, frozen, or silent beyond the deadline."""

    def send(self, message: ToSimulator) -> None:
        """Hands a message to the peer's connection; raises BackendError if that is lost."""

    def wait_until_left(self, within_s: float) -> None:
        """Waits until the peer has closed its end, so that it has read what was said last, but not longer than told."""

    def close(self) -> None:
        """Ends the connection; what was sent last still goes out, if the peer takes it at once."""


def listen(endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> Channel:
    """Listens at the endpoint; `ended` says how the simulator ended. Raises UserError if the address cannot be had."""
    kind = LocalConnection if endpoint.is_local else Connection
    return kind(endpoint, deadline_s, ended)
