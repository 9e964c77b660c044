"""The files of metrics that the user's own sweeps name, kept in the user's cache.

Results can come from anybody, so a file that `sweep.json` names is not run for that reason. A sweep that the user makes
leaves a mark outside of the results, for this folder and this file; where the mark is, the file is the user's choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from roambus.bridge.files import user_cache


def remember(results: Path, measure: Iterable[str]) -> None:
    """Mark the files among the references of a sweep into these results; without a cache nothing is marked."""
    for file in (one for one in measure if one.endswith(".py")):
        with suppress(OSError):
            mark = _mark(results, file)
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.touch()


def is_chosen(results: Path, reference: str) -> bool:
    """Whether a package, or a file that the user's own sweep into these results named and that is still there."""
    return not reference.endswith(".py") or (Path(reference).is_file() and _mark(results, reference).is_file())


def _mark(results: Path, file: str) -> Path:
    digest = sha256(f"{results.resolve()}\0{Path(file).resolve()}".encode(errors="surrogateescape")).hexdigest()
    return user_cache() / "measure" / digest
