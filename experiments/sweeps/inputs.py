"""Keeps the user's own files that runs were made from: template, its parts, sweep file, study and metrics.

Each run has its ini already, so nothing reads these files again: they are for people, and for crates. A folder for each
set of contents, because a later command can come with a changed template.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath

from roambus.bridge.runs.layout import INPUTS_FOLDER, unlinked
from roambus.bridge.system.code import import_root, is_installed, is_own_file, project_files
from roambus.bridge.system.files import UnfinishedFile
from roambus.experiments.sweeps.sweep import Sweep

_DIGITS = 12
"""Of the contents' hash, in the folder's name."""


def keep_inputs(sweep: Sweep, results: Path) -> None:
    """Write the user's own files of a sweep below `results`, unless they are there; raise UserError, OSError."""
    files = {place: file.read_bytes() for place, file in own_inputs(sweep)}
    if not files:
        return
    parts = (part for place, content in sorted(files.items()) for part in (place.encode(), content))
    digest = sha256(b"".join(sha256(part).digest() for part in parts))
    folder = unlinked(results / INPUTS_FOLDER) / digest.hexdigest()[:_DIGITS]
    unlinked(folder)
    for place, content in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / place).is_file():
            with UnfinishedFile(folder / place) as unfinished:
                unfinished.file.write(content)
                unfinished.finish()


def own_inputs(sweep: Sweep) -> Iterator[tuple[str, Path]]:
    """Yield the files that are not roambus' by their places; raise UserError."""
    for file in (*sweep.template.files, *([sweep.file] if sweep.file else [])):
        if not is_own_file(file):
            yield file.name, file
    metrics = [Path(name) for name in sweep.measure if name.endswith(".py") and Path(name).is_file()]
    for file in sorted(project_files([*metrics, *([sweep.study_file] if sweep.study_file else [])])):
        if not is_installed(file):
            yield str(PurePosixPath(file.relative_to(import_root(file)))), file
