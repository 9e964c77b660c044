"""The models of path loss and reception that are installed, by name: `roambus.propagations` and `roambus.radios`."""

from __future__ import annotations

from roambus.bridge.keys import FILE, OPTIONAL_FILE, TEXT
from roambus.bridge.scenario import propagation, reception
from roambus.bridge.scenario.model import Model
from roambus.bridge.scenario.propagation import Propagation
from roambus.bridge.scenario.reception import Reception
from roambus.bridge.system.code import PROPAGATIONS as OF_PROPAGATIONS
from roambus.bridge.system.code import RADIOS as OF_RADIOS
from roambus.bridge.system.code import classes
from roambus.python_protocol.settings import Setting


class Models:
    """The models of one kind, and the key that chooses one; Castalia and ns-3 have the default alone."""

    def __init__(self, what: str, settings: dict[str, type[Model]], path: str, default: str) -> None:
        self.what = what
        self.settings = settings
        meaning = f"the {what}; Castalia and ns-3 have the default alone"
        self.key = Setting(path, TEXT, f'"{default}"', meaning, choices=tuple(sorted(settings)))
        self.keys: dict[str, tuple[Setting, ...]] = {name: one.keys() for name, one in settings.items()}
        """The keys of each model."""
        self.default = settings[default]

    def files_of(self, name: str) -> tuple[Setting, ...]:
        """Return the keys of a model that name files."""
        return tuple(key for key in self.keys[name] if key.kind in (FILE, OPTIONAL_FILE))

    def name_of(self, model: Model) -> str:
        """Return the name of a model in the ini."""
        return next(name for name, settings in self.settings.items() if settings is type(model))


PROPAGATIONS = Models(
    "path loss", dict(classes(OF_PROPAGATIONS, Propagation)), propagation.PREFIX + "model", "log-distance"
)
RADIOS = Models("reception", dict(classes(OF_RADIOS, Reception)), reception.PREFIX + "model", "bit-errors")
KINDS = PROPAGATIONS, RADIOS
