"""With CURVE only the run's own simulator may connect, and nobody on the way can read along or change anything.

libzmq asks about each client that has proved to have the secret of its key, by the protocol ZAP (ZeroMQ's RFC 27).
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import zmq
from zmq.utils import z85

from roambus.bridge.backends.castalia.endpoint import CurveKeys

ZAP = "inproc://zeromq.zap.01"
WELCOME, REFUSED = (b"200", b"the run's simulator"), (b"400", b"another's key")


class Admission:
    """Answers libzmq's questions: the one key is welcome that was made for the run's simulator."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: CurveKeys) -> None:
        self.questions = context.socket(zmq.REP)
        self.questions.bind(ZAP)
        self._key = z85.decode(keys.client_public)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.questions.close()

    def answer(self) -> None:
        """Answers a question that is there."""
        version, request, *_, key = self.questions.recv_multipart()
        status, text = WELCOME if key == self._key else REFUSED
        self.questions.send_multipart([version, request, status, text, b"", b""])


def require_keys(socket: zmq.Socket[bytes], keys: CurveKeys) -> None:
    """Makes `socket` a CURVE server."""
    socket.curve_secretkey = keys.server_secret.encode()
    socket.curve_publickey = keys.server_public.encode()
    socket.curve_server = True
