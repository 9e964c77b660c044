"""The mirrors of results on object stores that a command uses: fetched when it begins, published when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from roambus.bridge.errors import UserError
from roambus.commands.telling import remark

if TYPE_CHECKING:
    from roambus.experiments.storage.mirror import Mirror
    from roambus.experiments.sweeps.runner import Crew

_MIRRORS = "roambus.mirrors"


def mirrored(text: str, context: click.Context) -> Path:
    """The folder that stands for an address, with everything that is there; raises UserError, StorageError."""
    from roambus.experiments.storage.address import Address
    from roambus.experiments.storage.mirror import Mirror

    mirror = Mirror(Address.read(text))
    fetched = mirror.fetch()
    remark(f"{mirror.address.url}: {fetched} files fetched to {mirror.folder}")
    context.meta.setdefault(_MIRRORS, []).append(mirror)
    context.call_on_close(lambda: _publish(mirror))
    return mirror.folder


def _publish(mirror: Mirror) -> None:
    published = mirror.publish()
    remark(f"{mirror.address.url}: {published} files published")


def publishing(crew: Crew, results: Path) -> Crew:
    """The crew, or one that publishes each run when it ends, if these results are a mirror.

    Raises UserError for executors of a cluster, which would look for the mirror on their own machines.
    """
    from roambus.experiments.sweeps.published import Published
    from roambus.experiments.sweeps.workers import Processes

    context = click.get_current_context(silent=True)
    mirrors = context.meta.get(_MIRRORS, []) if context is not None else []
    mirror = next((one for one in mirrors if results.is_relative_to(one.folder)), None)
    if mirror is None:
        return crew
    if not isinstance(crew, Processes):
        raise UserError(
            f"--spark: executors cannot write to {mirror.address.url}: give a folder that all of them reach"
        )
    return Published(crew, mirror)
