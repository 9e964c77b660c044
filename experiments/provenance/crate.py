"""Packs results as an RO-Crate, from which others repeat the runs by one command, and reads such a crate.

The zip file holds the results, the code of roambus and of agents that no package brings, the versions of all libraries,
and a script that installs these and has `roambus verify` make runs again. Results that the present code would not
repeat are refused. Each file's checksum is taken of the bytes that are added; the metadata come last, and the file has
its name when it is complete. Nothing in an unpacked crate is believed: names that lead out of it are refused, and
checksums are compared. The script begins with ten runs and installs into a hidden folder.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from roambus.bridge.agents import find_code
from roambus.bridge.errors import UserError
from roambus.bridge.files import UnfinishedFile
from roambus.bridge.ini import Anything, read_scenario
from roambus.bridge.runs.layout import INI_FILE, LOG_FILE, find_traces, run_name
from roambus.bridge.runs.log import maker_of
from roambus.bridge.runs.run import errors_named
from roambus.experiments.provenance.metadata import (
    About,
    PackedCode,
    PackedFile,
    PackedRun,
    metadata,
    requirements_file,
)
from roambus.experiments.unpacked_crate import CODE_FOLDER, METADATA_FILE
from roambus.experiments.verification import Verifier
from roambus.spark.engine.shipment import SAME_TIME, pack

ARCHIVE = PurePosixPath(CODE_FOLDER, "roambus.zip")
REQUIREMENTS = PurePosixPath("environment", "requirements.txt")
SCRIPT = PurePosixPath("reproduce.sh")
_TEXT = Path(__file__).with_name("crate_readme.md")
_SCRIPT = """#!/bin/sh
# Installs the libraries and the code of this crate beside it, makes runs again, and compares them byte for byte.
# Options go to roambus verify: --sample 100 makes a hundred runs again.
set -e
cd "$(dirname "$0")"
if [ ! -f .reproduce/ready ]; then
  "${PYTHON:-python3}" -m venv .reproduce
  .reproduce/bin/python -m pip install --quiet --requirement environment/requirements.txt
  .reproduce/bin/python -m zipfile -e code/roambus.zip .reproduce/code
  touch .reproduce/ready
fi
PYTHONPATH=.reproduce/code exec .reproduce/bin/python -m roambus verify . --trust "$@"
"""


@dataclass(frozen=True, slots=True)
class Packing:
    """The results with the folders of their sweeps, and the agents that may run."""

    results: Path
    sweeps: Sequence[Path]
    verifier: Verifier


def write_crate(packing: Packing, about: About, out: Path, advance: Callable[[], None]) -> int:
    """Write the crate, whole or not at all; return the number of runs. `advance` follows each run.

    Raise UserError for results without runs, of another version, or of agents that are not trusted; OSError.
    """
    runs, code = _runs(packing, advance)
    with errors_named(out), UnfinishedFile(out) as unfinished:
        with zipfile.ZipFile(unfinished.file, "w", zipfile.ZIP_DEFLATED) as archive:
            files = [_add(archive, path, content) for path, content in _contents(packing, code, len(runs))]
            packages = {reference: one for reference, one in code.items() if isinstance(one, str)}
            own = {reference: _place(one) for reference, one in code.items() if isinstance(one, Path)}
            about_all = metadata(about, files, runs, PackedCode(own, packages)).encode()
            _add(archive, PurePosixPath(METADATA_FILE), about_all)
        unfinished.finish()
    return len(runs)


def _runs(packing: Packing, advance: Callable[[], None]) -> tuple[list[PackedRun], dict[str, Path | str]]:
    """Return the runs, and for each agent its file, or the package that brings it."""
    runs, code, told = [], dict[str, Path | str](), set[str]()
    for folder in packing.sweeps:
        for trace in find_traces(folder):
            if problem := packing.verifier.other_version(trace, told):
                raise UserError(f"{trace.parent}: {problem}")
            agent = read_scenario(trace.with_name(INI_FILE), Anything()).agent
            code.setdefault(agent, _code_of(agent))
            runs.append(_packed(packing.results, trace, agent))
            advance()
    if not runs:
        raise UserError(f"{packing.results}: there are no runs in it: give the folder that a sweep wrote (its --out)")
    return runs, code


def _packed(results: Path, trace: Path, agent: str) -> PackedRun:
    """Return a run with the files beside its trace as its sources, without its log."""
    beside = sorted(file for file in trace.parent.rglob("*") if file.is_file() and file.suffix != trace.suffix)
    places = [PurePosixPath(file.relative_to(results)) for file in beside if file != trace.with_name(LOG_FILE)]
    return PackedRun(run_name(trace), agent, places, PurePosixPath(trace.relative_to(results)), maker_of(trace))


def _code_of(reference: str) -> Path | str:
    """Return the file of an agent, or the package that brings it; raise UserError for neither."""
    code = find_code(reference)
    if code.package:
        return code.package
    if len(code.files) == 1:
        return code.files[0]
    raise UserError(f"agent {reference!r} is {len(code.files)} files that no package brings: install it as a package")


def _place(file: Path) -> PurePosixPath:
    """Return where an agent's file lies in the crate: by content, since two files may share a name."""
    return PurePosixPath(CODE_FOLDER, sha256(file.read_bytes()).hexdigest()[:16], file.name)


def _contents(packing: Packing, code: dict[str, Path | str], runs: int) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of the crate, but for its metadata."""
    yield PurePosixPath("README.md"), _TEXT.read_text(encoding="utf-8").format(runs=runs).encode()
    yield SCRIPT, _SCRIPT.encode()
    yield REQUIREMENTS, requirements_file().encode()
    with TemporaryDirectory() as folder:
        yield ARCHIVE, pack(Path(folder)).read_bytes()
    for file in dict.fromkeys(one for one in code.values() if isinstance(one, Path)):
        yield _place(file), file.read_bytes()
    for path in _results(packing.results):
        yield path, (packing.results / path).read_bytes()


def _results(folder: Path) -> Iterator[PurePosixPath]:
    """Return the files of the results, without links, hidden files and earlier crates."""
    # Results that were unpacked from a crate can be packed again: what that crate added to them is made again.
    own = {PurePosixPath("README.md"), SCRIPT, REQUIREMENTS, ARCHIVE, PurePosixPath(METADATA_FILE)}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in (Path(place, name) for name in sorted(files) if not name.startswith(".")):
            path = PurePosixPath(file.relative_to(folder))
            if not (file.is_symlink() or path in own or path.parts[0] == CODE_FOLDER):
                yield path


def _add(archive: zipfile.ZipFile, path: PurePosixPath, content: bytes) -> PackedFile:
    """Adds a file, and returns what the metadata say of it."""
    # One time for all: equal results make equal archives, but for the date in the metadata.
    info = zipfile.ZipInfo(str(path), SAME_TIME)
    info.external_attr = (0o755 if path == SCRIPT else 0o644) << 16
    archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return PackedFile(path, len(content), sha256(content).hexdigest())
