"""Reads the lines of a movement file, plain or gzipped, within limits on how large it may be."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from roambus.bridge.errors import UserError

MAX_BYTES = 64 * 2**20
"""A whole file may have so many characters when it is unpacked, which are some two million way-points."""
MAX_LINE_BYTES = 8 * 2**20
"""A line may have so many characters, for BonnMotion has the whole way of a node in one line."""

_GZIP_MAGIC = b"\x1f\x8b"


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The number of each line, from 1 on, and its text without a comment (#); raises UserError, OSError.

    Only one line of the file is in memory at a time.
    """
    left = MAX_BYTES
    with _opened(path) as file, _told(path):
        for number, raw in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
            left -= len(raw)
            if len(raw) > MAX_LINE_BYTES:
                raise UserError(f"{path}:{number}: the line is longer than {MAX_LINE_BYTES >> 20} MiB")
            if left < 0:
                raise UserError(
                    f"{path}:{number}: the file is larger than {MAX_BYTES >> 20} MiB: cut it to what is used"
                )
            yield number, _text(path, number, raw)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    with path.open("rb") as file:
        packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        file.seek(0)
        if packed:
            with gzip.open(file) as unpacked:
                yield unpacked
        else:
            yield file


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: its gzip is damaged ({error}): make the file again") from None


def _text(path: Path, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8").partition("#")[0].strip()
    except UnicodeDecodeError:
        raise UserError(f"{path}:{number}: this is no text") from None
