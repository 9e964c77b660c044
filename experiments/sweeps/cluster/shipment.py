"""Packs what executors are sent: our package goes in an archive, the user's own files in the folder that all can reach.

The archive is named after its contents, so that executors unpack each version once. What is installed is not sent.
"""

from __future__ import annotations

import inspect
import shutil
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from roambus.bridge.agents.registry import load_agent
from roambus.bridge.runs.plan import RunPlan

DISTRIBUTION = "roambus"
SHIPPED = "shipped"
"""The folder in the workspace that holds the user's files; executors can import from it."""

_PACKAGE = Path(__file__).parents[3]
"""The folder of our package."""
_LEFT_OUT = ("__pycache__", "omnet")
"""Executors compile for themselves, and find the modules for Castalia by their own environment."""
_SAME_TIME = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path) -> Path:
    """Writes our package with all its files, and the names of the agents, as a zip named after its contents."""
    archive = folder / "packages.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in _contents():
            file.writestr(zipfile.ZipInfo(name, _SAME_TIME), content, zipfile.ZIP_DEFLATED)
    return archive.rename(folder / f"{sha256(archive.read_bytes()).hexdigest()}.zip")


def _contents() -> Iterator[tuple[str, bytes]]:
    for path in _files(_PACKAGE):
        yield str(path.relative_to(_PACKAGE.parent)), path.read_bytes()
    for name in ("METADATA", "entry_points.txt"):
        yield f"{DISTRIBUTION}.dist-info/{name}", _metadata(name).encode()


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder; in a checkout the parts of our package are symbolic links, which are followed."""
    for path in sorted(folder.iterdir()):
        if path.is_file():
            yield path
        elif path.name not in _LEFT_OUT:
            yield from _files(path)


def _metadata(name: str) -> str:
    try:
        return distribution(DISTRIBUTION).read_text(name) or ""
    except PackageNotFoundError:  # run from its sources: agents have no names then, here or there
        return ""


def send(plan: RunPlan, workspace: Path) -> RunPlan:
    """The plan as an executor can make it: what it needs of the user's files lies in the workspace. Raises OSError."""
    shipped = workspace / SHIPPED
    shipped.mkdir(exist_ok=True)
    return replace(
        plan,
        results=plan.results.resolve(),
        radio_file=_send_file(plan.radio_file, shipped),
        files=tuple((name, _send_file(file, shipped)) for name, file in plan.files),
        agent=_send_agent(plan.agent, shipped),
    )


def _send_agent(reference: str, shipped: Path) -> str:
    """A file of the user's, or their module, is sent; what is installed must be installed on the executors, too."""
    target, colon, name = reference.partition(":")
    if target.endswith(".py"):
        return f"{_send_file(Path(target), shipped)}{colon}{name}"
    top = sys.modules[load_agent(reference).__module__.partition(".")[0]]
    source = Path(inspect.getfile(top))
    if not _is_installed(source):
        _send_module(source, shipped)
    return reference


def _is_installed(source: Path) -> bool:
    places = [_PACKAGE, *(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib"))]
    return any(source.is_relative_to(place) for place in places)


def _send_module(source: Path, shipped: Path) -> None:
    if source.name != "__init__.py":
        shutil.copyfile(source, shipped / source.name)
    elif not (shipped / source.parent.name).exists():
        shutil.copytree(source.parent, shipped / source.parent.name, ignore=shutil.ignore_patterns("__pycache__"))


def _send_file(file: Path, shipped: Path) -> Path:
    content = file.read_bytes()
    target = shipped / sha256(content).hexdigest()[:16] / file.name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return target.resolve()
