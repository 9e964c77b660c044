"""Writes tables as CSV and Parquet, each file in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from roambus.bridge.runs.writing import unlinked, writing
from roambus.bridge.unfinished_file import check_replaceable


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Writes NAME.csv and NAME.parquet of each table; raises UserError if the folder cannot be written."""
    with writing(folder):
        unlinked(folder).mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            replace_file(folder / f"{name}.csv", partial(table.to_csv, index=False, lineterminator="\n"))
            replace_file(folder / f"{name}.parquet", partial(_write_parquet, table))


def _write_parquet(table: pd.DataFrame, path: Path) -> None:
    with path.open("wb") as file:  # Arrow knows no names that are not UTF-8
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), file)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` make the file under another name, then renames it: it is whole or as before.

    Raises OSError, and UserError if something else than a regular file has that name.
    """
    check_replaceable(path)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)  # a link that a stranger put there would be followed
    unfinished.touch(exist_ok=False)
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
