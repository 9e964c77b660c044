"""The templates, sweeps and studies that come with roambus, found by where they lie.

Each study has a folder of its own in `studies`, called like the study with underscores for hyphens. In it lie its
sweeps and templates. The templates and sweeps that belong to no study lie in `templates`.
"""

from __future__ import annotations

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
"""The folder of what belongs to no study, and of the parts that all templates include."""

_STUDIES = Path(__file__).parent / "studies"


def shipped_studies() -> dict[str, Path]:
    """The folders of all studies, by the studies' names."""
    folders = sorted(file.parent for file in _STUDIES.glob("*/study.py"))
    return {folder.name.replace("_", "-"): folder for folder in folders}


def shipped_files(suffix: str) -> dict[str, Path]:
    """The shipped files whose names end so, by their names without that end.

    A file whose name begins with an underscore is a part of others, and is left out.
    """
    folders = [TEMPLATES, *shipped_studies().values()]
    files = [file for folder in folders for file in sorted(folder.glob(f"[!_]*{suffix}"))]
    return {file.name.removesuffix(suffix): file for file in files}


def shipped_study(file: Path) -> str | None:
    """The name of the study in whose folder the file lies; None for any other file."""
    place = file.resolve().parent
    return next((name for name, folder in shipped_studies().items() if folder.resolve() == place), None)
