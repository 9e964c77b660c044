"""The folder in which a search is kept: a file for each of its processes, and one that says which files count.

Files are named by how often the search was kept. What counts changes in one step, when `kept.json` gets its name: a
search that is killed at any moment goes on from the last time that all its processes had written theirs.
"""

from __future__ import annotations

import json
from pathlib import Path

from roambus.bridge.errors import UserError
from roambus.bridge.texts import read_text
from roambus.bridge.unfinished_file import UnfinishedFile, remove_unfinished

_NAME = "kept.json"


class Keeper:
    """Knows the files of one search by so many processes."""

    def __init__(self, folder: Path, jobs: int = 1) -> None:
        """Looks what is there already; raises UserError if that was kept by another number of processes, OSError."""
        self._folder = folder
        self._jobs = jobs
        self._count = self._read()

    @property
    def is_kept(self) -> bool:
        """Whether there is something to go on from."""
        return self._count > 0

    def kept(self, process: int = 0) -> Path:
        """The file from which that process goes on."""
        return self._path(self._count, process)

    def next(self, process: int = 0) -> Path:
        """The file into which that process writes next."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._path(self._count + 1, process)

    def advance(self) -> None:
        """Has the files that were written last count, for a process that does not say so itself."""
        self._count += 1

    def commit(self) -> None:
        """Says that the files that were written last count, and removes those before; raises UserError, OSError."""
        self.advance()
        with UnfinishedFile(self._folder / _NAME) as unfinished:
            unfinished.file.write(json.dumps({"kept": self._count, "jobs": self._jobs}).encode())
            unfinished.finish()
        for process in range(self._jobs):
            self._path(self._count - 1, process).unlink(missing_ok=True)
            remove_unfinished(self._path(self._count - 1, process))

    def _path(self, count: int, process: int) -> Path:
        return self._folder / f"search-{count}.{process}"

    def _read(self) -> int:
        path = self._folder / _NAME
        if not path.exists():
            return 0
        try:
            found = json.loads(read_text(path))
            count, jobs = int(found["kept"]), int(found["jobs"])
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path}: this does not say what was kept of a search; remove the folder") from None
        if jobs != self._jobs:
            raise UserError(f"{path}: this was kept of a search by {jobs} processes, and not by {self._jobs}")
        return count
