"""The mirror of results that lie on a store: a folder of this machine in which everything is done.

What is at the address is fetched when a command begins, and what is new or changed in the mirror is published as soon
as it is whole: a run when it ends, everything else when the command ends. The trace of a run is published last, for it
is what makes a run complete; a run that is made again loses its old trace at the address first. So whoever looks at the
address at any moment, and after a kill at any moment, finds complete runs alone.

A published file has the same size and time on both sides, by which a change is known. Nothing at the address is removed
but what an earlier attempt at a run has left. Two sweeps at one time may share an address if they make different runs
of one description, as the tasks of a job array do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from roambus.bridge.runs.layout import TRACE_FILE
from roambus.experiments.storage.address import Address
from roambus.experiments.storage.objects import Stored, get, listed, put, remove

_CONNECTIONS = 8
"""How many files are on their way at once: what takes the time is waiting for the store."""


class Mirror:
    """The folder of this machine that stands for an address; `fetch` comes first."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.folder = address.mirror
        self._stored: dict[PurePosixPath, Stored] = {}

    def fetch(self) -> int:
        """Fetches what is new or has changed at the address; returns how many files. Raises StorageError, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._stored = listed(self.address)
        wanted = [one for one in self._stored.values() if self._is_older(one)]
        with ThreadPoolExecutor(_CONNECTIONS) as connections:
            list(connections.map(self._fetch, wanted))
        return len(wanted)

    def publish(self, below: Path | None = None) -> int:
        """Publishes what is new or has changed in the mirror, or in a run's folder; returns how many files.

        What an earlier attempt at that run has left at the address, such as that it failed, is removed there. Raises
        StorageError, OSError.
        """
        names = list(self._names(self.folder if below is None else below))
        if below is not None:
            self._withdraw([name for name in self._stored_below(below) if name not in names])
        changed = [name for name in names if self._has_changed(name)]
        traces = [name for name in changed if name.name == TRACE_FILE]
        others = [name for name in changed if name.name != TRACE_FILE]
        self._withdraw([name for name in traces if name in self._stored])
        for names in (others, traces):
            with ThreadPoolExecutor(_CONNECTIONS) as connections:
                list(connections.map(self._publish, names))
        return len(changed)

    def _withdraw(self, names: Iterable[PurePosixPath]) -> None:
        for name in names:
            remove(self.address, name)
            del self._stored[name]

    def _stored_below(self, folder: Path) -> list[PurePosixPath]:
        place = PurePosixPath(folder.relative_to(self.folder))
        return [name for name in self._stored if name.is_relative_to(place)]

    def _names(self, folder: Path) -> Iterator[PurePosixPath]:
        """The files in a folder of the mirror, without those that are not finished."""
        for path, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            relative = Path(path).relative_to(self.folder)
            yield from (PurePosixPath(relative, name) for name in sorted(files) if not name.startswith("."))

    def _is_older(self, stored: Stored) -> bool:
        """Whether the mirror lacks the file, or has an older one."""
        try:
            own = (self.folder / stored.name).stat()
        except FileNotFoundError:
            return True
        return own.st_mtime_ns < stored.modified_ns or (
            own.st_mtime_ns == stored.modified_ns and own.st_size != stored.size
        )

    def _has_changed(self, name: PurePosixPath) -> bool:
        own, stored = (self.folder / name).stat(), self._stored.get(name)
        return stored is None or (own.st_size, own.st_mtime_ns) != (stored.size, stored.modified_ns)

    def _fetch(self, stored: Stored) -> None:
        get(self.address, stored, self.folder / stored.name)
        self._date(stored)

    def _publish(self, name: PurePosixPath) -> None:
        stored = put(self.address, name, self.folder / name)
        self._stored[name] = stored
        self._date(stored)

    def _date(self, stored: Stored) -> None:
        """Gives the mirror's file the time of the address, so that both are known to be the same."""
        os.utime(self.folder / stored.name, ns=(stored.modified_ns, stored.modified_ns))
