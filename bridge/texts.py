"""Reads the text files that users write, whole, within a limit on how large such a file can be."""

from __future__ import annotations

from pathlib import Path

from roambus.bridge.errors import UserError

MOST_BYTES = 64 * 2**20
"""No text that somebody writes, or has written for a run, is so large; a file that is, was given by mistake."""


def read_text(path: Path) -> str:
    """The text of a file; raises UserError if it is no UTF-8 text, or too large, and OSError."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{path}: this is larger than {MOST_BYTES >> 20} MiB, and no text that roambus reads is")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: this is no UTF-8 text: {error.reason} at byte {error.start}") from None
