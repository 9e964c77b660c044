"""Files that others are writing."""

from __future__ import annotations

import os
from pathlib import Path


def files_below(folder: Path, name: str) -> list[Path]:
    """All files of that name; unlike `Path.rglob` it bears folders that vanish meanwhile."""
    return [Path(place, name) for place, _, files in os.walk(folder) if name in files]
