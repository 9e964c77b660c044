"""Packs results as an RO-Crate, from which others repeat the runs by one command.

The zip file holds the results, the code of roambus and of agents from no package index, all libraries' versions, and a
script. It installs these and makes runs again by `roambus verify`, ten at first. An agent's file lies in a folder with
its helpers and data. Results that the present code would not repeat are refused.
Metadata come last, and the file gets its name when complete.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from roambus.bridge.agents import data_of, find_code, installed_agent, load_agent
from roambus.bridge.formats.ini import AnyKeys, read_scenario
from roambus.bridge.runs.data import data_files_of
from roambus.bridge.runs.layout import INI_FILE, LOG_FILE, find_traces, run_name
from roambus.bridge.runs.log import maker_of
from roambus.bridge.runs.run import errors_named
from roambus.bridge.system.code import find_source, import_root, is_installed, is_own, project_files
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile
from roambus.bridge.trace.parquet import read_footer
from roambus.extensions.provenance.metadata import (
    About,
    PackedCode,
    PackedFile,
    PackedRun,
    metadata,
    requirements_file,
)
from roambus.extensions.provenance.unpacked import ARCHIVE, CODE_FOLDER, METADATA_FILE, MODULES, is_file
from roambus.extensions.provenance.verification import Verifier
from roambus.spark.engine.shipment import SAME_TIME, pack

REQUIREMENTS = PurePosixPath("environment", "requirements.txt")
SCRIPT = PurePosixPath("reproduce.sh")
_TEXT = Path(__file__).with_name("crate_readme.md")
_SCRIPT = """#!/bin/sh
# Installs the libraries and the code of this crate beside it, makes runs again, and compares them byte for byte.
# Options go to roambus verify: --sample 100 makes a hundred runs again.
set -e
cd "$(dirname "$0")"
if [ ! -f .reproduce/ready ]; then
  echo "installing the libraries of environment/requirements.txt; this takes some minutes" >&2
  "${PYTHON:-python3}" -m venv .reproduce
  .reproduce/bin/python -m pip install --quiet --requirement environment/requirements.txt
  .reproduce/bin/python -m zipfile -e code/roambus.zip .reproduce/code
  touch .reproduce/ready
fi
echo "making runs again" >&2
PYTHONPATH=.reproduce/code:code/modules exec .reproduce/bin/python -m roambus verify . --trust "$@"
"""


@dataclass(frozen=True, slots=True)
class Packing:
    """The results with their sweeps' folders, and the agents that may run."""

    results: Path
    sweeps: Sequence[Path]
    verifier: Verifier


@dataclass(frozen=True, slots=True)
class Codes:
    """Agents' code: metadata names by reference, modules by place."""

    named: dict[str, PurePosixPath | str]
    """Their places in the crate, or their packages."""
    files: dict[PurePosixPath, bytes]
    packages: dict[str, str]
    """Installed packages of agents with versions, for pip to install."""


def write_crate(packing: Packing, about: About, out: Path, advance: Callable[[], None]) -> int:
    """Write the crate, whole or not at all; return the number of runs; `advance` follows each.

    Raise UserError for results without runs, of another version, or of untrusted agents; OSError.
    """
    runs, codes = _runs(packing, advance)
    code = codes.named
    with errors_named(out), UnfinishedFile(out) as unfinished:
        with zipfile.ZipFile(unfinished.file, "w", zipfile.ZIP_DEFLATED) as archive:
            files = [_add(archive, path, content) for path, content in _contents(packing, codes, len(runs))]
            packages = {reference: package for reference, package in code.items() if isinstance(package, str)}
            own = {reference: place for reference, place in code.items() if isinstance(place, PurePosixPath)}
            about_all = metadata(about, files, runs, PackedCode(own, packages)).encode()
            _add(archive, PurePosixPath(METADATA_FILE), about_all)
        unfinished.finish()
    return len(runs)


def _runs(packing: Packing, advance: Callable[[], None]) -> tuple[list[PackedRun], Codes]:
    runs, codes, problems = [], Codes({}, {}, {}), set[str]()
    data: dict[str, set[Path]] = {}
    for folder in packing.sweeps:
        for trace in find_traces(folder):
            if problem := packing.verifier.other_version(trace, problems):
                raise UserError(f"{trace.parent}: {problem}")
            agent = read_scenario(trace.with_name(INI_FILE), AnyKeys()).agent
            read = data_files_of(agent, read_footer(trace).metadata)
            data.setdefault(agent, set()).update(file for file, _ in read)
            runs.append(_packed(packing.results, trace, agent))
            advance()
    for agent, files in data.items():
        _add_code(agent, files, codes)
    if not runs:
        raise UserError(f"{packing.results}: there are no runs in it: give the folder that a sweep wrote (its --out)")
    return runs, codes


def _packed(results: Path, trace: Path, agent: str) -> PackedRun:
    """Return a run with the files beside its trace as sources, except the log."""
    beside = sorted(file for file in trace.parent.rglob("*") if file.is_file() and file.suffix != trace.suffix)
    places = [PurePosixPath(file.relative_to(results)) for file in beside if file != trace.with_name(LOG_FILE)]
    return PackedRun(run_name(trace), agent, places, PurePosixPath(trace.relative_to(results)), maker_of(trace))


def _add_code(reference: str, data: Set[Path], codes: Codes) -> None:
    """Add an agent's package by name, or its files with their helpers and data; raise UserError, OSError."""
    code, point = find_code(reference), installed_agent(reference)
    brought = point.dist if point is not None and not is_own(point) else None
    if brought is not None and brought.read_text("direct_url.json") is None:
        codes.packages[brought.name] = brought.version  # it came from an index
    elif brought is not None:
        information = MODULES / f"{brought.name.replace('-', '_')}-{brought.version}.dist-info"
        for name in ("METADATA", "entry_points.txt"):
            codes.files[information / name] = (brought.read_text(name) or "").encode()
        _add_files(_files_of(reference, code.files, data), MODULES, codes)
    codes.named[reference] = code.package or _add_own(reference, code.files, data, codes)


def _add_own(reference: str, files: Sequence[Path], data: Set[Path], codes: Codes) -> PurePosixPath:
    """Add the code of an agent that no package brings; return the place of its own file."""
    name = reference.partition(":")[0]
    file = Path(name).resolve() if name.endswith(".py") else find_source(name)
    if file is None or file not in files:
        raise UserError(f"agent {reference!r}: its code is not there, and no package brings it")
    own = _files_of(reference, files, data)
    folder = _folder_of(own) if is_file(reference) else MODULES
    _add_files(own, folder, codes)
    return folder / next(place for place, found in own.items() if found == file)


def _files_of(reference: str, files: Sequence[Path], data: Set[Path]) -> dict[str, Path]:
    """Return the files by place: the agent's, what they import, and the data that it reads; raise UserError."""
    agent = load_agent(reference)
    imported = {file for file in project_files(files) if not is_installed(file)}
    found = {*files, *imported, *data_of(reference, agent).values(), *data}
    root = import_root(files[0])
    if outside := sorted(file for file in data if not file.is_relative_to(root)):
        raise UserError(f"agent {reference!r} has read {outside[0]}, which a crate cannot hold: put it below {root}")
    return {
        str(file.relative_to(root if file.is_relative_to(root) else import_root(file))): file for file in sorted(found)
    }


def _add_files(files: Mapping[str, Path], folder: PurePosixPath, codes: Codes) -> None:
    for name, file in files.items():
        content = file.read_bytes()
        if codes.files.setdefault(folder / name, content) != content:
            raise UserError(f"{file}: another file of that name is in the crate already: rename one of them")


def _folder_of(files: Mapping[str, Path]) -> PurePosixPath:
    """Return the folder of an agent's files, by their contents: agents may share a file's name."""
    parts = (part for name, file in files.items() for part in (name.encode(), file.read_bytes()))
    return PurePosixPath(CODE_FOLDER, sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:16])


def _contents(packing: Packing, codes: Codes, runs: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    yield PurePosixPath("README.md"), _TEXT.read_text(encoding="utf-8").format(runs=runs).encode()
    yield SCRIPT, _SCRIPT.encode()
    yield REQUIREMENTS, requirements_file(codes.packages).encode()
    with TemporaryDirectory() as folder:
        yield ARCHIVE, pack(Path(folder)).read_bytes()
    yield from codes.files.items()
    for path in _results(packing.results):
        yield path, (packing.results / path).read_bytes()


def _results(folder: Path) -> Iterator[PurePosixPath]:
    """Return the results' files, without links, hidden files and earlier crates."""
    # Results that were unpacked from a crate can be packed again: what that crate added to them is made again.
    own = {PurePosixPath("README.md"), SCRIPT, REQUIREMENTS, ARCHIVE, PurePosixPath(METADATA_FILE)}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in (Path(place, name) for name in sorted(files) if not name.startswith(".")):
            path = PurePosixPath(file.relative_to(folder))
            if not (file.is_symlink() or path in own or path.parts[0] == CODE_FOLDER):
                yield path


def _add(archive: zipfile.ZipFile, path: PurePosixPath, content: bytes) -> PackedFile:
    # One time for all: equal results make equal archives, but for the date in the metadata.
    info = zipfile.ZipInfo(str(path), SAME_TIME)
    info.external_attr = (0o755 if path == SCRIPT else 0o644) << 16
    archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return PackedFile(path, len(content), sha256(content).hexdigest())
