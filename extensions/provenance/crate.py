"""Packs results as an RO-Crate, from which others repeat the runs by one command.

The zip file holds the results, the code of roambus and of agents from no package index (with their imports), all
libraries' versions, and a script that installs these and makes runs again by `roambus verify`, ten at first. Results
that the present code would not repeat are refused. Metadata come last, and the file gets its name when complete.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from roambus.bridge.agents import find_code, installed_agent
from roambus.bridge.formats.ini import AnyKeys, read_scenario
from roambus.bridge.runs.layout import INI_FILE, LOG_FILE, find_traces, run_name
from roambus.bridge.runs.log import maker_of
from roambus.bridge.runs.run import errors_named
from roambus.bridge.system.code import find_source, is_installed, is_own, project_files
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile
from roambus.extensions.provenance.metadata import (
    About,
    PackedCode,
    PackedFile,
    PackedRun,
    metadata,
    requirements_file,
)
from roambus.extensions.provenance.unpacked import CODE_FOLDER, METADATA_FILE
from roambus.extensions.provenance.verification import Verifier
from roambus.spark.engine.shipment import SAME_TIME, pack

ARCHIVE = PurePosixPath(CODE_FOLDER, "roambus.zip")
MODULES = PurePosixPath(CODE_FOLDER, "modules")
"""The folder of the user's modules, on the script's import path."""
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

    named: dict[str, Path | str]
    modules: dict[PurePosixPath, bytes]
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
            own = {reference: _place(package) for reference, package in code.items() if isinstance(package, Path)}
            about_all = metadata(about, files, runs, PackedCode(own, packages)).encode()
            _add(archive, PurePosixPath(METADATA_FILE), about_all)
        unfinished.finish()
    return len(runs)


def _runs(packing: Packing, advance: Callable[[], None]) -> tuple[list[PackedRun], Codes]:
    runs, codes, problems = [], Codes({}, {}, {}), set[str]()
    for folder in packing.sweeps:
        for trace in find_traces(folder):
            if problem := packing.verifier.other_version(trace, problems):
                raise UserError(f"{trace.parent}: {problem}")
            agent = read_scenario(trace.with_name(INI_FILE), AnyKeys()).agent
            if agent not in codes.named:
                codes.named[agent] = _code_of(agent)
                _add_modules(agent, codes)
            runs.append(_packed(packing.results, trace, agent))
            advance()
    if not runs:
        raise UserError(f"{packing.results}: there are no runs in it: give the folder that a sweep wrote (its --out)")
    return runs, codes


def _packed(results: Path, trace: Path, agent: str) -> PackedRun:
    """Return a run with the files beside its trace as sources, except the log."""
    beside = sorted(file for file in trace.parent.rglob("*") if file.is_file() and file.suffix != trace.suffix)
    places = [PurePosixPath(file.relative_to(results)) for file in beside if file != trace.with_name(LOG_FILE)]
    return PackedRun(run_name(trace), agent, places, PurePosixPath(trace.relative_to(results)), maker_of(trace))


def _code_of(reference: str) -> Path | str:
    code = find_code(reference)
    if code.package:
        return code.package
    name = reference.partition(":")[0]
    file = Path(name).resolve() if name.endswith(".py") else find_source(name)
    if file is None or file not in code.files:
        raise UserError(f"agent {reference!r}: its code is not there, and no package brings it")
    return file


def _add_modules(reference: str, codes: Codes) -> None:
    code, point = find_code(reference), installed_agent(reference)
    brought = point.dist if point is not None and not is_own(point) else None
    own = {file for file in project_files(code.files) if not is_installed(file)}
    if brought is not None and brought.read_text("direct_url.json") is None:
        codes.packages[brought.name] = brought.version  # it came from an index
    elif brought is not None:
        own.update(code.files)
        information = MODULES / f"{brought.name.replace('-', '_')}-{brought.version}.dist-info"
        for name in ("METADATA", "entry_points.txt"):
            codes.modules[information / name] = (brought.read_text(name) or "").encode()
    elif isinstance(codes.named[reference], Path):
        own.discard(codes.named[reference])
    for file in sorted(own):
        codes.modules[MODULES / _import_path(file)] = file.read_bytes()


def _import_path(file: Path) -> PurePosixPath:
    folder = file.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return PurePosixPath(file.relative_to(folder))


def _place(file: Path) -> PurePosixPath:
    """Return an agent file's place by content, as files may share a name."""
    return PurePosixPath(CODE_FOLDER, sha256(file.read_bytes()).hexdigest()[:16], file.name)


def _contents(packing: Packing, codes: Codes, runs: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    yield PurePosixPath("README.md"), _TEXT.read_text(encoding="utf-8").format(runs=runs).encode()
    yield SCRIPT, _SCRIPT.encode()
    yield REQUIREMENTS, requirements_file(codes.packages).encode()
    with TemporaryDirectory() as folder:
        yield ARCHIVE, pack(Path(folder)).read_bytes()
    for file in dict.fromkeys(path for path in codes.named.values() if isinstance(path, Path)):
        yield _place(file), file.read_bytes()
    yield from codes.modules.items()
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
