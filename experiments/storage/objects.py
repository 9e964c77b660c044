"""Lists, gets and puts the files of results at an address, and tells what went wrong in one line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyarrow import ArrowException
from pyarrow.fs import FileInfo, FileSelector, FileType

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.unfinished_file import UnfinishedFile
from roambus.experiments.storage.address import Address

MOST_OBJECTS = 1_000_000
"""Results of more files are none of a sweep's."""


class StorageError(RoambusError):
    """The store cannot be reached, or refuses what it is asked for."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file at an address, below which it has this name; `modified_ns` is the time by the store's clock."""

    name: PurePosixPath
    size: int
    modified_ns: int


def listed(address: Address) -> dict[PurePosixPath, Stored]:
    """The files at an address; none if there is nothing there. Raises StorageError, UserError."""
    selector = FileSelector(address.path, allow_not_found=True, recursive=True)
    with _told(address):
        found = [one for one in address.files.get_file_info(selector) if one.type == FileType.File]
    if len(found) > MOST_OBJECTS:
        raise UserError(f"{address.url} has more than {MOST_OBJECTS} files: it is no results")
    stored = (_stored(address, one) for one in found)
    return {one.name: one for one in stored if one is not None}


def _stored(address: Address, info: FileInfo) -> Stored | None:
    """The file, unless its name would lead out of the mirror or is hidden: somebody else may have chosen it."""
    name = info.path[len(address.path) :].strip("/")
    parts = name.split("/")
    if any(part in {"", ".", ".."} or part.startswith(".") or "\0" in part or len(part) > 255 for part in parts):
        return None
    return Stored(PurePosixPath(*parts), int(info.size), int(info.mtime_ns))


def get(address: Address, stored: Stored, file: Path) -> None:
    """Fetches a file, which is whole or absent after a kill at any moment; raises StorageError, OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with UnfinishedFile(file) as unfinished:
        with _told(address), address.files.open_input_stream(f"{address.path}/{stored.name}") as stream:
            shutil.copyfileobj(stream, unfinished.file)
        unfinished.finish()


def put(address: Address, name: PurePosixPath, file: Path) -> Stored:
    """Publishes a file in one step: the store has it whole or not at all. Raises StorageError, OSError."""
    path = f"{address.path}/{name}"
    content = file.read_bytes()
    with _told(address), _whole(address, path):
        with address.files.open_output_stream(path) as stream:
            stream.write(content)
        (info,) = address.files.get_file_info([path])
    if info.size != len(content):
        raise StorageError(f"{address.url}/{name}: the store has {info.size} of {len(content)} bytes")
    return Stored(name, int(info.size), int(info.mtime_ns))


@contextmanager
def _whole(address: Address, path: str) -> Iterator[None]:
    """Removes what an upload that fails may have left: to close its stream could make half an object of it."""
    try:
        yield
    except BaseException:
        with suppress(ArrowException, OSError):
            address.files.delete_file(path)
        raise


def remove(address: Address, name: PurePosixPath) -> None:
    """Removes a file; raises StorageError."""
    with _told(address):
        address.files.delete_file(f"{address.path}/{name}")


@contextmanager
def _told(address: Address) -> Iterator[None]:
    try:
        yield
    except (ArrowException, OSError) as error:
        problem = " ".join(str(error).partition("\n")[0].split())
        raise StorageError(f"{address.url}: {problem}") from None
