"""Files that are whole or not there at all, whatever happens while they are written.

The bytes go to a hidden file beside the one that is wanted. Only when all of them are on the disk does that file take
its own name, which happens in one step; a run that is killed leaves the hidden file, and the next run removes it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class UnfinishedFile:
    """A file under a hidden temporary name until `finish` gives it its own; the end of the block discards it."""

    def __init__(self, path: Path) -> None:
        """Opens the hidden file; raises OSError."""
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self.file = self._unfinished.open("wb")

    def finish(self) -> None:
        """Puts everything on disk, then the file in its place; raises OSError."""
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
