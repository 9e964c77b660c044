"""Makes our package importable on an executor of a Spark cluster, where roambus need not be installed.

This module is sent by value: when it runs there, nothing of roambus can be imported yet, and so it imports none and
stands alone. The package comes as a zip with the Spark context. It is unpacked once on each machine, in the user's
cache, and not imported from the zip: Numba keeps what it has compiled beside the sources, so that no later executor or
sweep compiles the same code again. Each version of the code has a folder of its own, named after its contents; one that
nobody has used for long is removed.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from pyspark import SparkFiles
from pyspark.accumulators import Accumulator, AccumulatorParam

CACHE = Path("roambus", "packages")
KEPT_S = 30 * 24 * 3600
"""How long a package that nobody uses is kept."""

Outcome = tuple[int, str | None, str | None]
"""Number of the run, its error, and what is wrong with the executor (which then has not made the run)."""


class Outcomes(AccumulatorParam[list[Outcome]]):
    """Collects what tasks tell; Spark counts each task once, however often it was tried."""

    def zero(self, value: list[Outcome]) -> list[Outcome]:  # noqa: ARG002  # the interface
        """The start: there is no outcome yet."""
        return []

    def addInPlace(self, value1: list[Outcome], value2: list[Outcome]) -> list[Outcome]:  # noqa: N802  # the interface
        """Joins two lists of outcomes."""
        value1.extend(value2)
        return value1


def worker(archive: str, maker: str, outcomes: Accumulator[list[Outcome]]) -> Callable[[Iterable[bytes]], None]:
    """What executors do with their tasks: each is given to the function `make` of the module that `maker` names."""

    def work(tasks: Iterable[bytes]) -> None:
        module = arrive(archive, maker)
        for sent in tasks:
            outcomes.add([module.make(sent)])

    return work


def arrive(archive: str, module: str) -> ModuleType:
    """That module of the package in the archive, which is a file that was added to the Spark context."""
    folder = str(_unpacked(archive))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(module)


def _unpacked(archive: str) -> Path:
    # Path.home() can raise, and this cannot. The executor's own folder ends with the executor.
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    for cache in (Path(home) / CACHE, Path(SparkFiles.getRootDirectory()) / CACHE):
        folder = cache / Path(archive).stem
        with suppress(OSError):
            if not folder.is_dir():
                _unpack(Path(SparkFiles.get(archive)), folder)
                _remove_unused(cache)
            os.utime(folder)
            return folder
    raise OSError(f"{os.uname().nodename}: the packages can be unpacked neither in the cache nor beside the archive")


def _remove_unused(cache: Path) -> None:
    """Removes what nobody has used for long: every version of the code has a folder of its own."""
    for folder in cache.iterdir():
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the archive in one step, whoever else is doing the same."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    private = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as file:
            file.extractall(private)
        with suppress(OSError):  # somebody was faster
            private.rename(folder)
    finally:
        shutil.rmtree(private, ignore_errors=True)
