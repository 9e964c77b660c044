"""The metric files of the user's own sweeps, kept in the user's cache.

Results can come from anybody, so a file named in `sweep.json` is not run for that reason. A user's sweep leaves a mark
outside of the results, for this folder and file.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from roambus.bridge.files import user_cache


def remember(results: Path, measure: Iterable[str]) -> None:
    """Mark the files that a sweep into these results names; without a cache mark nothing."""
    for file in (one for one in measure if one.endswith(".py")):
        with suppress(OSError):
            mark = _mark(results, file)
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.touch()


def is_chosen(results: Path, reference: str) -> bool:
    """Whether a package, or an existing file that the user's own sweep into these results named."""
    return not reference.endswith(".py") or (Path(reference).is_file() and _mark(results, reference).is_file())


def _mark(results: Path, file: str) -> Path:
    digest = sha256(f"{results.resolve()}\0{Path(file).resolve()}".encode(errors="surrogateescape")).hexdigest()
    return user_cache() / "measure" / digest
