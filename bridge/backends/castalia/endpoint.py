"""The host's address for a simulator, and its access control.

A simulator on this machine uses a Unix socket in a private folder. One on another machine uses TCP, open to all users,
with CURVE keys made for the run. Both must send the run's token, so that a leftover socket of another run does not
reach the wrong host.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

import zmq

from roambus.bridge.errors import UserError
from roambus.bridge.process import BRIDGE, private_folder

SOCKET = "bridge"
Transport = Literal["zeromq", "local"]
SCHEMES: dict[Transport, str] = {"zeromq": "ipc://", "local": "unix://"}
"""The beginning of a private socket's address."""
LONGEST_TEMPORARY = 70
"""A Unix socket's path holds 107 bytes, up to 30 for our names."""


@dataclass(frozen=True, slots=True)
class CurveKeys:
    """Both sides' keys in Z85, made for one run."""

    server_public: str
    server_secret: str
    client_public: str
    client_secret: str

    @classmethod
    def fresh(cls) -> CurveKeys:
        """New key pairs for both sides of a run's connection."""
        (server_public, server_secret), (client_public, client_secret) = zmq.curve_keypair(), zmq.curve_keypair()
        return cls(*(key.decode() for key in (server_public, server_secret, client_public, client_secret)))


@dataclass(slots=True)
class Endpoint:
    """An address with access; the context manager cleans up."""

    address: str
    keys: CurveKeys | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    folder: Path | None = None
    resources: ExitStack = field(default_factory=ExitStack)
    """It removes the folder."""

    @classmethod
    def private(cls, transport: Transport = "zeromq") -> Endpoint:
        """Return a socket in a new folder that only the user can enter."""
        temporary = tempfile.gettempdir()
        if len(os.fsencode(temporary)) > LONGEST_TEMPORARY:
            # A temporary folder of the user's own can have a path that is too long to bind a socket below it.
            temporary = "/tmp"  # noqa: S108  # mkdtemp follows
        resources = ExitStack()
        folder = resources.enter_context(private_folder(BRIDGE, Path(temporary)))
        return cls(f"{SCHEMES[transport]}{folder / SOCKET}", folder=folder, resources=resources)

    @property
    def path(self) -> str:
        """Return a Unix socket's file."""
        return self.address.partition("://")[2]

    @classmethod
    def tcp(cls, address: str) -> Endpoint:
        """Return `tcp://HOST:PORT` with CURVE against other users; raise UserError."""
        parts = urlsplit(address)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if parts.scheme != "tcp" or host is None or port is None or parts.path:
            raise UserError(f"--endpoint {address}: write tcp://ADDRESS:PORT")
        try:
            parsed = ipaddress.ip_address(host)
        except ValueError:
            raise UserError(f"--endpoint {address}: write an address of this machine in numbers, not a name") from None
        if parsed.is_unspecified:
            raise UserError(f"--endpoint {address}: write the address at which the simulator reaches this machine")
        return cls(address, CurveKeys.fresh())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.resources.close()
