"""Tells a user that a file or a folder cannot be written, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roambus.bridge.errors import UserError


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raises UserError, which names the file or folder, for any OSError while it is written in the block."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}: make room or give a folder you can write to") from None


def unlinked(folder: Path) -> Path:
    """The folder of ours in a results folder, which need not be there yet; raises UserError if it is a link.

    Results can come from a stranger, whose link could lead to any folder of the user's.
    """
    if folder.is_symlink():
        raise UserError(f"{folder}: this is a link, which is not followed: remove it, or put a folder there")
    return folder
