"""Makes our package importable on a Spark cluster's executors without roambus.

The session sends a zip named after its contents. Each machine unpacks it once in the user's cache, where Numba keeps
compiled code; unused versions are removed. `measurer` goes by value: roambus is not importable yet.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
from pyspark import SparkFiles, cloudpickle

from roambus.bridge.runs.log import COMMIT_FILE, commit_of_code
from roambus.bridge.system.code import PACKAGE_FOLDER

CACHE = Path("roambus", "packages")
KEPT_S = 30 * 24 * 3600
"""How long an unused package is kept."""

DISTRIBUTION = "roambus"
_LEFT_OUT = ("__pycache__", "omnet")
"""Executors compile for themselves, and find Castalia by their environment."""
SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Every archived file's time: equal contents make equal archives."""


def pack(folder: Path) -> Path:
    """Write our package and the agents' names as a zip."""
    archive = folder / "packages.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in _contents():
            file.writestr(zipfile.ZipInfo(name, SAME_TIME), content, zipfile.ZIP_DEFLATED)
    return archive.rename(folder / f"{sha256(archive.read_bytes()).hexdigest()}.zip")


def _contents() -> Iterator[tuple[str, bytes]]:
    for path in _files(PACKAGE_FOLDER):
        yield str(path.relative_to(PACKAGE_FOLDER.parent)), path.read_bytes()
    yield f"{PACKAGE_FOLDER.name}/{COMMIT_FILE}", commit_of_code().encode()
    for name in ("METADATA", "entry_points.txt"):
        yield f"{DISTRIBUTION}.dist-info/{name}", _metadata(name).encode()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_file():
            yield path
        elif path.name not in _LEFT_OUT:
            yield from _files(path)


def _metadata(name: str) -> str:
    try:
        return distribution(DISTRIBUTION).read_text(name) or ""
    except PackageNotFoundError:  # run from its sources: agents have no names then, here or there
        return ""


def measurer(archive: str | None, maker: str, sent: Sequence[bytes]) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Give `make` the data of each task's number, on an executor."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        module = importlib.import_module(maker) if archive is None else arrive(archive, maker)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from module.make(sent[number])

    return work


def arrive(archive: str, module: str) -> ModuleType:
    """Return that module from the archive in the Spark context."""
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
    for folder in cache.iterdir():
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)


def _unpack(archive: Path, folder: Path) -> None:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    private = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with zipfile.ZipFile(archive) as file:
            file.extractall(private)
        for path in private.rglob("*.py"):
            os.utime(
                path, (0, 0)
            )  # what is compiled on one machine is taken for compiled from the same file on another
        with suppress(OSError):  # somebody was faster
            private.rename(folder)
    finally:
        shutil.rmtree(private, ignore_errors=True)


_pickler: Any = cloudpickle  # PySpark does not type its copy
_pickler.register_pickle_by_value(sys.modules[__name__])
