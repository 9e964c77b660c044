"""Keeps a search in a file, from which it goes on in another process.

The file has numbers only: a line of JSON with the figures, and then, four bytes each, the states, the steps that led to
them, and what is yet to be handled. What the numbers of nodes' states, messages and worlds stand for is not in it:
the agents are run again for the states that taught something new, of which there are few, and that gives everything
its number again. So nothing that is read is ever run, and a file that somebody hands over can at worst be wrong.

The folder in which a search is kept: a file for each of its processes, and one that says which files count.

Files are named by how often the search was kept. What counts changes in one step, when `kept.json` gets its name: a
search that is killed at any moment goes on from the last time that all its processes had written theirs.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from roambus.bridge.errors import UserError
from roambus.bridge.files import UnfinishedFile, read_text, remove_unfinished
from roambus.experiments.exploring.exploration import Labels, check_labels
from roambus.experiments.exploring.partition import CHOICE_BYTES
from roambus.experiments.exploring.search import NUMBERS, Search, Store, Violation

_LONGEST_HEADER = 2**20
_FIGURES = ("transitions", "depth", "quiet", "seconds", "cpu_seconds", "cuts", "narrowed", "seen")


def save(search: Search, path: Path, labels: Labels) -> None:
    """Writes a search into a file, which is whole or not there; raises UserError, OSError."""
    blocks = _blocks_of(search)
    header = {
        "labels": labels,
        "byteorder": sys.byteorder,
        "blocks": [len(block) for block in blocks],
        "next": search.next,
        "shared_from": search.shared_from,
        "learnt": search.network.nodes.learnt.count,
        "figures": {name: getattr(search.found, name) for name in _FIGURES},
        "violations": [_told(one, search) for one in search.found.violations],
    }
    with UnfinishedFile(path) as unfinished:
        unfinished.file.write(json.dumps(header).encode() + b"\n")
        unfinished.file.writelines(blocks)
        unfinished.finish()


def restore(search: Search, path: Path, labels: Labels) -> None:
    """Has a search that has not begun go on where that of a file was; raises UserError, OSError."""
    with path.open("rb") as file:
        header = _read_header(path, file)
        check_labels(path, header.get("labels"), labels)
        try:
            _take_blocks(search, file, header)
            search.learn_again()
            _take_figures(search, header)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError):
            _refuse(path)
    if not _is_sound(search) or search.network.nodes.learnt.count != header["learnt"]:
        _refuse(path)
    search.sum_up()


def _refuse(path: Path) -> NoReturn:
    raise UserError(f"{path}: this is not a search kept by roambus explore, or it is damaged; remove it")


def _told(violation: Violation, search: Search) -> dict[str, Any]:
    steps = [search.network.steps.number(step) for step in violation.steps]
    return {"name": violation.name, "text": violation.text, "steps": steps}


def _blocks_of(search: Search) -> list[bytes]:
    store = search.store
    arrays = (store.before, store.steps, store.depths, search.waiting, search.teachers)
    return [b"".join(store.packed), *(one.tobytes() for one in arrays), b"".join(search.ways)]


def _read_header(path: Path, file: BinaryIO) -> dict[str, Any]:
    try:
        header = json.loads(file.readline(_LONGEST_HEADER))
    except (ValueError, RecursionError):
        _refuse(path)
    if not isinstance(header, dict) or header.get("byteorder") != sys.byteorder:
        _refuse(path)
    return header


def _take_blocks(search: Search, file: BinaryIO, header: dict[str, Any]) -> None:
    """Raises ValueError, and others, for what cannot have been written."""
    packed, *numbers, ways = (_read_block(file, int(length)) for length in header["blocks"])
    arrays = [array(NUMBERS, one) for one in numbers]
    own = search.store
    width = own.width * own.before.itemsize
    store = search.store = Store(own.width)
    store.packed = [packed[place : place + width] for place in range(0, len(packed), width)]
    store.numbers = {one: number for number, one in enumerate(store.packed)}
    store.before, store.steps, store.depths, search.waiting, search.teachers = arrays
    if search.ways:
        search.ways = list(_cut(ways, store.depths))
    if store.packed[0] != own.packed[0] or len(store.numbers) != len(packed) // width or len(packed) % width:
        raise ValueError("these are no states")


def _cut(ways: bytes, depths: Iterable[int]) -> Iterator[bytes]:
    """The way to each state, which has a choice for each step."""
    ends = accumulate(depth * CHOICE_BYTES for depth in depths)
    start = 0
    for end in ends:
        yield ways[start:end]
        start = end
    if start != len(ways):
        raise ValueError("these are no ways")


def _read_block(file: BinaryIO, length: int) -> bytes:
    if not 0 <= length <= os.fstat(file.fileno()).st_size - file.tell():
        raise ValueError("the file is too short")
    return file.read(length)


def _take_figures(search: Search, header: dict[str, Any]) -> None:
    search.next = int(header["next"])
    search.shared_from = [int(one) for one in header["shared_from"]]
    search.asking.quiet = int(header["figures"]["quiet"])
    for name in _FIGURES:
        kind = type(getattr(search.found, name))
        setattr(search.found, name, kind(header["figures"][name]))
    for one in header["violations"]:
        steps = tuple(search.network.steps[int(step)] for step in one["steps"])
        search.found.report(Violation(str(one["name"]), str(one["text"]), steps))


def _is_sound(search: Search) -> bool:
    """Whether every number stands for something, and every way leads back to the first state."""
    store, network = search.store, search.network
    count = len(store)
    lengths = {len(one) for one in (store.before, store.steps, store.depths)}
    leads_back = all(before < number or not number for number, before in enumerate(store.before))
    known = max(store.steps, default=0) <= len(network.steps)
    waits = all(one < count for one in search.waiting) and 0 <= search.next <= len(search.waiting)
    return lengths == {count} and leads_back and known and waits and _are_known(search)


def _are_known(search: Search) -> bool:
    """Whether all that the states are made of has got its number again."""
    network, store = search.network, search.store
    numbers = array(NUMBERS, b"".join(store.packed))
    sizes = [len(network.nodes)] * network.size
    sizes += [len(network.queues)] * (store.width - network.size - 1) + [len(network.worlds)]
    return all(max(numbers[place :: store.width]) < size for place, size in enumerate(sizes))


_NAME = "kept.json"


class Keeper:
    """The files of one search by several processes."""

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
