"""Gives Spark names that it can read: Hadoop takes the names of files for patterns, and knows no names but texts.

On this machine Spark is given numbered links to the files, in a folder of its own. So whatever a file system takes for
a name is a name here, too. Executors of a cluster find no such links: they are given the names themselves, which must
be texts, and are told that these are no patterns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from roambus.bridge.errors import UserError
from roambus.spark.engine.connect import is_remote

NO_PATTERNS = {"__globPaths__": "false"}
"""Spark's own option by which it takes paths as they are (its DataSource.GLOB_PATHS_KEY)."""


@contextmanager
def readable_names(session: SparkSession, files: Sequence[Path]) -> Iterator[list[Path]]:
    """A name for each file, in their order, by which Spark finds it in the block; raises UserError, OSError."""
    if is_remote(session) or not (session.sparkContext.master or "").startswith("local"):
        yield [_text(file) for file in files]
        return
    with TemporaryDirectory(prefix="roambus-traces-", dir=_place(session)) as folder:
        links = [Path(folder, f"{number}.parquet") for number in range(len(files))]
        for link, file in zip(links, files, strict=True):
            link.symlink_to(file.absolute())
        yield links


def _place(session: SparkSession) -> str | None:
    """The session's own folder, which is removed with it."""
    folder = session.sparkContext.getConf().get("spark.local.dir", "")
    return folder if folder and Path(folder).is_dir() else None


def _text(file: Path) -> Path:
    try:
        str(file).encode()
    except UnicodeEncodeError:
        name = os.fsencode(file).decode(errors="backslashreplace")
        raise UserError(f"{name}: on a cluster Spark reads no file whose name is not UTF-8: rename it") from None
    return file.absolute()
