"""Reads a crate that was unpacked somewhere: its checksums, and the code of agents that came with it.

A crate can be a stranger's, so nothing in it is believed: names that lead out of it are refused, and its code is run by
nobody here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from roambus.bridge.errors import UserError
from roambus.experiments.provenance.metadata import CODE_FOLDER, METADATA_FILE

MOST_BYTES = 256 * 2**20
"""Larger metadata are none of a crate's."""


def is_crate(folder: Path) -> bool:
    """Whether a crate was unpacked in this folder."""
    return (folder / METADATA_FILE).is_file()


def wrong_files(folder: Path) -> Iterator[str]:
    """A line for each file that is missing, or whose checksum is not what the crate says; raises UserError."""
    for path, entity in _files(folder):
        file = folder / path
        if not file.is_file():
            yield f"{file}: missing: unpack the crate anew"
        elif _digest(file) != entity["sha256"]:
            yield f"{file}: its checksum is not what {METADATA_FILE} says: it was changed since the crate was made"


def agent_files(folder: Path) -> dict[str, str]:
    """The files in the crate by the references that runs have for their agents; raises UserError."""
    found = {}
    for path, entity in _files(folder):
        if "SoftwareSourceCode" in entity.get("@type", ()) and path.parts[0] == CODE_FOLDER:
            reference = str(entity.get("name"))
            _, colon, class_name = reference.rpartition(".py")[2].partition(":")
            found[reference] = f"{folder / path}{colon}{class_name}"
    return found


def read_metadata(folder: Path) -> list[dict[str, Any]]:
    """The entities of a crate; raises UserError for metadata that are none."""
    file = folder / METADATA_FILE
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB")
        graph = json.loads(file.read_text(encoding="utf-8"))["@graph"]
        if isinstance(graph, list) and all(isinstance(entity, dict) for entity in graph):
            return graph
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise UserError(f"{file}: this is no RO-Crate: {error}") from None
    raise UserError(f"{file}: this is no RO-Crate: @graph is no list of entities")


def _files(folder: Path) -> Iterator[tuple[PurePosixPath, dict[str, Any]]]:
    """The files that have a checksum, with what the crate says of them."""
    for entity in read_metadata(folder):
        if isinstance(entity.get("sha256"), str):
            path = PurePosixPath(unquote(str(entity.get("@id"))))
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise UserError(f"{folder / METADATA_FILE}: {str(path)!r} leads out of the crate")
            yield path, entity


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
