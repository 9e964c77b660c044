"""Files: input is read within limits, and results are complete or absent.

Every user text is read here: all formats take gzip, a byte order mark, any line ends, and comments. Results go to a
hidden file that takes its final name in one step once all bytes are on disk. The hidden name holds the process number:
the next run removes it unless that process lives, or another machine holds its lock. A results folder can be a
stranger's: hidden links are never followed, and only regular files are replaced.
"""

from __future__ import annotations

import fcntl
import glob
import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from roambus.bridge.errors import UserError

MOST_BYTES = 64 * 2**20
"""No text that somebody writes, or has written for a run, is so large; a file that is, was given by mistake."""

_PIECE_BYTES = 2**20

GZIP_MAGIC = b"\x1f\x8b"

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return a file's text, plain or gzipped, without byte order mark and with line feeds alone.

    Raises UserError if it is not UTF-8 or too large; OSError.
    """
    content = read_bytes(path, most)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: this is not UTF-8 text ({error.reason}): save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path, comment: str = "#") -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and comment-free text of each line that has one.

    Raises the errors of `read_text`.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if text := line.partition(comment)[0].strip():
            yield number, text


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a file's bytes, plain or gzipped; raise UserError if damaged or too large, OSError."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        try:
            content = read_bounded(gzip.GzipFile(fileobj=file) if packed else file, most)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UserError(f"{path}: its gzip is damaged ({error}): make the file again") from None
    if len(content) > most:
        raise UserError(f"{path}: this is larger than {most >> 20} MiB, the most that roambus reads: cut it")
    return content


def read_bounded(file: BinaryIO | gzip.GzipFile, most: int) -> bytes:
    """Return all of the file, or more than `most` bytes of a longer one; raise OSError."""
    content = bytearray()
    # Piece by piece, for Python makes room for all that it may read.
    while len(content) <= most and (piece := file.read(_PIECE_BYTES)):
        content += piece
    return bytes(content)


def check_writable(text: str) -> None:
    """Raise ValueError for a lone surrogate, which no UTF-8 file can hold.

    Python makes one of a non-UTF-8 byte on the command line, or of an escape in a text.
    """
    if found := _SURROGATE.search(text):
        raise ValueError(
            f"{found[0]!r} in {text[:40]!r} is half a character, or a byte that is not UTF-8: leave it out"
        )


class UnfinishedFile:
    """A hidden temporary file until `finish` names it; the block's end discards it."""

    def __init__(self, path: Path) -> None:
        """Open the hidden file; raise OSError, or UserError if `path` is no file."""
        check_replaceable(path)
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._unfinished.unlink(missing_ok=True)
        self.file = self._unfinished.open("xb")
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def finish(self) -> None:
        """Sync everything to disk, then rename the file into place; raise OSError."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self._unfinished.replace(self._path)

    def discard(self) -> None:
        """Removes the hidden file, unless it has its name already."""
        with suppress(OSError):  # what is still buffered may not fit on the disk
            self.file.close()
        self._unfinished.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.discard()


def remove_unfinished(path: Path) -> None:
    """Remove this file's hidden files of killed processes; raise OSError."""
    for hidden in path.parent.glob(f".{glob.escape(path.name)}.*"):
        process = hidden.suffix[1:]
        if process.isdecimal() and not _is_alive(int(process)) and not _is_locked(hidden):
            hidden.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Return whether any user's process on this machine has this number."""
    try:
        os.kill(process, 0)
    except (OSError, OverflowError) as error:  # somebody else's process must not be asked
        return not isinstance(error, ProcessLookupError)
    return True


def _is_locked(path: Path) -> bool:
    """Whether a process of another machine still writes it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def check_replaceable(path: Path) -> None:
    """Raise UserError if the name, or its link's target, is not a regular file; OSError if unreadable."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
        raise UserError(f"{path}: this is {kinds.get(stat.S_IFMT(mode), 'a device')}: give the name of a regular file")


def user_cache() -> Path:
    """Return ~/.cache/roambus or its place in XDG_CACHE_HOME, existing or not."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roambus"
