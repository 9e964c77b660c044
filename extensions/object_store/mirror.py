"""Mirrors results on an object store (`s3://bucket/thesis`) on this machine.

An object is put whole or not at all, so runs are made and read in a local folder. New objects are fetched when a
command begins; a run is published when it ends, all else when the command ends. A trace completes a run, so it is
published last, and a rerun's old trace is removed first. A published file has the same size and time on both sides.
Names that lead out of the mirror are ignored. Arrow's file systems find credentials; they are never in an address.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pyarrow import ArrowException
from pyarrow.fs import FileInfo, FileSelector, FileSystem, FileType

from roambus.bridge.backend import BackendFactory
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.system.errors import RoambusError, UserError
from roambus.bridge.system.files import UnfinishedFile
from roambus.experiments.sweeps.runner import BEGUN, Executor

SCHEMES = ("s3", "gs", "abfs", "hdfs")
MIRRORS = "mirrors"
MOST_OBJECTS = 1_000_000
"""More files than any sweep leaves."""
_CONNECTIONS = 8
"""Concurrent transfers: most of the time is waiting for the store."""


@dataclass(frozen=True, slots=True)
class Address:
    """A folder on a store; `url` has no trailing slash."""

    url: str
    files: FileSystem
    path: str

    @classmethod
    def read(cls, text: str) -> Address:
        """Parse an address; raise UserError for an invalid one or an unknown store."""
        url = text.rstrip("/")
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise UserError(f"{url}: {error}") from None
        if parts.scheme not in SCHEMES:
            raise UserError(f"{text}: results can lie in a folder or on a store: {'://, '.join(SCHEMES)}://")
        if parts.password or parts.username:
            raise UserError(f"{parts.scheme}://...: leave credentials out: they come from the environment")
        if not parts.netloc or not parts.path.strip("/"):
            raise UserError(f"{text}: name a bucket and a folder in it, such as {parts.scheme}://bucket/thesis")
        try:
            files, path = FileSystem.from_uri(url)
        except (ArrowException, OSError, ValueError) as error:
            raise UserError(f"{text}: {_first_line(error)}") from None
        return cls(url, files, path.rstrip("/"))

    @property
    def mirror(self) -> Path:
        """The mirror's folder in the user's cache."""
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        # Two servers can have buckets of one name, and only the environment says which server it is.
        known = f"{os.environ.get('AWS_ENDPOINT_URL', '')} {self.url}"
        name = f"{self.path.rpartition('/')[2]}-{sha256(known.encode()).hexdigest()[:16]}"
        return caches / "roambus" / MIRRORS / name


class StorageError(RoambusError):
    """The store cannot be reached, or refuses a request."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file by its name below an address; `modified_ns` is by the store's clock."""

    name: PurePosixPath
    size: int
    modified_ns: int


def listed(address: Address) -> dict[PurePosixPath, Stored]:
    """Return the files at an address, if any; raise StorageError, UserError."""
    selector = FileSelector(address.path, allow_not_found=True, recursive=True)
    with _storage_errors(address):
        found = [info for info in address.files.get_file_info(selector) if info.type == FileType.File]
    if len(found) > MOST_OBJECTS:
        raise UserError(f"{address.url} has more than {MOST_OBJECTS} files: these are not results")
    return {stored.name: stored for info in found if (stored := _stored(address, info)) is not None}


def _stored(address: Address, info: FileInfo) -> Stored | None:
    """Return the file unless its untrusted name is hidden or leads out of the mirror."""
    parts = info.path[len(address.path) :].strip("/").split("/")
    if any(part in {"", ".", ".."} or part.startswith(".") or "\0" in part or len(part) > 255 for part in parts):
        return None
    return Stored(PurePosixPath(*parts), int(info.size), int(info.mtime_ns))


def get(address: Address, stored: Stored, file: Path) -> None:
    """Fetch a file, whole or absent even after a kill; raise StorageError, OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with UnfinishedFile(file) as unfinished:
        with _storage_errors(address), address.files.open_input_stream(f"{address.path}/{stored.name}") as stream:
            shutil.copyfileobj(stream, unfinished.file)
        unfinished.finish()


def put(address: Address, name: PurePosixPath, file: Path) -> Stored:
    """Publish a file in one step, whole or not at all; raise StorageError, OSError."""
    path = f"{address.path}/{name}"
    content = file.read_bytes()
    with _storage_errors(address), _whole(address, path):
        with address.files.open_output_stream(path) as stream:
            stream.write(content)
        (info,) = address.files.get_file_info([path])
    if info.size != len(content):
        raise StorageError(f"{address.url}/{name}: the store has {info.size} of {len(content)} bytes")
    return Stored(name, int(info.size), int(info.mtime_ns))


@contextmanager
def _whole(address: Address, path: str) -> Iterator[None]:
    """Remove a failed upload's remains: closing its stream could publish a partial object."""
    try:
        yield
    except BaseException:
        with suppress(ArrowException, OSError):
            address.files.delete_file(path)
        raise


def remove(address: Address, name: PurePosixPath) -> None:
    """Remove a file; raise StorageError."""
    with _storage_errors(address):
        address.files.delete_file(f"{address.path}/{name}")


@contextmanager
def _storage_errors(address: Address) -> Iterator[None]:
    try:
        yield
    except (ArrowException, OSError) as error:
        raise StorageError(f"{address.url}: {' '.join(_first_line(error).split())}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _at_once(do: Callable[[Any], None], these: Iterable[Any]) -> None:
    """Call it for each, some concurrently; raise any error of theirs."""
    with ThreadPoolExecutor(_CONNECTIONS) as connections:
        list(connections.map(do, these))


class Mirror:
    """The local folder of an address; call `fetch` first."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.folder = address.mirror
        self._stored: dict[PurePosixPath, Stored] = {}

    @property
    def url(self) -> str:
        """The address."""
        return self.address.url

    def fetch(self) -> int:
        """Fetch new and changed files; return how many. Raise StorageError, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._stored = listed(self.address)
        wanted = [stored for stored in self._stored.values() if self._is_older(stored)]
        _at_once(self._fetch, wanted)
        return len(wanted)

    def publish(self, below: Path | None = None) -> int:
        """Publish new and changed files of the mirror, or of a run's folder; return how many.

        Remove an earlier attempt's files at the address. Raise StorageError, OSError.
        """
        names = list(self._names(self.folder if below is None else below))
        if below is not None:
            place = PurePosixPath(below.relative_to(self.folder))
            self._withdraw([name for name in self._stored if name.is_relative_to(place) and name not in names])
        stats = {name: (self.folder / name).stat() for name in names}
        known = {name: (stored.size, stored.modified_ns) for name, stored in self._stored.items()}
        changed = [name for name, own in stats.items() if known.get(name) != (own.st_size, own.st_mtime_ns)]
        traces = [name for name in changed if name.name == TRACE_FILE]
        self._withdraw([name for name in traces if name in self._stored])
        _at_once(self._publish, [name for name in changed if name.name != TRACE_FILE])
        _at_once(self._publish, traces)
        return len(changed)

    def _withdraw(self, names: Iterable[PurePosixPath]) -> None:
        for name in names:
            remove(self.address, name)
            del self._stored[name]

    def _names(self, folder: Path) -> Iterator[PurePosixPath]:
        for path, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            place = Path(path).relative_to(self.folder)
            yield from (PurePosixPath(place, name) for name in sorted(files) if not name.startswith("."))

    def _is_older(self, stored: Stored) -> bool:
        try:
            own = (self.folder / stored.name).stat()
        except FileNotFoundError:
            return True
        # A file of the mirror that is newer was made here, and is published later: it is not overwritten.
        newer_ns = own.st_mtime_ns - stored.modified_ns
        return newer_ns < 0 or (newer_ns == 0 and own.st_size != stored.size)

    def _fetch(self, stored: Stored) -> None:
        get(self.address, stored, self.folder / stored.name)
        self._date(stored)

    def _publish(self, name: PurePosixPath) -> None:
        stored = put(self.address, name, self.folder / name)
        self._stored[name] = stored
        self._date(stored)

    def publishing(self, executor: Executor) -> PublishingExecutor:
        """Return the executor; it publishes each run as it ends."""
        return PublishingExecutor(executor, self)

    def _date(self, stored: Stored) -> None:
        """Give the mirror's file the address's time, which marks both as equal."""
        os.utime(self.folder / stored.name, ns=(stored.modified_ns, stored.modified_ns))


@dataclass(frozen=True, slots=True)
class PublishingExecutor:
    """Another executor, and the store for its runs."""

    executor: Executor
    store: Mirror

    @property
    def at_once(self) -> int:
        """As many as the other executor makes."""
        return self.executor.at_once

    def run(
        self, plans: Sequence[RunPlan], backend: BackendFactory, workspace: Path
    ) -> Generator[tuple[int, str | None]]:
        """Yield number and error of each published run; raises StorageError and the executor's errors."""
        self.store.publish()  # what the sweep is, and runs that a broken connection has left here
        with closing(self.executor.run(plans, backend, workspace)) as ended:
            for number, error in ended:
                if number != BEGUN[0]:
                    self.store.publish(plans[number].folder)
                yield number, error


def open_mirror(text: str) -> Mirror:
    """Return the mirror of an address; raises UserError."""
    return Mirror(Address.read(text))
