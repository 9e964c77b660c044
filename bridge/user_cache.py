"""The folder in the user's cache for what takes long to make, and can be made again at any time."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """Returns it, whether it is there or not: ~/.cache/roambus, unless XDG_CACHE_HOME names another place."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roambus"
