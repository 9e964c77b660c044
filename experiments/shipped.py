"""Finds studies by entry points, their templates and sweeps by folder; resolves names.

A study is an entry point of the group `roambus.studies`, such as `mine.study:STUDY`; its sweeps and templates lie in
that module's folder, all others in `templates`. A command takes a name or a path. An unknown name is an error with the
near names of every kind and their commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from roambus.bridge.system.code import AGENTS, STUDIES, find_module, named
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.settings import unknown

TEMPLATES = Path(__file__).parent / "templates"
"""The folder of files without a study, and of parts that all templates include."""
TEMPLATE_SUFFIX, SWEEP_SUFFIX = ".ini.j2", ".toml"

_USES = {
    "template": "roambus run {}",
    "sweep": "roambus sweep {}",
    "study": "roambus reproduce {}",
    "agent": "roambus run field --agent {}",
}
"""The named kinds, and each one's command."""


def study_modules() -> dict[str, Path]:
    """Return the module files of all installed studies, by study."""
    found = {name: find_module(point.module) for name, point in sorted(named(STUDIES).items())}
    return {name: Path(spec.origin) for name, spec in found.items() if spec is not None and spec.origin is not None}


def shipped_studies() -> dict[str, Path]:
    """Return the folders of all installed studies, by name."""
    return {name: file.parent for name, file in study_modules().items()}


def shipped_files(suffix: str) -> dict[str, Path]:
    """The shipped files with this suffix by stem, without those that begin with an underscore."""
    folders = [TEMPLATES, *shipped_studies().values()]
    files = [file for folder in folders for file in sorted(folder.glob(f"[!_]*{suffix}"))]
    return {file.name.removesuffix(suffix): file for file in files}


def shipped_study(file: Path) -> str | None:
    """The study whose folder has the file, and of several the one of its name; or None."""
    place = file.resolve().parent
    found = [name for name, folder in shipped_studies().items() if folder.resolve() == place]
    return file.stem if file.stem in found else next(iter(found), None)


def find_file(kind: str, suffix: str, name: str) -> Path:
    """The file of that path, or the shipped one of that name; raises UserError."""
    if Path(name).is_file():
        return Path(name)
    ours = shipped_files(suffix)
    if name not in ours:
        raise no_such(kind, name)
    return ours[name]


def no_such(kind: str, name: str) -> UserError:
    """The error for an unknown name, with near names."""
    known = _known()
    near = near_names(name, {other: names for other, names in known.items() if other != kind})
    also = ", ".join(f"{other} {found!r} ({_USES[other].format(found)})" for other, found in near.items())
    others = f"; near names of other kinds: {also}" if also else ""
    return UserError(f"{unknown(kind, name, known[kind])}{others}; or give the path of a file")


def near_names(name: str, known: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """The kinds with a near name, each with the nearest, or the exact one."""
    found = {kind: get_close_matches(name, names, n=1) for kind, names in known.items()}
    return {kind: near[0] for kind, near in found.items() if near}


def _known() -> dict[str, Mapping[str, object]]:
    return {
        "template": shipped_files(TEMPLATE_SUFFIX),
        "sweep": shipped_files(SWEEP_SUFFIX),
        "study": shipped_studies(),
        "agent": named(AGENTS),
    }
