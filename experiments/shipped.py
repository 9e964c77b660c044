"""Where the templates and sweeps lie that come with roambus: those of a study in its folder, all others in `templates`."""

from __future__ import annotations

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
"""The templates and sweeps that belong to no study, and the parts that all templates include."""

_STUDIES = Path(__file__).parent / "studies"


def shipped_files(suffix: str) -> dict[str, Path]:
    """The files of ours with that ending, by their names without it; parts of others, whose names begin with _, are left out."""
    folders = [TEMPLATES, *sorted(folder for folder in _STUDIES.iterdir() if folder.is_dir())]
    files = [file for folder in folders for file in sorted(folder.glob(f"[!_]*{suffix}"))]
    return {file.name.removesuffix(suffix): file for file in files}
