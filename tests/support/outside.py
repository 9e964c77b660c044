"""Packages outside of the tree, written from a page's blocks and installed in a folder of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from tests.support.documents import page

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
POINTS = re.compile(r'\[project.entry-points."(.*?)"\]\n((?:[^\n]+\n)+)')
NAME = re.compile(r'name = "(.*?)"')

Call = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(name: str, language: str) -> list[str]:
    """Return a page's blocks of a language."""
    text = page(name).read_text(encoding="utf-8")
    return [content for found, content in BLOCK.findall(text) if found == language]


def write(site: Path, name: str, files: Sequence[tuple[str, str]]) -> None:
    """Write the files of a page with these names and languages, and the packages' metadata as pip makes them."""
    rest = {language: iter(blocks(name, language)) for _, language in files}
    for file, language in files:
        place = site / file
        place.parent.mkdir(exist_ok=True)
        place.write_text(next(rest[language]))
        if file.count("/"):
            place.with_name("__init__.py").touch()
    assert not [left for contents in rest.values() for left in contents], "a block of the page is not written"
    for project in blocks(name, "toml"):
        _install(site, project)


def _install(site: Path, project: str) -> None:
    found = NAME.search(project)
    assert found is not None
    metadata = site / f"{found[1]}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {found[1]}\nVersion: 1.0\n")
    points = "".join(f"[{group}]\n{lines}" for group, lines in POINTS.findall(project))
    (metadata / "entry_points.txt").write_text(points.replace('"', ""))


def caller(site: Path) -> Call:
    """Return the command line in a process of its own, in the folder of the packages."""

    def called(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # our own command
            [sys.executable, "-m", "roambus", *arguments],
            cwd=site,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )

    return called


def trace_of(site: Path, out: str) -> list[dict[str, object]]:
    """Return the rows of the only run."""
    (file,) = (site / out).rglob("trace.parquet")
    return list(pq.read_table(file).to_pylist())
