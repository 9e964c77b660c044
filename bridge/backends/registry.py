"""Back-ends by name: those of the core, and those of extensions and other packages.

A package declares a back-end by an entry point:

    [project.entry-points."roambus.backends"]
    mysim = "mysim.roambus:MySimFactory"

The entry point names a class or function, called once per command, that makes a `BackendFactory`
(`roambus.bridge.backend`). It gets the option `--deadline` as `deadline_s` if its signature has that: how long to
wait for a simulator in another process.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from roambus.bridge.system.code import BACKENDS, named
from roambus.bridge.system.errors import UserError

if TYPE_CHECKING:  # the interface leads to scenarios and their libraries, which the command line does not wait for
    from roambus.bridge.backend import BackendFactory

DEFAULT = "radio"

OWN = {
    DEFAULT: "roambus.bridge.backends.radio.backend:RadioFactory",
    "castalia": "roambus.bridge.backends.castalia.backend:CastaliaFactory",
    "ideal": "roambus.bridge.backends.ideal.backend:IdealFactory",
}
"""The factories of the core's back-ends by name."""


def backend_names() -> tuple[str, ...]:
    """Return the names of all back-ends, ours first, beginning with the default."""
    return (*OWN, *sorted(_brought()))


def make_factory(name: str, deadline_s: float | None = None) -> BackendFactory:
    """Return the factory of that name, with the deadline if it takes one; raise UserError."""
    if name not in backend_names():
        raise UserError(f"there is no back-end {name}: there are {', '.join(backend_names())}")
    if name in OWN:
        return _made(_load_own(OWN[name]), deadline_s)
    point = _brought()[name]
    make = _load(point)
    with _errors_of(point, "cannot make its factory"):
        return _made(make, deadline_s)


def _made(make: Any, deadline_s: float | None) -> BackendFactory:
    waits = "deadline_s" in inspect.signature(make).parameters
    factory: BackendFactory = make(deadline_s=deadline_s) if waits else make()
    return factory


def _brought() -> dict[str, EntryPoint]:
    return {name: point for name, point in named(BACKENDS).items() if name not in OWN}


def _load_own(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _load(point: EntryPoint) -> Any:
    with _errors_of(point, f"cannot import {point.value}"):
        return point.load()


@contextmanager
def _errors_of(point: EntryPoint, problem: str) -> Iterator[None]:
    """Name the back-end in whatever its package raises in the block, the end of the process included."""
    try:
        yield
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:
        package = f" of package {point.dist.name}" if point.dist else ""
        text = str(error) if isinstance(error, Exception) else f"{type(error).__name__}: {error}"
        raise UserError(f"back-end {point.name}{package}: {problem}: {text}") from error
