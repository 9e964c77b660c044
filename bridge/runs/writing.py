"""What a user is told when a folder cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roambus.bridge.errors import UserError


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """While a file or a folder is written: raises UserError, which names it, for any OSError."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}: make room or give a folder you can write to") from None
