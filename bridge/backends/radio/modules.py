"""The modules that a scenario's settings name, with the parts that they leave out.

Numba compiles against a module, so a whole one is made of a package's module and of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from roambus.bridge.system.errors import UserError


def complete(what: str, name: str, required: Sequence[str], defaults: Mapping[str, Any]) -> Any:
    """Return the module of a MAC or a path loss, which `what` says, with the defaults that it leaves out.

    Raises UserError if it cannot be imported, or lacks what is required.
    """
    try:
        found = vars(import_module(name))
    except ImportError as error:
        raise UserError(f"the {what} {name} cannot be imported: {error}") from error
    missing = [function for function in required if function not in found]
    if missing:
        raise UserError(f"the {what} {name} has no {' and no '.join(missing)}")
    whole = ModuleType(name)
    vars(whole).update({**defaults, **found})
    return whole
