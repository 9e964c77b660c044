"""Writes `ro-crate-metadata.json` by the RO-Crate specification 1.1 (schema.org in JSON-LD).

A run is a `CreateAction`: instruments are roambus (a `SoftwareApplication`) and the agent, objects the files beside the
trace and the axes' values, the result is the trace. Only terms of the specification and schema.org are used, with
`sha256` from the workflow-run profile. Entities are merged by ids made from names, so two crates of the same results
differ only in the date.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from packaging.requirements import Requirement

from roambus.bridge.runs.log import Maker
from roambus.extensions.provenance.unpacked import METADATA_FILE

DISTRIBUTION = "roambus"


def requirements() -> dict[str, str]:
    """Return the installed versions of all packages that roambus needs, by name."""
    found: dict[str, str] = {}
    waiting = [DISTRIBUTION]
    while waiting:
        # A requirement that is not installed is of an extra, or of another platform: it had no part in the results.
        for requirement in map(Requirement, distribution(waiting.pop()).requires or []):
            is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_needed and requirement.name not in found:
                with suppress(PackageNotFoundError):
                    found[requirement.name] = distribution(requirement.name).version
                    waiting.append(requirement.name)
    return dict(sorted(found.items()))


def requirements_file(others: Mapping[str, str]) -> str:
    """Return the libraries as a file for pip, headed by the Python version."""
    lines = (f"{name}=={version}\n" for name, version in (requirements() | dict(others)).items())
    return "".join([f"# Python {platform.python_version()}\n", *lines])


_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]
# Whatever has another ending is called plain text: ini files, logs, and the Markdown of reports.
_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".csv": "text/csv",
    ".html": "text/html",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".py": "text/x-python",
    ".zip": "application/zip",
}
Entity = dict[str, Any]
_DESCRIPTOR: Entity = {
    "@id": METADATA_FILE,
    "@type": "CreativeWork",
    "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    "about": {"@id": "./"},
}


@dataclass(frozen=True, slots=True)
class About:
    """A crate's title, authors and licence (an address or a name)."""

    title: str
    authors: Sequence[str] = ()
    license: str = ""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the crate: its path, size in bytes and SHA-256."""

    path: PurePosixPath
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A run of the crate: place, sources, trace, machine and time (None if not logged)."""

    place: str
    agent: str
    sources: Sequence[PurePosixPath]
    trace: PurePosixPath
    maker: Maker | None


@dataclass(frozen=True, slots=True)
class PackedCode:
    """Agents' code by reference: the file in the crate, or package and version."""

    files: dict[str, PurePosixPath] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


def metadata(about: About, files: Sequence[PackedFile], runs: Sequence[PackedRun], code: PackedCode) -> str:
    """Return the metadata file's text; of equal ids the last entity stays, at the first's place."""
    graph = [
        _DESCRIPTOR,
        _root(about, files, runs),
        *({"@id": f"#{quote(name)}", "@type": "Person", "name": name} for name in about.authors),
        *_software(),
        *(
            {"@id": _agent_id(name, code), "@type": "SoftwareSourceCode", "name": name, "isPartOf": package}
            for name, package in code.packages.items()
        ),
        *(_file(file, code) for file in files),
        *(entity for run in runs for entity in _action(run, code)),
    ]
    unique = list({entity["@id"]: entity for entity in graph}.values())
    return f"{json.dumps({'@context': _CONTEXT, '@graph': unique}, indent=1)}\n"


def identifier(path: PurePosixPath) -> str:
    """Return a path as a URI that keeps runs' places legible."""
    return quote(str(path), safe="/=,+")


def _root(about: About, files: Sequence[PackedFile], runs: Sequence[PackedRun]) -> Entity:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": f"{len(runs)} runs of mobile network protocols, made with roambus, which makes them again "
        "byte for byte: README.md tells how.",
        "datePublished": f"{datetime.now(UTC):%Y-%m-%d}",
        **({"license": about.license} if about.license else {}),
        "author": [{"@id": f"#{quote(name)}"} for name in about.authors],
        "hasPart": [{"@id": identifier(file.path)} for file in files],
        "mentions": [{"@id": _run_id(run)} for run in runs],
    }


def _software() -> Iterator[Entity]:
    yield {
        "@id": "#roambus",
        "@type": "SoftwareApplication",
        "name": "roambus",
        "softwareRequirements": [{"@id": "#python"}, *({"@id": f"#package-{name}"} for name in requirements())],
    }
    yield {"@id": "#python", "@type": "SoftwareApplication", "name": "Python", "version": platform.python_version()}
    for name, version in requirements().items():
        yield {"@id": f"#package-{name}", "@type": "SoftwareApplication", "name": name, "version": version}


def _agent_id(reference: str, code: PackedCode) -> str:
    """Return an agent's id: its file in the crate, or a name for a package's."""
    own = code.files.get(reference)
    return identifier(own) if own else f"#agent-{quote(reference, safe='')}"


def _file(packed: PackedFile, code: PackedCode) -> Entity:
    reference = next((name for name, path in code.files.items() if path == packed.path), None)
    return {
        "@id": identifier(packed.path),
        "@type": ["File", "SoftwareSourceCode"] if reference else "File",
        "name": reference or packed.path.name,
        "contentSize": str(packed.size),
        "sha256": packed.sha256,
        "encodingFormat": _TYPES.get(packed.path.suffix, "text/plain"),
    }


def _action(run: PackedRun, code: PackedCode) -> Iterator[Entity]:
    levels = [level.split("=", 1) for level in run.place.split("/")]
    values = [{"@id": f"#{quote(f'{name}={value}', safe='=')}"} for name, value in levels]
    for entity, (name, value) in zip(values, levels, strict=True):
        yield {**entity, "@type": "PropertyValue", "name": name, "value": value}
    yield {
        "@id": _run_id(run),
        "@type": "CreateAction",
        "name": run.place,
        **({"endTime": made.date, "description": f"{made.code}; {made.machine}"} if (made := run.maker) else {}),
        "instrument": [{"@id": "#roambus"}, {"@id": _agent_id(run.agent, code)}],
        "object": [*({"@id": identifier(path)} for path in run.sources), *values],
        "result": [{"@id": identifier(run.trace)}],
    }


def _run_id(run: PackedRun) -> str:
    return f"#run-{quote(str(run.trace.parent), safe='/=')}"
