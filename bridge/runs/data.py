"""The data that a run's agent read, in the trace: what makes the run another one if it changes.

The key cannot hold these files, because only the run itself finds them. Files in the agent's folder have names relative
to it, as the same files in a crate have. Others have absolute names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from roambus.bridge.agents import agent_sources, data_of, find_code
from roambus.bridge.system.code import import_root
from roambus.bridge.system.reading import files_read, hash_of
from roambus.bridge.trace.schema import DATA_READ
from roambus.python_protocol.agent import Agent


def data_read(reference: str, agent: type[Agent]) -> dict[str, str]:
    """Return the files that the agent has read and does not name, as metadata of a trace; empty without any."""
    named, folder = {*data_of(reference, agent).values()}, _folder_of(reference)
    read = {
        _name(file, folder): digest for file, digest in files_read(agent_sources(agent)).items() if file not in named
    }
    return {DATA_READ: json.dumps(read, sort_keys=True)} if read else {}


def changed_data(reference: str, metadata: Mapping[str, str]) -> str | None:
    """Return a file that is no longer what a run's agent read, or None."""
    files = data_files_of(reference, metadata)
    return next((str(file) for file, digest in files if _present_hash(file) != digest), None)


def data_files_of(reference: str, metadata: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the files that a run's agent read, at their places now, with the SHA-256 that they had."""
    try:
        found = json.loads(metadata.get(DATA_READ, "{}"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or any("\0" in name or not isinstance(found[name], str) for name in found):
        found = {".": ""}  # a damaged list is another one
    if found:
        folder = _folder_of(reference) or Path()
        yield from (((folder / name).resolve(), digest) for name, digest in found.items())


def _folder_of(reference: str) -> Path | None:
    files = find_code(reference).files
    return import_root(files[0]) if files else None


def _name(file: Path, folder: Path | None) -> str:
    return str(file.relative_to(folder)) if folder is not None and file.is_relative_to(folder) else str(file)


def _present_hash(file: Path) -> str | None:
    try:
        state = file.stat()
        return _hash(file, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=256)
def _hash(file: Path, *_: int) -> str:
    """Return a file's hash, of each time and size once: thousands of runs may have read one file."""
    return hash_of(file)
