"""Entry points: finds agents, back-ends, metrics, commands and studies without importing them.

Groups: `roambus.agents`, `roambus.backends`, `roambus.metrics`, `roambus.commands`, `roambus.studies` and
`roambus.stores`. Extensions of roambus register like other packages; those without a folder are left out.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "roambus"
AGENTS, BACKENDS, METRICS = "roambus.agents", "roambus.backends", "roambus.metrics"
COMMANDS, STUDIES, STORES = "roambus.commands", "roambus.studies", "roambus.stores"


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return a group's entry points, reread after search path changes."""
    places = (Path(place) for place in sys.path)
    return _read(group, tuple((place, place.stat().st_mtime_ns) for place in places if place.exists()))


def named(group: str) -> dict[str, EntryPoint]:
    """Return entry points by name; the search path's first wins."""
    return {point.name: point for point in reversed(installed(group))}


def is_own(point: EntryPoint) -> bool:
    """Return whether it names a module of roambus."""
    return point.value.startswith(f"{DISTRIBUTION}.")


@lru_cache(maxsize=16)
def _read(group: str, _: tuple[tuple[Path, int], ...]) -> tuple[EntryPoint, ...]:
    return tuple(point for point in entry_points(group=group) if not is_own(point) or _exists(point.module))


def _exists(module: str) -> bool:
    """Return whether this copy has the module."""
    paths = [Path(root, *module.split(".")[1:]) for root in sys.modules[DISTRIBUTION].__path__]
    return any(path.with_suffix(".py").is_file() or (path / "__init__.py").is_file() for path in paths)


def find_module(name: str) -> ModuleSpec | None:
    """Find a module without running packages, the working folder last."""
    names = name.split(".")
    try:
        spec = find_spec(names[0]) or PathFinder.find_spec(names[0], [*sys.path, str(Path.cwd())])
    except (ImportError, ValueError):
        return None
    for depth in range(2, len(names) + 1):
        if spec is None:
            return None
        spec = PathFinder.find_spec(".".join(names[:depth]), spec.submodule_search_locations)
    return spec
