"""The address where the host listens: a private ipc socket, or TCP with keys of its own for every run."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import zmq

from roambus.bridge.errors import UserError

SOCKET = "bridge"
PREFIX = "roambus-bridge-"
"""The folders of hosts begin with this; those that are abandoned are removed."""
LONGEST_TEMPORARY = 70
"""A Unix socket's path has room for 107 bytes, of which our own names take up to 30."""
BEING_MADE_S = 10.0
"""A folder this young may not be locked yet."""


@dataclass(frozen=True, slots=True)
class CurveKeys:
    """The keys of both sides in Z85, which are made for one run, so that nobody has to keep them."""

    server_public: str
    server_secret: str
    client_public: str
    client_secret: str

    @classmethod
    def fresh(cls) -> CurveKeys:
        """Makes new keys."""
        (server_public, server_secret), (client_public, client_secret) = zmq.curve_keypair(), zmq.curve_keypair()
        return cls(*(key.decode() for key in (server_public, server_secret, client_public, client_secret)))


@dataclass(slots=True)
class Endpoint:
    """An address and who may use it. As a context manager it leaves nothing behind."""

    address: str
    keys: CurveKeys | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    folder: Path | None = None
    lock: int | None = None
    """A file descriptor by which the folder is locked as long as its host lives."""

    @classmethod
    def private(cls) -> Endpoint:
        """An ipc socket in a new folder that only the user can enter."""
        parent = _temporary()
        _remove_abandoned(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(folder, os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(f"ipc://{folder / SOCKET}", folder=folder, lock=lock)

    @classmethod
    def tcp(cls, address: str) -> Endpoint:
        """The address `tcp://HOST:PORT`, with CURVE, for every user of a machine reaches it; raises UserError."""
        parts = urlsplit(address)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if parts.scheme != "tcp" or host is None or port is None or parts.path:
            raise UserError(f"--endpoint {address}: write tcp://ADDRESS:PORT")
        _check_host(address, host)
        return cls(address, CurveKeys.fresh())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)


def _temporary() -> Path:
    """The user's folder for temporary files, or the system's if a socket's path there would be too long."""
    chosen = tempfile.gettempdir()
    return Path(chosen if len(os.fsencode(chosen)) <= LONGEST_TEMPORARY else "/tmp")  # noqa: S108  # mkdtemp follows


def _remove_abandoned(parent: Path) -> None:
    """Removes folders of hosts that were killed together with their simulators, for nobody else could."""
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # another user's, or gone by now
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(lock).st_mtime > BEING_MADE_S:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its host lives
            continue
        finally:
            os.close(lock)


def _check_host(address: str, host: str) -> None:
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        raise UserError(f"--endpoint {address}: write an address of this machine in numbers, not a name") from None
    if parsed.is_unspecified:
        raise UserError(f"--endpoint {address}: write the address at which the simulator reaches this machine")
