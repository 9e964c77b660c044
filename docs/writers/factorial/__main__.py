"""The tasks of the factorial; see the head of the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from docs.writers.factorial.page import write_page
from docs.writers.factorial.tables import (
    write_again,
    write_analysis,
    write_asked,
    write_confirmed,
    write_design,
    write_ranked,
)
from roambus.bridge.system.errors import RoambusError, UserError

_TASKS = {
    "analyse": write_analysis,
    "sweeps": write_asked,
    "rank": write_ranked,
    "again": write_again,
    "confirm": write_confirmed,
    "page": write_page,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes sweeps or tables; see the head of the package."""
    parser = argparse.ArgumentParser(description="a fractional factorial over the thesis' open choices")
    parser.add_argument("task", choices=("design", *_TASKS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    try:
        _run(asked.task, asked.folder, asked.out)
    except (RoambusError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        return 1
    return 0


def _run(task: str, folder: Path, out: Path | None) -> None:
    if task == "design":
        write_design(folder)
    elif out is None:
        raise UserError("--out says where the tables go")
    else:
        out.mkdir(parents=True, exist_ok=True)
        _TASKS[task](folder, out)


if __name__ == "__main__":
    sys.exit(main())
