"""Back-ends by name: those of roambus, and those that other packages declare by an entry point.

A package brings a back-end as it brings an agent, by an entry point of the group `roambus.backends`:

    [project.entry-points."roambus.backends"]
    mysim = "mysim.roambus:MySimFactory"

What it names makes a `BackendFactory` (`roambus.bridge.backend`): a class, or a function, that is called
once for each command. It is given, by keyword, those of the options of the command line that its signature names:
`deadline_s`, `batching`, `lookahead` and `transport`. A back-end without another process names none of them.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from roambus.bridge.entry_points import BACKENDS, named
from roambus.bridge.errors import UserError

if TYPE_CHECKING:  # the interface leads to scenarios and their libraries, which the command line does not wait for
    from roambus.bridge.backend import BackendFactory

DEFAULT = "radio"

OWN = {
    DEFAULT: "roambus.bridge.backends.radio.backend:RadioFactory",
    "castalia": "roambus.bridge.backends.castalia.backend:CastaliaFactory",
    "ideal": "roambus.bridge.backends.ideal.backend:IdealFactory",
    "ns3": "roambus.bridge.backends.ns3:Ns3Factory",
}
"""What stands behind each name that comes with roambus."""


def backend_names() -> tuple[str, ...]:
    """The names of all back-ends: ours, of which the first is the default, and then those of other packages."""
    return (*OWN, *sorted(_brought()))


def make_factory(name: str, **options: Any) -> BackendFactory:
    """The factory of that name, with those of the options that it takes; raises UserError for one that is broken."""
    if name not in backend_names():
        raise UserError(f"there is no back-end {name}: there are {', '.join(backend_names())}")
    make = _load_own(OWN[name]) if name in OWN else _load(_brought()[name])
    taken = inspect.signature(make).parameters
    factory: BackendFactory = make(**{option: value for option, value in options.items() if option in taken})
    return factory


def _brought() -> dict[str, EntryPoint]:
    """The entry points of other packages; one that takes one of our names is passed over."""
    return {name: point for name, point in named(BACKENDS).items() if name not in OWN}


def _load_own(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _load(point: EntryPoint) -> Any:
    """What an entry point names; raises UserError, whatever goes wrong while a stranger's package is imported."""
    try:
        return point.load()
    except Exception as error:
        package = f" of package {point.dist.name}" if point.dist else ""
        raise UserError(f"back-end {point.name}{package}: cannot import {point.value}: {error}") from error
