"""A crate that is unpacked: its checksums, and its agents' files.

It can be a stranger's: names and links that lead out of it are refused, checksums are checked, and none of its code
runs here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from roambus.bridge.runs.layout import unlinked, unlinked_below
from roambus.bridge.system.errors import UserError

METADATA_FILE = "ro-crate-metadata.json"
"""The name by which a folder is a crate; the specification gives it."""
CODE_FOLDER = "code"
"""The folder of the code in a crate."""
ARCHIVE = PurePosixPath(CODE_FOLDER, "roambus.zip")
"""The code of roambus, which every crate has."""
MODULES = PurePosixPath(CODE_FOLDER, "modules")
"""The folder of the user's modules, on the script's import path."""
MOST_BYTES = 256 * 2**20
"""Limits metadata, which are read as a whole: the file may be a stranger's."""


def crate_in(folder: Path) -> Crate | None:
    """Return the crate unpacked in this folder, if any; raise UserError for one without its metadata."""
    if unlinked(folder / METADATA_FILE).is_file():
        return Crate(folder)
    if (folder / ARCHIVE).exists():
        what = f"{folder}: this is a crate without its {METADATA_FILE}, which has the checksums"
        raise UserError(f"{what}: unpack the crate again")
    return None


def is_file(reference: str) -> bool:
    """Return whether an agent's reference names a file."""
    return reference.partition(":")[0].endswith(".py")


class Crate:
    """A crate in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def modules(self) -> Path:
        """The folder of its modules, perhaps absent."""
        return self._folder / MODULES

    def wrong_files(self) -> Iterator[str]:
        """A line for each missing file or wrong checksum; raises UserError.

        Files that the crate does not name are ignored.
        """
        for path, entity in self._files():
            file = self._folder / path
            if not file.is_file():
                yield f"{file}: missing: unpack the crate again"
                continue
            with file.open("rb") as opened:
                digest = file_digest(opened, "sha256").hexdigest()
            if digest != entity["sha256"]:
                yield f"{file}: its checksum is not what {METADATA_FILE} says: it was changed since the crate was made"

    def agent_files(self) -> dict[str, str]:
        """The crate's files by the runs' agent references; raises UserError.

        A reference can name a class behind its file, as in `mine.py:Agent`; its replacement then does, too. Modules are
        found by their names.
        """
        found = {}
        for path, entity in self._files():
            reference = str(entity.get("name"))
            kinds = entity.get("@type")
            is_code = isinstance(kinds, list) and "SoftwareSourceCode" in kinds and path.parts[0] == CODE_FOLDER
            if is_code and is_file(reference):
                behind = reference.rpartition(".py")[2].partition(":")[1:]
                found[reference] = f"{self._folder / path}{''.join(behind)}"
        return found

    def _files(self) -> Iterator[tuple[PurePosixPath, dict[str, Any]]]:
        """The files with checksums and their entries; raises UserError for a path out of the crate."""
        for entity in self._entities():
            if isinstance(entity.get("sha256"), str):
                path = PurePosixPath(unquote(str(entity.get("@id"))))
                if path.is_absolute() or ".." in path.parts or not path.parts:
                    raise UserError(f"{self._folder / METADATA_FILE}: {str(path)!r} leads out of the crate")
                try:
                    unlinked(unlinked_below(self._folder, Path(path)))
                except OSError as error:  # such as a name that no file can have
                    raise UserError(f"{self._folder / METADATA_FILE}: {str(path)[:80]!r}: {error}") from None
                yield path, entity

    def _entities(self) -> list[dict[str, Any]]:
        file = self._folder / METADATA_FILE
        try:
            if file.stat().st_size > MOST_BYTES:
                raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB")
            graph = json.loads(file.read_text(encoding="utf-8"))["@graph"]
            if isinstance(graph, list) and all(isinstance(entity, dict) for entity in graph):
                return graph
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise UserError(f"{file}: this is not an RO-Crate: {error}") from None
        raise UserError(f"{file}: this is not an RO-Crate: @graph is not a list of entities")
