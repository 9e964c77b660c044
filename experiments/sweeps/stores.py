"""Results that lie elsewhere: stores by address scheme, such as `s3` in `s3://bucket/thesis`.

An entry point of the group `roambus.stores`, named after the scheme, names a function from an address to a `Store`.
Runs are made and results read in the store's folder.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from roambus.bridge.system.code import STORES, load, named
from roambus.bridge.system.errors import UserError

if TYPE_CHECKING:
    from roambus.experiments.sweeps.runner import Executor

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://")


class Store(Protocol):
    """The local folder of an address; `fetch` comes first."""

    @property
    def url(self) -> str:
        """The address."""

    @property
    def folder(self) -> Path:
        """The folder on this machine."""

    def fetch(self) -> int:
        """Fetch new and changed files; return how many. Raises RoambusError, OSError."""

    def publishing(self, executor: Executor) -> Executor:
        """Return the executor; it publishes each run as it ends."""

    def publish(self, below: Path | None = None) -> int:
        """Publish new and changed files, or a run folder's; return how many. Raises RoambusError, OSError."""


def open_store(text: str) -> Store | None:
    """Return the store at an address, or None for other text; raises UserError."""
    scheme = _ADDRESS.match(text)
    if scheme is None:
        return None
    stores = named(STORES)
    if scheme[1] not in stores:
        known = f" or on a store: {', '.join(f'{name}://' for name in stores)}" if stores else ""
        raise UserError(f"{text}: results can lie in a folder{known}")
    store: Store = load(stores[scheme[1]])(text)
    return store
