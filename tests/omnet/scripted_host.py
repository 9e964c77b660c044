"""A host that says what a test wants it to; the real one has no such freedom."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import zmq

from roambus.bridge.backends.castalia.zeromq import CurveKeys
from roambus.bridge.wire.wire_pb2 import FromSimulator, ToSimulator, Welcome

PATIENCE_MS = 20_000
"""No wait of a test lasts longer."""
TOKEN = "0123456789abcdef" * 2


class ScriptedHost:
    """A ROUTER on a private ipc endpoint, or on a port of this machine with keys."""

    def __init__(self, keys: CurveKeys | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="roambus-test-"))  # the paths of ipc sockets must be short
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.RCVTIMEO, PATIENCE_MS)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._peer = b""
        self.endpoint = f"ipc://{self.folder / 'socket'}"
        if keys is not None:
            self._socket.curve_server = True
            self._socket.curve_secretkey = keys.server_secret.encode()
            self._socket.curve_publickey = keys.server_public.encode()
            self.endpoint = "tcp://127.0.0.1:*"
        self._socket.bind(self.endpoint)
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def hear(self) -> FromSimulator:
        """The simulator's next message."""
        self._peer, message = self._socket.recv_multipart()
        return FromSimulator.FromString(message)

    def hear_bytes(self) -> bytes:
        """The same, whatever it is."""
        return self._socket.recv_multipart()[1]

    def say(self, answer: ToSimulator | bytes) -> None:
        """Answers whom was heard last."""
        frame = answer if isinstance(answer, bytes) else answer.SerializeToString()
        self._socket.send_multipart([self._peer, frame])

    def hear_and_reply(self, answer: ToSimulator) -> FromSimulator:
        """Hears a message and answers it; returns what was heard."""
        heard = self.hear()
        self.say(answer)
        return heard

    def welcome(self, wake_up: int | None = 0) -> FromSimulator:
        """Hears Hello, welcomes, and returns what the simulator says next."""
        self.hear()
        self.say(ToSimulator(welcome=Welcome(wake_up=wake_up, batching=True)))
        return self.hear()

    def close(self) -> None:
        """Ends the connection; once is enough."""
        self._socket.close()
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


HOST_PROCESS = """
import sys, time, zmq
from roambus.bridge.wire.wire_pb2 import ToSimulator, Welcome
socket = zmq.Context().socket(zmq.ROUTER)
socket.bind(sys.argv[1])
print("bound", flush=True)
peer, _ = socket.recv_multipart()
socket.send_multipart([peer, ToSimulator(welcome=Welcome(wake_up=0)).SerializeToString()])
socket.recv_multipart()
print("stepped", flush=True)
time.sleep(60)
"""


def start_host_process(endpoint: str) -> subprocess.Popen[str]:
    """A host in a process of its own, to be killed or frozen: it welcomes a simulator, and never answers its Step."""
    process = subprocess.Popen([sys.executable, "-c", HOST_PROCESS, endpoint], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "bound\n"
    return process
