"""The address of results on an object store, such as `s3://bucket/thesis`.

Arrow's file systems are used, which come with it: S3 and whatever speaks it, Google Cloud Storage, Azure and HDFS.
Credentials are found where the store's own programs look for them, such as in AWS_ACCESS_KEY_ID or ~/.aws; they are
never a part of an address.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from pyarrow import ArrowException
from pyarrow.fs import FileSystem

from roambus.bridge.errors import UserError

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")
SCHEMES = ("s3", "gs", "abfs", "hdfs")
MIRRORS = "mirrors"


def is_address(text: str) -> bool:
    """Whether this names a place on an object store, and no folder."""
    return _ADDRESS.match(text) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """A folder on a store; `url` has no slash at its end."""

    url: str
    files: FileSystem
    path: str

    @classmethod
    def read(cls, text: str) -> Address:
        """The address that a text is; raises UserError for one that is none, or of a store that nobody here knows."""
        url = text.rstrip("/")
        parts = _parts(url)
        if parts.scheme not in SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise UserError(f"{text}: results can lie in a folder or on a store: {known}")
        if parts.password or parts.username:
            raise UserError(f"{parts.scheme}://...: leave credentials out: they are taken from the environment")
        if not parts.netloc or not parts.path.strip("/"):
            raise UserError(f"{text}: name a bucket and a folder in it, such as {parts.scheme}://bucket/thesis")
        try:
            files, path = FileSystem.from_uri(url)
        except (ArrowException, OSError, ValueError) as error:
            raise UserError(f"{text}: {_first_line(error)}") from None
        return cls(url, files, path.rstrip("/"))

    @property
    def mirror(self) -> Path:
        """The folder in the user's cache in which the mirror lies."""
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        known = f"{os.environ.get('AWS_ENDPOINT_URL', '')} {self.url}"
        name = f"{self.path.rpartition('/')[2]}-{sha256(known.encode()).hexdigest()[:16]}"
        return caches / "roambus" / MIRRORS / name


def _parts(url: str) -> _Parts:
    try:
        parts = urlsplit(url)
        return _Parts(parts.scheme, parts.netloc, parts.path, parts.username, parts.password)
    except ValueError as error:
        raise UserError(f"{url}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Parts:
    scheme: str
    netloc: str
    path: str
    username: str | None
    password: str | None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
