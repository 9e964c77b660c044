"""Files: input is read within limits, and results are complete or absent.

All formats take gzip, a byte order mark, any line ends, and comments. Results go to a hidden file, renamed once on
disk. Its name holds the process number: the next run removes it unless that process lives, or another machine holds its
lock. Results folders can be a stranger's: hidden links are not followed, and only regular files are replaced.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from roambus.bridge.system.errors import UserError

MOST_BYTES = 64 * 2**20
"""No hand-written or generated input is larger, unless by mistake."""

_PIECE_BYTES = 2**20

GZIP_MAGIC = b"\x1f\x8b"

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return text, plain or gzipped, without byte order mark, with line feeds alone.

    Raises UserError if not UTF-8 or too large; OSError.
    """
    content = read_bytes(path, most)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: this is not UTF-8 text ({error.reason}): save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path, comment: str = "#") -> Iterator[tuple[int, str]]:
    """Yield each non-empty line's number (from 1) and text without comments.

    Raises `read_text`'s errors.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if text := line.partition(comment)[0].strip():
            yield number, text


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; raise OSError, also for what is no regular file: a FIFO would wait for ever."""
    # Without waiting, for between a look at the name and the opening it could become a FIFO.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"this is {_kind(mode)} and no regular file", str(path))
    return open(descriptor, "rb")  # noqa: PTH123  # of a descriptor, which the caller closes


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return bytes, plain or gzipped; raise UserError if damaged or too large, OSError."""
    with open_regular(path) as file:
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
    """Return the file, cut somewhere beyond `most` bytes; raise OSError."""
    content = bytearray()
    # Piece by piece, for Python makes room for all that it may read.
    while len(content) <= most and (piece := file.read(_PIECE_BYTES)):
        content += piece
    return bytes(content)


def check_writable(text: str) -> None:
    """Raise ValueError for a lone surrogate, impossible in a UTF-8 file.

    Non-UTF-8 bytes on the command line and escapes in texts make some.
    """
    if found := _SURROGATE.search(text):
        raise ValueError(
            f"{found[0]!r} in {text[:40]!r} is half a character, or a byte that is not UTF-8: leave it out"
        )


class UnfinishedFile:
    """A hidden file until `finish` names it; the block's end discards it."""

    def __init__(self, path: Path) -> None:
        """Open it; raise OSError, or UserError if `path` is another kind of file."""
        check_replaceable(path)
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._unfinished.unlink(missing_ok=True)
        self.file = self._unfinished.open("xb")
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def finish(self) -> None:
        """Sync to disk, then rename into place; raise OSError."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self._unfinished.replace(self._path)

    def discard(self) -> None:
        """Remove the hidden file unless already renamed."""
        with suppress(OSError):  # what is still buffered may not fit on the disk
            self.file.close()
        self._unfinished.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.discard()


def remove_unfinished(path: Path) -> None:
    """Remove killed processes' hidden files of this name; raise OSError."""
    for hidden in path.parent.glob(f".{glob.escape(path.name)}.*"):
        process = hidden.suffix[1:]
        if process.isdecimal() and not _is_alive(int(process)) and not _is_locked(hidden):
            hidden.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Return whether any user's process has this number here."""
    try:
        os.kill(process, 0)
    except (OSError, OverflowError) as error:  # somebody else's process must not be asked
        return not isinstance(error, ProcessLookupError)
    return True


def _is_locked(path: Path) -> bool:
    """Return whether another machine still writes it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time into the block, if the file system has locks; raises OSError."""
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        with suppress(OSError):  # not every network's file system has them
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def check_replaceable(path: Path) -> None:
    """Raise UserError unless the name or its link's target is regular or absent; OSError if inaccessible."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise UserError(f"{path}: this is {_kind(mode)}: give the name of a regular file")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def user_cache() -> Path:
    """Return ~/.cache/roambus or XDG_CACHE_HOME's, existing or not."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roambus"
