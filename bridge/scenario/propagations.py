"""The settings of the path losses that are installed, by their names: the entry points `roambus.propagations`."""

from __future__ import annotations

from roambus.bridge.keys import FILE, OPTIONAL_FILE, TEXT
from roambus.bridge.scenario.propagation import PREFIX, Propagation
from roambus.bridge.system.code import PROPAGATIONS, classes
from roambus.python_protocol.settings import Setting

SETTINGS = classes(PROPAGATIONS, Propagation)

MODEL = Setting(
    PREFIX + "model",
    TEXT,
    '"log-distance"',
    "the path loss between places; Castalia and ns-3 have the default alone",
    choices=tuple(sorted(SETTINGS)),
)

KEYS: dict[str, tuple[Setting, ...]] = {name: settings.keys() for name, settings in SETTINGS.items()}
"""The keys of each path loss."""


def files_of(name: str) -> tuple[Setting, ...]:
    """Return the keys of a path loss that name files."""
    return tuple(key for key in KEYS[name] if key.kind in (FILE, OPTIONAL_FILE))


def name_of(propagation: Propagation) -> str:
    """Return the name of a path loss in the ini."""
    return next(name for name, settings in SETTINGS.items() if settings is type(propagation))
